/* io/weights/model_card.h: the license that a model card states: README.md of a Hugging Face folder, whose first lines are YAML
 * between two lines "---". For `rapt info`. */
#ifndef IO_MODEL_CARD_H
#define IO_MODEL_CARD_H

#include <stdbool.h>
#include <stddef.h>

enum { MODEL_CARD_LICENSE = 128 };

/* Reads `license` from the card in `folder`, a name such as "apache-2.0" or a list of them, which is joined by ", "; "other" is
 * followed by `license_name`. False, with "" in `license`, if there is no card, or if it states none. Characters that must not
 * reach a terminal become '?'. */
bool model_card_license(const char *folder, char license[MODEL_CARD_LICENSE]);

#endif

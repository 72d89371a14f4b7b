/* text/pipeline/component.h: what the readers of a tokenizer.json's components have in common. */
#ifndef TEXT_PIPELINE_COMPONENT_H
#define TEXT_PIPELINE_COMPONENT_H

#include "text/hf/hf_read.h"

enum { COMPONENT_DEPTH = 8 }; /* of sequences in sequences */

/* Refuses a member of `part` that is not among `known` (names with a space between them) and says something else than null,
 * false, 0 or "": it might change ids. `what` names the part in messages. */
rapt_code component_check_keys(const hf_reading *r, const char *what, const json_t *part, const char *known);
/* A member that is a text without a NUL, copied; RAPT_ERR_FORMAT where it is none. */
rapt_code component_text(const hf_reading *r, const char *what, const json_t *part, const char *key, char **out);
/* A member that is a text of one character. */
rapt_code component_character(const hf_reading *r, const char *what, const json_t *part, const char *key, char out[5]);
/* A member that is true or false, or `missing`. */
rapt_code component_bool(const hf_reading *r, const char *what, const json_t *part, const char *key, bool missing, bool *out);
rapt_code component_no_memory(const hf_reading *r);

/* A kind of components: how one with this "type" is read into `out`. */
typedef struct component_type {
    const char *type, *keys; /* its members besides "type" */
    rapt_code (*read)(const hf_reading *r, const json_t *part, void *out);
} component_type;

/* Reads a component, or a Sequence of them, whose list is the member `list`; null is none. `what` is "normalizer" and so on. */
rapt_code component_read(const hf_reading *r, const char *what, const char *list, const json_t *part, const component_type *types,
                         size_t count, void *out);

#endif

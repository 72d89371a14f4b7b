/* cli/known_words.h: texts of which a vocabulary of words lacks something. For the commands that look into models, where a
 * word that became <unk> would be shown as something that nobody wrote. */
#ifndef CLI_KNOWN_WORDS_H
#define CLI_KNOWN_WORDS_H

#include "rapt/text.h"

/* ids[count]: the tokens of `text`. RAPT_VALUE with the first eight words that became <unk>, each once; other tokenizers know
 * all that they encode. `what` the text is: "the text". */
rapt_code known_words_check(const rapt_tokenizer *k, const char *what, const char *text, const int32_t *ids, size_t count,
                            rapt_error *err);

#endif

/* text/spm/spm_normalize.h: SentencePiece's changes to a text before it is cut into pieces. For its encoder, and, if a model has
 * rules for it, its decoder. */
#ifndef TEXT_SPM_SPM_NORMALIZE_H
#define TEXT_SPM_SPM_NORMALIZE_H

#include "base/buffer.h"
#include "text/pieces/piece_trie.h"
#include "text/spm/charsmap.h"

#define SPM_SPACE "\xE2\x96\x81" /* U+2581, the sign for a space */

/* NormalizerSpec of sentencepiece_model.proto. */
typedef struct spm_rules {
    charsmap map;
    bool dummy_prefix; /* a space is put before the text, or after it if spaces end words */
    bool squeezes;     /* no spaces at the ends, and one for several */
    bool escapes;      /* SPM_SPACE for each space */
    bool suffix;       /* spaces end words (TrainerSpec.treat_whitespace_as_suffix) */
    const char *name;  /* [name_size], name of a rule set: "nmt_nfkc"; borrowed */
    size_t name_size;
} spm_rules;

/* Appends the text after all rules to `out`. Texts of `kept` stay as they are; bytes that are not UTF-8 become U+FFFD. False on
 * out-of-memory. */
bool spm_normalize(const spm_rules *r, const piece_trie *kept, const char *text, size_t size, buffer *out);

/* Appends a piece as in a text, with a space for SPM_SPACE. False on out-of-memory. */
bool spm_append_text(buffer *text, const char *piece, size_t size);

#endif

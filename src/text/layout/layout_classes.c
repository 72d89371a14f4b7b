/* text/layout/layout_classes.c: which class of tokenizers has which ids, as in transformers 4.57.6 (convert_slow_tokenizer.py;
 * M2M100 is tokenization_m2m_100.py). For layout_folder.c. */
#include "text/layout/layout.h"

#include <string.h>

/* fairseq counts four tokens where SentencePiece counts <unk>, <s> and </s>. */
#define FAIRSEQ .first = "<s> <pad> </s> <unk>", .dropped = "<unk> <s> </s>", .mask = "<mask>"

static const layout LAYOUTS[] = {
    {"Llama", "llama mistral", .first = "<unk> <s> </s>", .dropped = "<unk> <s> </s>", .before = "<s>", .after = "",
     .bytes = true},
    {"Gemma", "gemma gemma2 gemma3_text", .first = "<pad> <eos> <bos>", .dropped = "<pad> <eos> <bos>", .before = "<bos>",
     .after = "", .bytes = true, .bare = true, .turns = "<start_of_turn> <end_of_turn>"},
    {"T5", "t5", .first = "", .dropped = "", .extra_ids = 100, .before = "", .after = "</s>"},
    {"MT5", "mt5", .first = "", .dropped = "", .extra_ids = 100, .before = "", .after = "</s>"},
    {"Pegasus", "pegasus", .first = "<pad> </s> <mask_1> <mask_2>", .dropped = "<pad> </s>", .fillers = 101, .before = "",
     .after = "</s>", .words_apart = true},
    {"MBart", "mbart", FAIRSEQ, .codes = LAYOUT_MBART_CODES, .source = "en_XX", .before = "", .after = "</s> #"},
    {"MBart50", "", FAIRSEQ, .codes = LAYOUT_MBART50_CODES, .mask_normalized = true, .source = "en_XX", .before = "#",
     .after = "</s>"},
    {"Nllb", "", FAIRSEQ, .codes = LAYOUT_NLLB_CODES, .mask_normalized = true, .outside = true, .source = "eng_Latn",
     .before = "#", .after = "</s>"},
    {"XLMRoberta", "xlm-roberta", FAIRSEQ, .before = "<s>", .after = "</s>"},
    {"M2M100", "m2m_100", .first = "<s> <pad> </s> <unk>", .codes = LAYOUT_M2M100_CODES, .source = "en", .before = "#",
     .after = "</s>", .listed = true}};
enum { LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS };

const layout *layout_of_class(const char *name)
{
    for (size_t i = 0; name && i < LAYOUT_COUNT; i++) {
        const size_t size = strlen(LAYOUTS[i].class);
        const char *rest = name + size;
        if (strncmp(name, LAYOUTS[i].class, size) == 0 && (strcmp(rest, "Tokenizer") == 0 || strcmp(rest, "TokenizerFast") == 0))
            return &LAYOUTS[i];
    }
    return NULL;
}

const layout *layout_of_type(const char *type)
{
    for (size_t i = 0; type && i < LAYOUT_COUNT; i++) {
        const char *list = LAYOUTS[i].types, *one;
        for (size_t size; (one = layout_next(&list, &size));)
            if (strlen(type) == size && memcmp(one, type, size) == 0)
                return &LAYOUTS[i];
    }
    return NULL;
}

const char *layout_next(const char **list, size_t *size)
{
    const char *token = *list + strspn(*list, " ");
    *size = strcspn(token, " ");
    *list = token + *size;
    return *size > 0 ? token : NULL;
}

/* io/export/export_tokenizer.c: builds tokenizer.json from the components of Hugging Face's `tokenizers`. `tokenizers` reads
 * their regular expressions with Oniguruma, and src/text/pipeline reads them too. */
#include "io/export/export_folder.h"

#include "text/bpe/byte_bpe.h"
#include "text/tokenizer.h"

#include <string.h>

/* ---- words ---------------------------------------------------------------------------------------------------- */

/* Characters that Unicode allows between the letters of a word, and letters that have a case (utf8_lowercase). A full stop is not
 * among the former, because words end before it. */
#define IGNORABLE                                                                                                              \
    "['\\x{B7}:\\x{387}\\x{55F}\\x{5F4}\\x{2018}\\x{2019}\\x{2024}\\x{2027}\\x{FE13}\\x{FE52}\\x{FE55}\\x{FF07}\\x{FF0E}"    \
    "\\x{FF1A}\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}]"
#define CASED                                                                                                                  \
    "[\\p{Lu}\\p{Ll}\\p{Lt}\\x{AA}\\x{BA}\\x{2160}-\\x{217F}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}"   \
    "\\x{1F170}-\\x{1F189}]"
/* A sigma at the end of a word, after a letter with up to two marks. `tokenizers` lower-cases each letter by itself. */
#define LAST_SIGMA "(?<=" CASED "|" CASED IGNORABLE "|" CASED IGNORABLE IGNORABLE ")\\x{3A3}(?!" IGNORABLE "*" CASED ")"
#define WORD_SPACES "[ \\t\\r\\n\\x{B}\\x{C}\\x{A0}\\x{202F}]+"
#define WORD_MARKS "[,.!?]"
#define ONE_CHARACTER "[\\s\\S]"

static json_t *split_json(const char *regex, const char *behavior)
{
    return json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex", regex, "behavior", behavior, "invert", 0);
}

static json_t *small_letters_json(void)
{
    return json_pack("{s:s, s:[{s:s, s:{s:s}, s:s}, {s:s}]}", "type", "Sequence", "normalizers", "type", "Replace", "pattern",
                     "Regex", LAST_SIGMA, "content", "\xCF\x82", "type", "Lowercase");
}

/* Tokens by id. NULL: out of memory. */
static json_t *export_vocab(const rapt_tokenizer *k)
{
    json_t *vocab = json_object();
    for (size_t i = 0; vocab && i < rapt_tokenizer_size(k); i++) {
        const char *token = rapt_tokenizer_token(k, (int32_t)i, NULL);
        if (token && json_object_set_new(vocab, token, json_integer((json_int_t)i)) != 0) {
            json_decref(vocab);
            return NULL;
        }
    }
    return vocab;
}

static json_t *specials_json(void)
{
    json_t *list = json_array();
    for (int i = 0; list && i < RAPT_SPECIALS; i++)
        if (json_array_append_new(list, json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", i, "content",
                                                  tokenizer_specials[i], "single_word", 0, "lstrip", 0, "rstrip", 0,
                                                  "normalized", 0, "special", 1)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* A model that looks up whole pre-tokens. Takes ownership of the components; missing ones are null. */
static json_t *word_level_json(const rapt_tokenizer *k, json_t *added, json_t *normal, json_t *cuts, json_t *decoder)
{
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:n, s:o, s:{s:s, s:o, s:s}}", "version", "1.0", "truncation", "padding",
                     "added_tokens", added, "normalizer", normal, "pre_tokenizer", cuts, "post_processor", "decoder",
                     decoder, "model", "type", "WordLevel", "vocab", export_vocab(k), "unk_token",
                     tokenizer_specials[RAPT_UNK]);
}

/* A space goes before , . ! ? and tokens are what lies between spaces; `tokenizers` joins tokens by spaces. */
static json_t *export_words(const rapt_tokenizer *k)
{
    json_t *cuts = json_pack("{s:s, s:[o, o]}", "type", "Sequence", "pretokenizers", split_json(WORD_SPACES, "Removed"),
                             split_json(WORD_MARKS, "MergedWithNext"));
    return word_level_json(k, specials_json(), tokenizer_lowercases(k) ? small_letters_json() : json_null(), cuts, json_null());
}

/* ---- characters ----------------------------------------------------------------------------------------------- */

/* Without special tokens a missing character is an error there too, because there is no unknown token. */
static json_t *export_characters(const rapt_tokenizer *k, const char *path, rapt_error *err)
{
    const bool specials = rapt_tokenizer_has_specials(k);
    const char *first = rapt_tokenizer_token(k, specials ? RAPT_SPECIALS : 0, NULL);
    if (first && *first == '\0') { /* no key of a JSON object for jansson */
        rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer has the character U+0000", path);
        return NULL;
    }
    json_t *fuse = json_pack("{s:s}", "type", "Fuse");
    if (!specials)
        return word_level_json(k, json_array(), json_null(), split_json(ONE_CHARACTER, "Isolated"), fuse);
    json_t *lines = json_pack("{s:s, s:[o, o]}", "type", "Sequence", "pretokenizers", split_json("\\n", "Removed"),
                              split_json(ONE_CHARACTER, "Isolated"));
    return word_level_json(k, specials_json(), json_null(), lines, fuse);
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

/* "$A END" */
static json_t *end_json(const char *name, int32_t id)
{
    return json_pack("{s:s, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}, {s:{s:s, s:i}}], "
                     "s:{s:{s:s, s:[i], s:[s]}}}",
                     "type", "TemplateProcessing", "single", "Sequence", "id", "A", "type_id", 0, "SpecialToken", "id", name,
                     "type_id", 0, "pair", "Sequence", "id", "A", "type_id", 0, "Sequence", "id", "B", "type_id", 0,
                     "SpecialToken", "id", name, "type_id", 0, "special_tokens", name, "id", name, "ids", (int)id, "tokens",
                     name);
}

static json_t *export_kind(const rapt_tokenizer *k, const char *path, rapt_error *err)
{
    switch (rapt_tokenizer_kind_of(k)) {
    case RAPT_TOKENIZER_WORDS: return export_words(k);
    case RAPT_TOKENIZER_CHARACTERS: return export_characters(k, path, err);
    case RAPT_TOKENIZER_BYTE_BPE: return hf_to_json(byte_bpe_of(k));
    case RAPT_TOKENIZER_PIPELINE: return k->ops->to_json(k);
    case RAPT_TOKENIZER_SENTENCEPIECE: break;
    }
    rapt_fail(err, RAPT_ERR_VALUE, "%s: the tokenizer is a SentencePiece model, to which tokenizer.json gives other ids", path);
    return NULL;
}

json_t *export_tokenizer(const rapt_tokenizer *k, int32_t end, const char *path, rapt_error *err)
{
    json_t *root = export_kind(k, path, err);
    const bool ok = root && (end < 0 || json_object_set_new(root, "post_processor",
                                                            end_json(rapt_tokenizer_token(k, end, NULL), end)) == 0);
    if (ok)
        return root;
    json_decref(root);
    rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for tokenizer.json", path); /* the first failure is kept */
    return NULL;
}

json_t *export_tokenizer_config(const rapt_tokenizer *k, size_t max_length, bool specials, int32_t end)
{
    static const char *const roles[RAPT_SPECIALS] = {"unk_token", "pad_token", "bos_token", "eos_token"};
    json_t *root = json_pack("{s:s, s:I, s:b}", "tokenizer_class", "PreTrainedTokenizerFast", "model_max_length",
                             (json_int_t)max_length, "clean_up_tokenization_spaces", 0);
    bool ok = root != NULL;
    for (int i = 0; i < RAPT_SPECIALS && specials; i++)
        ok = ok && json_object_set_new(root, roles[i], json_string(tokenizer_specials[i])) == 0;
    if (!specials && end >= 0)
        ok = ok && json_object_set_new(root, "eos_token", json_string(rapt_tokenizer_token(k, end, NULL))) == 0;
    if (ok)
        return root;
    json_decref(root);
    return NULL;
}

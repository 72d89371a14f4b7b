/* test_tokenizer_hf.c: Hugging Face's tokenizer.json: what is read from files of others, what is refused, what is written.
 * For src/text/hf/hf_read.c, hf_components.c, hf_write.c and byte_letters.c. Ids were found by hand, and `tokenizers` 0.23.3 gave
 * the same ones for these files.
 * Not a test of encoding as such. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "options.h"
#include "text/hf/byte_letters.h"
#include "text/split/split.h"
#include "text/tokenizer_files.h"

#define LLAMA3                                                                                                         \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"            \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* The vocabulary: id i is byte i; 256 "he", 257 " he", 258 "hel", 259 "lo", 260 "hello". */
static json_t *vocabulary(void)
{
    static const char *const more[] = {"he", "\xC4\xA0he", "hel", "lo", "hello"}; /* U+0120 is the letter of the space */
    json_t *vocab = json_object();
    for (int i = 0; i < 256; i++) {
        char letters[3] = "";
        byte_letters_write(&(char){(char)i}, 1, letters);
        json_object_set_new(vocab, letters, json_integer(i));
    }
    for (int i = 0; i < 5; i++)
        json_object_set_new(vocab, more[i], json_integer(256 + i));
    return vocab;
}

static json_t *added(int id, const char *content, bool special)
{
    return json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", content, "single_word", 0, "lstrip", 0,
                     "rstrip", 0, "normalized", 0, "special", (int)special);
}

static json_t *byte_level(bool use_regex)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0, "trim_offsets", 1, "use_regex",
                     (int)use_regex);
}

static json_t *split_by(const char *pattern, const char *behavior, bool invert)
{
    return json_pack("{s:s, s:[{s:s, s:{s:s}, s:s, s:b}, o]}", "type", "Sequence", "pretokenizers", "type", "Split", "pattern",
                     "Regex", pattern, "behavior", behavior, "invert", (int)invert, byte_level(false));
}

/* "hello" can be reached by he + l + lo only. */
static json_t *document(void)
{
    return json_pack("{s:s, s:n, s:n, s:[oo], s:n, s:o, s:n, s:o, s:{s:s, s:n, s:n, s:b, s:o, s:[s, s, s, s]}}", "version", "1.0",
                     "truncation", "padding", "added_tokens", added(261, "<|end|>", true), added(262, "<tool>", false),
                     "normalizer", "pre_tokenizer", byte_level(true), "post_processor", "decoder", byte_level(true), "model",
                     "type", "BPE", "dropout", "unk_token", "ignore_merges", 0, "vocab", vocabulary(), "merges", "h e",
                     "\xC4\xA0 he", "he l", "l o");
}

static const char *write_json(json_t *root)
{
    char *text = json_dumps(root, 0);
    assert_non_null(text);
    const char *path = write_file("tokenizer.json", text, strlen(text));
    free(text);
    json_decref(root);
    return path;
}

static rapt_tokenizer *load_json(json_t *root)
{
    return load(write_json(root));
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static void test_gpt2_style(void **state)
{
    (void)state;
    rapt_tokenizer *k = load_json(document());
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_BYTE_BPE);
    assert_int_equal(rapt_tokenizer_size(k), 263);
    ENCODES(k, "hello hello", 258, 259, 257, 'l', 259);
    ENCODES(k, "\xC3\xA9\xFF", 0xC3, 0xA9, 0xFF);
    SPECIALS(k, "he<|end|>lo<tool>", 256, 261, 259, 262);
    ENCODES(k, "<|end|><tool>", '<', '|', 'e', 'n', 'd', '|', '>', 262);
    DECODES(k, "hello he<|end|>", 260, 257, 261);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void test_merges_as_pairs(void **state)
{
    (void)state;
    json_t *root = document(), *model = json_object_get(root, "model");
    json_object_set_new(model, "merges", json_pack("[[s, s], [s, s], [s, s], [s, s]]", "h", "e", "\xC4\xA0", "he", "he", "l",
                                                   "l", "o"));
    rapt_tokenizer *k = load_json(root), *l = load_json(document());
    assert_true(rapt_tokenizer_hash(k) == rapt_tokenizer_hash(l));
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(l);
}

static void test_llama3_style(void **state)
{
    (void)state;
    json_t *root = document();
    json_object_set_new(json_object_get(root, "model"), "ignore_merges", json_true());
    json_object_set_new(root, "pre_tokenizer", split_by(LLAMA3, "Isolated", false));
    json_object_set_new(root, "post_processor",
                        json_pack("{s:s, s:[o, {s:s, s:[{s:{s:s, s:i}}, {s:{s:s, s:i}}], s:[], s:{s:{s:s, s:[i], s:[s]}}}]}",
                                  "type", "Sequence", "processors", byte_level(true), "type", "TemplateProcessing", "single",
                                  "SpecialToken", "id", "<|end|>", "type_id", 0, "Sequence", "id", "A", "type_id", 0, "pair",
                                  "special_tokens", "<|end|>", "id", "<|end|>", "ids", 261, "tokens", "<|end|>"));
    rapt_tokenizer *k = load_json(root);
    ENCODES(k, "hello1234 hello", 260, '1', '2', '3', '4', 257, 'l', 259); /* a piece that is a token, and one that isn't */
    SPECIALS(k, "hello", 261, 260);
    SPECIALS(k, "", 261);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

static void test_qwen_style(void **state)
{
    (void)state;
    json_t *root = document();
    json_object_set_new(root, "normalizer", json_pack("{s:s}", "type", "NFC"));
    json_object_set_new(root, "pre_tokenizer", split_by(LLAMA3, "Isolated", false));
    rapt_tokenizer *k = load_json(root);
    SPECIALS(k, "e\xCC\x81<|end|>\xCC\x81", 0xC3, 0xA9, 261, 0xCC, 0x81);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* Steps act on what stands between special tokens. */
static void test_sequence_of_normalizers(void **state)
{
    (void)state;
    json_t *root = document();
    json_object_set_new(root, "normalizer",
                        json_pack("{s:s, s:[{s:s, s:{s:s}, s:s}, {s:s}, {s:s, s:b, s:b}]}", "type", "Sequence", "normalizers",
                                  "type", "Replace", "pattern", "String", "&", "content", "HE", "type", "Lowercase", "type",
                                  "Strip", "strip_left", 1, "strip_right", 1));
    rapt_tokenizer *k = load_json(root);
    SPECIALS(k, " & X <|end|> &", 256, ' ', 'x', 261, 256);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* Matches that are kept, where all text matches, are the same pieces. */
static void test_removed_and_inverted(void **state)
{
    (void)state;
    json_t *root = document(), *other = document();
    json_object_set_new(root, "pre_tokenizer", split_by(LLAMA3, "Removed", true));
    json_object_set_new(other, "pre_tokenizer", split_by(LLAMA3, "Isolated", false));
    rapt_tokenizer *k = load_json(root), *l = load_json(other);
    assert_true(rapt_tokenizer_hash(k) == rapt_tokenizer_hash(l));
    rapt_tokenizer_free(k);
    rapt_tokenizer_free(l);
}

/* A vocabulary may hold its special tokens, and tokens that no text can become. */
static void test_specials_in_vocabulary(void **state)
{
    (void)state;
    json_t *root = document(), *vocab = json_object_get(json_object_get(root, "model"), "vocab");
    json_object_set_new(vocab, "<|end|>", json_integer(261));
    json_object_set_new(vocab, "\xE4\xB8\xAD", json_integer(262)); /* no letter of a byte */
    json_object_set_new(root, "added_tokens", json_pack("[o, o]", added(261, "<|end|>", true), added(263, "<\xC3\xA9 >", true)));
    rapt_tokenizer *k = load_json(root);
    SPECIALS(k, "<|end|>\xE4\xB8\xAD<\xC3\xA9 >", 261, 0xE4, 0xB8, 0xAD, 263);
    DECODES(k, "\xE4\xB8\xAD<\xC3\xA9 >", 262, 263);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* ---- refusals ----------------------------------------------------------------------------------------------- */

/* The document with the value at a path of at most two keys replaced. */
static void refuse(const char *outer, const char *inner, json_t *value, const char *message)
{
    json_t *root = document();
    json_object_set_new(inner ? json_object_get(root, outer) : root, inner ? inner : outer, value);
    assert_refused(write_json(root), message);
}

#define TYPE(name) json_pack("{s:s}", "type", name)

static void test_unsupported_parts(void **state)
{
    (void)state;
    refuse("pre_tokenizer", NULL, TYPE("UnicodeScripts"), "pre_tokenizer UnicodeScripts is not supported");
    refuse("pre_tokenizer", NULL, json_pack("{s:s, s:[o, o]}", "type", "Sequence", "pretokenizers", TYPE("FixedLength"),
                                            byte_level(false)), "pre_tokenizer FixedLength is not supported");
    refuse("pre_tokenizer", NULL, split_by(LLAMA3, "Joined", false), "pre_tokenizer Split: behavior \"Joined\" is not supported");
    refuse("pre_tokenizer", NULL, split_by("[a-z", "Isolated", false), "pre_tokenizer Split: pattern, byte 4 of 4");
    refuse("pre_tokenizer", NULL, split_by("\\d{2}+", "Isolated", false), "pre_tokenizer Split: pattern, byte 6 of 6: +");
    refuse("pre_tokenizer", NULL, split_by("a*", "Removed", false), "a pattern that matches no text is not supported");
    refuse("pre_tokenizer", NULL, split_by("'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|"
                                           "\\s+(?!\\S)|\\s", "Isolated", false), "which tokenizers reads otherwise");
    refuse("normalizer", NULL, TYPE("Invention"), "normalizer Invention is not supported");
    refuse("normalizer", NULL, TYPE("Precompiled"), "Precompiled: the precompiled_charsmap is malformed");
    refuse("normalizer", NULL, json_pack("{s:s, s:s}", "type", "Precompiled", "precompiled_charsmap", "/////w=="),
           "Precompiled: the precompiled_charsmap is malformed");
    refuse("decoder", NULL, TYPE("CTC"), "decoder CTC is not supported");
    refuse("decoder", NULL, TYPE("Metaspace"), "decoder Metaspace: replacement is not one character");
    refuse("post_processor", NULL, TYPE("Invention"), "post_processor Invention is not supported");
    refuse("post_processor", NULL, TYPE("RobertaProcessing"), "post_processor: an id that is no token's");
    refuse("invention", NULL, json_true(), "tokenizer: invention is not supported");
    refuse("model", "type", json_string("Unigram"), "model Unigram: merges is not supported");
    refuse("model", "type", json_string("Invention"), "model Invention is not supported");
    refuse("model", "dropout", json_real(0.1), "model BPE: dropout is not supported");
    refuse("model", "invention", json_true(), "model BPE: invention is not supported");
    refuse("model", "continuing_subword_prefix", json_string("##"), "merge 0: no token has the bytes of tokens 104 and 101");
}

static rapt_tokenizer *load_with(const char *key, json_t *value)
{
    json_t *root = document();
    json_object_set_new(root, key, value);
    return load_json(root);
}

/* What byte-level BPE does not take is a pipeline of the components. */
static void test_other_parts(void **state)
{
    (void)state;
    json_t *prefixed = byte_level(true);
    json_object_set_new(prefixed, "add_prefix_space", json_true());
    rapt_tokenizer *k = load_with("pre_tokenizer", prefixed);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_PIPELINE);
    ENCODES(k, "hello hello", 257, 'l', 259, 257, 'l', 259);
    ENCODES(k, "\xC3\xA9", ' ', 0xC3, 0xA9);
    DECODES(k, " he\xEF\xBF\xBD", 257, 0xC3);
    assert_saves(k);
    rapt_tokenizer_free(k);
    k = load_with("pre_tokenizer", split_by("[a-z]+", "Removed", true)); /* matches, and nothing else */
    ENCODES(k, "hello 77 he", 258, 259, 256);
    rapt_tokenizer_free(k);
}

/* Truncation and padding are for whoever makes batches of texts. */
static void test_truncation_and_padding(void **state)
{
    (void)state;
    rapt_tokenizer *k = load_with("truncation", json_pack("{s:i}", "max_length", 1));
    ENCODES(k, "hello", 258, 259);
    rapt_tokenizer_free(k);
    k = load_with("padding", json_pack("{s:s}", "strategy", "BatchLongest"));
    ENCODES(k, "hello", 258, 259);
    rapt_tokenizer_free(k);
}

static void test_not_utf8(void **state)
{
    (void)state;
    rapt_error err = {0};
    int32_t *ids;
    size_t count;
    rapt_tokenizer *k = load_with("normalizer", json_pack("{s:s}", "type", "NFD"));
    assert_int_equal(rapt_tokenizer_encode_bytes(k, "ab\xFF", 3, NULL, &ids, &count, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "byte 3: not UTF-8");
    rapt_tokenizer_free(k);
}

static json_t *with_flag(const char *flag)
{
    json_t *token = added(261, "<|end|>", true);
    json_object_set_new(token, flag, json_true());
    return json_pack("[o]", token);
}

/* Tokens that are "normalized" are looked for behind the normalizer. */
static void test_normalized(void **state)
{
    (void)state;
    json_t *root = document(), *space = added(262, "  ", false);
    json_object_set_new(space, "normalized", json_true());
    json_object_set_new(root, "added_tokens", json_pack("[o, O]", added(261, "<|end|>", true), space));
    json_object_set_new(root, "normalizer", json_pack("{s:s}", "type", "NFC"));
    rapt_tokenizer *k = load_json(root);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_BYTE_BPE);
    SPECIALS(k, "a  <|end|>   b", 'a', 262, 261, 262, ' ', 'b');
    rapt_tokenizer_free(k);
    json_object_set_new(space, "content", json_string("| ")); /* which has a byte of the other's */
    root = document();
    json_object_set_new(root, "added_tokens", json_pack("[o, o]", added(261, "<|end|>", true), space));
    k = load_json(root);
    assert_int_equal(rapt_tokenizer_kind_of(k), RAPT_TOKENIZER_PIPELINE);
    SPECIALS(k, "<|end|> <| ", 261, ' ', '<', 262);
    rapt_tokenizer_free(k);
    k = load_with("added_tokens", with_flag("lstrip"));
    SPECIALS(k, "a  <|end|> b", 'a', 261, ' ', 'b');
    rapt_tokenizer_free(k);
}

static void test_added_tokens_refused(void **state)
{
    (void)state;
    refuse("added_tokens", NULL, json_pack("[o]", added(270, "<a>", true)), "id 270, where tokenizers would give it 261");
    refuse("added_tokens", NULL, json_pack("[o]", added(5, "he", true)), "id 5, where tokenizers would give it 256");
    refuse("added_tokens", NULL, json_pack("[o]", added(261, "", true)), "an added token without content");
    refuse("added_tokens", NULL, json_pack("[o, o]", added(261, "<a>", true), added(262, "<a>", true)),
           "added token \"<a>\" is there twice");
}

static void refuse_token(const char *letters, json_t *id, const char *message)
{
    json_t *vocab = vocabulary();
    if (id)
        json_object_set_new(vocab, letters, id);
    else
        json_object_del(vocab, letters);
    refuse("model", "vocab", vocab, message);
}

static void test_bad_models(void **state)
{
    (void)state;
    refuse("model", "vocab", json_null(), "the model has no vocab");
    refuse("model", "merges", json_object(), "the model has no merges");
    refuse_token("h", NULL, "merge 0 names a token that is not in the vocabulary");
    refuse_token("new", json_integer(5), "token \"new\": id 5 is another token's");
    refuse_token("new", json_integer(-1), "token \"new\" has no sensible id");
    refuse_token("new", json_integer(1 << 30), "token \"new\" has no sensible id");
    refuse_token("new", json_string("7"), "token \"new\" has no sensible id");
    refuse("model", "merges", json_pack("[s]", "h nobody"), "merge 0 names a token that is not in the vocabulary");
    refuse("model", "merges", json_pack("[s, s]", "h e", "h x"), "merge 1: no token has the bytes of tokens 104 and 120");
    refuse("model", "merges", json_pack("[s, s]", "h e", "h e"), "merge 1: tokens 104 and 101 merge twice");
    refuse("model", "merges", json_pack("[s]", "h"), "merge 0 is not two tokens");
    refuse("model", "merges", json_pack("[s]", "h e l"), "merge 0 is not two tokens");
    refuse("model", "merges", json_pack("[[s, s, s]]", "h", "e", "l"), "merge 0 is not two tokens");
    refuse("model", "merges", json_pack("[i]", 7), "merge 0 is not two tokens");
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* A trained tokenizer is a file of the kind that `tokenizers` writes. */
static void test_written(void **state)
{
    (void)state;
    static const char *const specials[] = {"<|end|>"};
    static const char *const keys[] = {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                                       "post_processor", "decoder", "model"};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 260, .pattern = SPLIT_CL100K, .specials = specials, .special_count = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("hehehe hehe", 11, &o, NULL);
    assert_non_null(k);
    assert_int_equal(rapt_tokenizer_save(k, folder_in("t.json"), NULL), RAPT_OK);
    json_t *root = json_load_file(folder_in("t.json"), 0, NULL), *model = json_object_get(root, "model"), *added_token;
    assert_int_equal(json_object_size(root), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(json_object_get(root, keys[i]));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(model, "vocab"), "he")), 256);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(model, "vocab"), "\xC4\xA0")), ' ');
    assert_string_equal(json_string_value(json_array_get(json_object_get(model, "merges"), 0)), "h e");
    added_token = json_array_get(json_object_get(root, "added_tokens"), 0);
    assert_string_equal(json_string_value(json_object_get(added_token, "content")), "<|end|>");
    assert_int_equal(json_integer_value(json_object_get(added_token, "id")), rapt_tokenizer_size(k) - 1);
    assert_true(json_is_true(json_object_get(added_token, "special")));
    assert_true(json_is_false(json_object_get(added_token, "normalized")));
    json_decref(root);
    assert_saves(k);
    rapt_tokenizer_free(k);
}

/* GPT-2's table: printable bytes stand for themselves, the others for U+0100 on. */
static void test_byte_letters(void **state)
{
    (void)state;
    static const struct {
        unsigned char byte;
        const char *letters;
    } cases[] = {{'!', "!"}, {'~', "~"}, {0xA1, "\xC2\xA1"}, {0xFF, "\xC3\xBF"}, {0, "\xC4\x80"}, {' ', "\xC4\xA0"},
                 {'\n', "\xC4\x8A"}, {0x7F, "\xC4\xA1"}, {0xA0, "\xC5\x82"}, {0xAD, "\xC5\x83"}};
    char letters[3], byte;
    size_t length;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = byte_letters_write((const char *)&cases[i].byte, 1, letters);
        assert_int_equal(size, strlen(cases[i].letters));
        assert_memory_equal(letters, cases[i].letters, size);
    }
    for (int i = 0; i < 256; i++) {
        size_t size = byte_letters_write(&(char){(char)i}, 1, letters);
        assert_true(byte_letters_read(letters, size, &byte, &length) && length == 1 && byte == (char)i);
    }
    assert_false(byte_letters_read(" ", 1, &byte, &length));
    assert_false(byte_letters_read("\xC5\x84", 2, &byte, &length));
    assert_false(byte_letters_read("\xFF", 1, &byte, &length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpt2_style),          cmocka_unit_test(test_merges_as_pairs),
        cmocka_unit_test(test_llama3_style),        cmocka_unit_test(test_qwen_style),
        cmocka_unit_test(test_sequence_of_normalizers),
        cmocka_unit_test(test_removed_and_inverted), cmocka_unit_test(test_specials_in_vocabulary),
        cmocka_unit_test(test_unsupported_parts),   cmocka_unit_test(test_added_tokens_refused),
        cmocka_unit_test(test_other_parts),         cmocka_unit_test(test_truncation_and_padding),
        cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_normalized),          cmocka_unit_test(test_bad_models),          cmocka_unit_test(test_written),
        cmocka_unit_test(test_byte_letters),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}

/* tests/data/test_small_options.c: options of tokenizers, metrics, data sets, printed tensors and groups: without a size they are
 * refused by name, a value is what it says, and the reference implementations have the same defaults. Formats of explanations:
 * test_explain.c; chats: test_chat.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "rapt.h"

#include <string.h>

static void refused(rapt_error *err, const char *wanted)
{
    assert_int_equal(err->code, RAPT_ERR_VALUE);
    assert_string_equal(err->message, wanted);
    *err = (rapt_error){0};
}

#define NO_SIZE(name) "options without a size: make them with rapt_" name "_options_default()"
#define NO_MEMBERS(name) "rapt_" name "_options.reserved is not zero: this version of rapt has no members there"
#define OF_A_MODEL(member) member " is RAPT_AS_MODEL: a model's folder does not decide it"

static void of_tokenizers(void **state)
{
    (void)state;
    rapt_error err = {0};
    static const char *const lines[] = {"a a b"};
    assert_null(rapt_tokenizer_train_words(lines, 1, &(rapt_words_options){.lowercase = true}, &err));
    refused(&err, NO_SIZE("words"));
    assert_null(rapt_tokenizer_train_words(lines, 1, &TRAIN_WORDS(.reserved = {1}), &err));
    refused(&err, NO_MEMBERS("words"));
    assert_null(rapt_tokenizer_train_words(lines, 1, &TRAIN_WORDS(.max_size = (size_t)RAPT_AS_MODEL), &err));
    refused(&err, OF_A_MODEL("max_size"));
    assert_null(rapt_tokenizer_train_characters_with("ab", 2, &(rapt_characters_options){0}, &err));
    refused(&err, NO_SIZE("characters"));
    assert_null(rapt_tokenizer_train_bpe("ab", 2, &(rapt_bpe_options){.vocab_size = 300}, &err));
    refused(&err, NO_SIZE("bpe"));
    assert_null(rapt_tokenizer_train_bpe("ab", 2, NULL, &err));
    refused(&err, "a vocabulary of 0 is too small for 256 bytes and 0 special tokens");
    assert_null(rapt_tokenizer_train_bpe("ab", 2, &TRAIN_BPE(.vocab_size = 300, .min_freq = (size_t)RAPT_AS_MODEL), &err));
    refused(&err, OF_A_MODEL("min_freq"));
    for (size_t least = 0; least < 3; least++) { /* "ab" occurs once: it becomes a token unless a pair has to occur twice */
        rapt_tokenizer *k = rapt_tokenizer_train_bpe("ab", 2, &TRAIN_BPE(.vocab_size = 300, .min_freq = least), &err);
        assert_int_equal(rapt_tokenizer_size(k), least < 2 ? 257 : 256);
        rapt_tokenizer_free(k);
    }
    assert_int_equal(rapt_words_options_default().min_freq, 1);
    assert_int_equal(rapt_bpe_options_default().min_freq, 2);
}

/* The defaults are sacreBLEU's: nc:6, nw:0, beta 2. */
static void of_metrics(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_bleu bleu;
    double chrf;
    const rapt_text text = rapt_text_of("a");
    const rapt_text *const references[] = {&text};
    const rapt_metric_texts texts = {.translations = &text, .references = references, .reference_count = 1, .segment_count = 1};
    rapt_metric_texts later = texts;
    char signature[RAPT_SIGNATURE_SIZE] = "?";
    rapt_bleu_corpus(&(rapt_bleu_options){.lowercase = true}, &texts, &bleu, &err);
    refused(&err, NO_SIZE("bleu"));
    rapt_bleu_corpus(&BLEU(.reserved = {[5] = 1}), &texts, &bleu, &err);
    refused(&err, NO_MEMBERS("bleu"));
    rapt_chrf_corpus(&(rapt_chrf_options){.word_order = 2}, &texts, &chrf, &err);
    refused(&err, NO_SIZE("chrf"));
    rapt_chrf_corpus(&CHRF(.char_order = 0), &texts, &chrf, &err);
    refused(&err, "chrF: character order 0 is not 1 to 16");
    later.reserved[3] = &text;
    rapt_bleu_corpus(NULL, &later, &bleu, &err);
    refused(&err, "rapt_metric_texts.reserved is not zero: this version of rapt has no members there");
    rapt_chrf_corpus(NULL, &later, &chrf, &err);
    refused(&err, "rapt_metric_texts.reserved is not zero: this version of rapt has no members there");
    rapt_bleu_signature(&(rapt_bleu_options){0}, 1, signature, sizeof signature);
    assert_string_equal(signature, "");
    const rapt_chrf_options o = rapt_chrf_options_default();
    assert_true(o.char_order == 6 && o.word_order == 0 && o.beta == 2);
    assert_int_equal(rapt_chrf_sentence(&CHRF(.beta = 0), &text, &text, 1, &chrf, &err), RAPT_OK); /* precision alone */
}

/* torch.set_printoptions: precision=4, threshold=1000, edgeitems=3, linewidth=80. */
static void of_printed_tensors(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_real values[] = {1.25f, 2.75f};
    const rapt_tensor x = {.data = values, .ndim = 1, .shape = {2}};
    const rapt_tensor_text_options o = rapt_tensor_text_options_default();
    assert_null(rapt_tensor_text(&x, &(rapt_tensor_text_options){.precision = 4}, &err));
    refused(&err, NO_SIZE("tensor_text"));
    assert_null(rapt_tensor_text(&x, &TENSOR_TEXT(.edge_items = 0), &err));
    refused(&err, "edge_items is 0: a summary shows 1 or more");
    assert_null(rapt_tensor_text(&x, &TENSOR_TEXT(.threshold = (size_t)RAPT_AS_MODEL), &err));
    refused(&err, OF_A_MODEL("threshold"));
    assert_null(rapt_table_text(&(rapt_table){.values = values, .rows = 1, .columns = 2, .reserved = {values}}, &err));
    refused(&err, "rapt_table.reserved is not zero: this version of rapt has no members there");
    assert_true(o.precision == 4 && o.threshold == 1000 && o.edge_items == 3 && o.line_width == 80);
    char *text = rapt_tensor_text(&x, &TENSOR_TEXT(.precision = 0), &err); /* 0 is 0: as Python's round, to even */
    assert_string_equal(text, "tensor([1, 3])\n");
    free(text);
}

static void of_data(void **state)
{
    (void)state;
    rapt_error err = {0};
    static const char *const sources[] = {"a", "b"}, *const targets[] = {"b", "a"};
    rapt_tokenizer *k = rapt_tokenizer_train_words(sources, 2, NULL, &err);
    rapt_pairs *pairs = rapt_pairs_from_lines(sources, targets, 2, &err);
    assert_null(rapt_dataset_new(pairs, k, k, &(rapt_dataset_options){.max_len = 5}, &err));
    refused(&err, NO_SIZE("dataset"));
    assert_null(rapt_dataset_new(pairs, k, k, &DATASET(.max_len = 0), &err));
    refused(&err, "max_len is 0: <eos> is a token, too");
    rapt_dataset *d = rapt_dataset_new(pairs, k, k, NULL, &err);
    assert_null(rapt_loader_new(d, &(rapt_loader_options){.batch_size = 1}, &err));
    refused(&err, NO_SIZE("loader"));
    assert_null(rapt_loader_new(d, &LOADER(.batch_size = 0), &err));
    refused(&err, "a batch of 0 sentences");
    assert_null(rapt_loader_new(d, &LOADER(.batch_tokens = (size_t)RAPT_AS_MODEL), &err));
    refused(&err, OF_A_MODEL("batch_tokens"));
    rapt_loader *l = rapt_loader_new(d, &LOADER(.batch_size = 0, .batch_tokens = 1), &err);
    assert_int_equal(rapt_loader_batches(l), 2);
    rapt_loader_free(l);
    rapt_dataset_free(d);
    rapt_pairs_free(pairs);
    rapt_tokenizer_free(k);
}

static void of_groups(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_transport *transports = rapt_group_local(1, &err);
    assert_null(rapt_group_new(transports, &(rapt_group_options){.wait = 1}, &err));
    refused(&err, NO_SIZE("group"));
    assert_null(rapt_group_new(transports, &GROUP(.wait = 0), &err));
    refused(&err, "wait is 0: a group waits for more than 0 seconds");
    rapt_group_local_free(transports);
}

/* What a program gets is what the library takes in place of NULL, and fits the program's struct. */
static void defaults_have_their_size(void **state)
{
    (void)state;
    assert_int_equal(rapt_words_options_default().size, sizeof(rapt_words_options));
    assert_int_equal(rapt_characters_options_default().size, sizeof(rapt_characters_options));
    assert_int_equal(rapt_bpe_options_default().size, sizeof(rapt_bpe_options));
    assert_int_equal(rapt_bleu_options_default().size, sizeof(rapt_bleu_options));
    assert_int_equal(rapt_chrf_options_default().size, sizeof(rapt_chrf_options));
    assert_int_equal(rapt_chat_options_default().size, sizeof(rapt_chat_options));
    assert_int_equal(rapt_explain_format_default().size, sizeof(rapt_explain_format));
    assert_int_equal(rapt_tensor_text_options_default().size, sizeof(rapt_tensor_text_options));
    assert_int_equal(rapt_dataset_options_default().size, sizeof(rapt_dataset_options));
    assert_int_equal(rapt_loader_options_default().size, sizeof(rapt_loader_options));
    assert_int_equal(rapt_group_options_default().size, sizeof(rapt_group_options));
    assert_true(rapt_chat_options_default().generation_prompt && rapt_chat_options_default().memory == RAPT_CHAT_MEMORY);
    assert_int_equal(rapt_explain_format_default().position, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_tokenizers), cmocka_unit_test(of_metrics), cmocka_unit_test(of_printed_tensors),
        cmocka_unit_test(of_data),       cmocka_unit_test(of_groups),  cmocka_unit_test(defaults_have_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

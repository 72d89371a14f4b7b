/* tests/io/test_hub_encoder.c: encoders of Hugging Face folders: what they compute, against what transformers computes, alone and
 * in batches; and what is refused. For src/io/hub and src/decode/embedder.c. tests/golden/hub_encoder is made by
 * tools/make_hub_encoder.py with PyTorch and transformers.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "distance.h"
#include "folder.h"
#include "io/hub_folder.h"
#include "io/safetensors.h"
#include "loading.h"
#include "options.h"
#include "rapt/decode.h"
#include "rapt/embed.h"
#include "rapt/explain.h"
#include "texts.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub_encoder/"
enum { TEXTS = 5 };

static const char *const NAMES[] = {"bert", "bert_4", "roberta", "xlm_roberta_4", "distilbert", "distilbert_4"};
enum { COUNT = sizeof NAMES / sizeof *NAMES };
static const char *const SENTENCES[] = {"bert_sentence", "roberta_sentence"}; /* with settings of sentence-transformers */

typedef struct case_encoder {
    rapt_model *m;
    safetensors *expected;
    json_t *root;
    const char *texts[TEXTS];
    bool cut[TEXTS];
    size_t limit, d;
} case_encoder;

static case_encoder encoder_open(const char *name)
{
    char path[1024];
    json_error_t where;
    rapt_error err = {0};
    case_encoder c;
    snprintf(path, sizeof path, GOLDEN "%s", name);
    c.m = load_task(path, RAPT_TASK_ENCODER, &err);
    assert_string_equal(err.message, "");
    assert_non_null(c.m);
    c.d = c.m->encoder.net->config.block.d_model;
    snprintf(path, sizeof path, GOLDEN "%s/expected.safetensors", name);
    assert_int_equal(safetensors_open(path, &c.expected, &err), RAPT_OK);
    snprintf(path, sizeof path, GOLDEN "%s/expected.json", name);
    c.root = json_load_file(path, 0, &where);
    assert_non_null(c.root);
    c.limit = (size_t)json_integer_value(json_object_get(c.root, "limit"));
    for (size_t i = 0; i < TEXTS; i++)
        c.cut[i] = json_is_true(json_array_get(json_object_get(c.root, "cut"), i));
    for (size_t i = 0; i < TEXTS; i++)
        c.texts[i] = json_string_value(json_array_get(json_object_get(c.root, "texts"), i));
    return c;
}

static void encoder_close(case_encoder *c)
{
    json_decref(c->root);
    safetensors_close(c->expected);
    rapt_model_free(c->m);
}

static const safetensors_entry *encoder_entry(const case_encoder *c, const char *name, size_t text)
{
    char whole[64];
    snprintf(whole, sizeof whole, text < TEXTS ? "%s.%zu" : "%s", name, text);
    const safetensors_entry *e = safetensors_find(c->expected, whole);
    assert_non_null(e);
    return e;
}

static double encoder_error(const case_encoder *c)
{
    return *(const double *)encoder_entry(c, "error", TEXTS)->data;
}

static rapt_embedder *encoder_embedder(const rapt_model *m, const rapt_embedder_options *o)
{
    rapt_error err = {0};
    rapt_embedder *e = rapt_embedder_new(m, o, &err);
    assert_string_equal(err.message, "");
    assert_non_null(e);
    return e;
}

static double encoder_distance(const rapt_real *x, const double *expected, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, fabs((double)x[i] - expected[i]));
    return worst;
}

/* ---- what is computed ------------------------------------------------------------------------------------------ */

/* Tokens are equal; the distance of rapt's numbers from PyTorch's in float64 is at most twice the distance of PyTorch's in
 * float32. */
static void hidden_states_are_the_references(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_encoder c = encoder_open(NAMES[n]);
        rapt_embedder *e = encoder_embedder(c.m, NULL);
        double worst = 0;
        assert_int_equal(c.m->encoder.max_len, c.limit);
        assert_int_equal(rapt_embedder_features(e), c.d);
        for (size_t i = 0; i < TEXTS; i++) {
            const safetensors_entry *ids = encoder_entry(&c, "ids", i);
            rapt_token_vectors v;
            rapt_error err = {0};
            rapt_embedder_tokens(e, c.texts[i], strlen(c.texts[i]), &v, &err);
            assert_string_equal(err.message, "");
            if (v.count != ids->shape[0] || memcmp(v.ids, ids->data, v.count * sizeof *v.ids) != 0)
                fail_msg("%s: text %zu has other tokens", NAMES[n], i);
            if (v.cut != c.cut[i])
                fail_msg("%s: text %zu is %scut", NAMES[n], i, v.cut ? "" : "not ");
            worst = fmax(worst, encoder_distance(v.vectors, encoder_entry(&c, "hidden", i)->data, v.count * c.d));
            rapt_token_vectors_free(&v);
        }
        distance_show(NAMES[n], "hidden states", worst, encoder_error(&c));
        if (!(worst <= 2 * encoder_error(&c)))
            fail_msg("%s: %g from float64; PyTorch's in float32 %g", NAMES[n], worst, encoder_error(&c));
        rapt_embedder_free(e);
        encoder_close(&c);
    }
}

static void run(rapt_embedder *e, const char *const *texts, size_t count, rapt_real *vectors, bool *cut)
{
    rapt_error err = {0};
    rapt_embedder_run(e, TEXTS_OF(texts, count), count, vectors, cut, &err);
    assert_string_equal(err.message, "");
}

/* The vector of a text: pooled, and normalized. */
static void pooled_vectors_are_the_references(void **state)
{
    static const struct {
        const char *key;
        rapt_embedder_options o;
    } kinds[] = {{"mean", {EMBEDDER_DEFAULTS, .pooling = RAPT_POOLING_MEAN}}, {"mean", {EMBEDDER_DEFAULTS, .normalize = 0}},
                 {"max", {EMBEDDER_DEFAULTS, .pooling = RAPT_POOLING_MAX}}, {"hidden", {EMBEDDER_DEFAULTS,
                                                                                        .pooling = RAPT_POOLING_CLS}},
                 {"unit", {EMBEDDER_DEFAULTS, .normalize = 1}}};
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_encoder c = encoder_open(NAMES[n]);
        rapt_real *x = malloc(TEXTS * c.d * sizeof *x);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            rapt_embedder *e = encoder_embedder(c.m, &kinds[k].o);
            bool cut[TEXTS];
            run(e, c.texts, TEXTS, x, cut);
            for (size_t i = 0; i < TEXTS; i++) {
                double error = encoder_distance(x + i * c.d, encoder_entry(&c, kinds[k].key, i)->data, c.d);
                if (!(error <= 2 * encoder_error(&c)) || cut[i] != c.cut[i])
                    fail_msg("%s: %s of text %zu: %g from float64", NAMES[n], kinds[k].key, i, error);
            }
            rapt_embedder_free(e);
        }
        free(x);
        encoder_close(&c);
    }
}

/* Together, whatever the threads and the batch, from the files or read at once, texts have the vectors that they have alone. */
static void vectors_have_the_same_bits(void **state)
{
    static const rapt_embedder_options options[] = {
        {EMBEDDER_DEFAULTS, .compute.threads = 1},
        {EMBEDDER_DEFAULTS, .compute.threads = 3, .batch = 2},
        {EMBEDDER_DEFAULTS, .compute.threads = 2, .batch = 1},
        {EMBEDDER_DEFAULTS, .compute.threads = 1, .batch = 4},
    };
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_encoder c = encoder_open(NAMES[n]);
        char path[1024];
        rapt_error err = {0};
        snprintf(path, sizeof path, GOLDEN "%s", NAMES[n]);
        rapt_model *later = load_inference(path, RAPT_TASK_ENCODER, &err);
        assert_string_equal(err.message, "");
        rapt_embedder *one = encoder_embedder(c.m, &EMBEDDER(.compute.threads = 1));
        rapt_real *alone = malloc(TEXTS * c.d * sizeof *alone), *x = malloc(TEXTS * c.d * sizeof *x);
        for (size_t i = 0; i < TEXTS; i++)
            run(one, &c.texts[i], 1, alone + i * c.d, NULL);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            rapt_embedder *e = encoder_embedder(k % 2 ? later : c.m, &options[k]);
            run(e, c.texts, TEXTS, x, NULL);
            assert_memory_equal(x, alone, TEXTS * c.d * sizeof *x);
            rapt_embedder_free(e);
        }
        free(alone);
        free(x);
        rapt_embedder_free(one);
        rapt_model_free(later);
        encoder_close(&c);
    }
}

/* Cut, and then normalized: the first features of PyTorch's mean, divided by their norm. */
static void vectors_are_cut_before_they_are_normalized(void **state)
{
    enum { DIMENSIONS = 5 };
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_encoder c = encoder_open(NAMES[n]);
        rapt_embedder *plain = encoder_embedder(c.m, &EMBEDDER(.dimensions = DIMENSIONS));
        rapt_embedder *unit = encoder_embedder(c.m, &EMBEDDER(.dimensions = DIMENSIONS, .normalize = 1));
        rapt_real x[TEXTS * DIMENSIONS], y[TEXTS * DIMENSIONS];
        assert_int_equal(rapt_embedder_features(unit), DIMENSIONS);
        run(plain, c.texts, TEXTS, x, NULL);
        run(unit, c.texts, TEXTS, y, NULL);
        for (size_t i = 0; i < TEXTS; i++) {
            const double *mean = encoder_entry(&c, "mean", i)->data;
            double square = 0, expected[DIMENSIONS];
            for (size_t j = 0; j < DIMENSIONS; j++)
                square += mean[j] * mean[j];
            for (size_t j = 0; j < DIMENSIONS; j++)
                expected[j] = mean[j] / sqrt(square);
            const double cut = encoder_distance(x + i * DIMENSIONS, mean, DIMENSIONS),
                         divided = encoder_distance(y + i * DIMENSIONS, expected, DIMENSIONS);
            if (!(cut <= 2 * encoder_error(&c) && divided <= 2 * encoder_error(&c) / fmin(1, sqrt(square))))
                fail_msg("%s: text %zu: %g and %g from float64", NAMES[n], i, cut, divided);
        }
        rapt_embedder_free(plain);
        rapt_embedder_free(unit);
        encoder_close(&c);
    }
}

static void dimensions_are_refused(void **state)
{
    static const struct {
        size_t dimensions;
        const char *says;
    } cases[] = {{13, "13 dimensions; the model's vectors have 12"}, {SIZE_MAX, "the model's vectors have 12"},
                 {(size_t)RAPT_AS_MODEL, "dimensions is RAPT_AS_MODEL"}};
    (void)state;
    case_encoder c = encoder_open("bert");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        assert_null(rapt_embedder_new(c.m, &EMBEDDER(.dimensions = cases[i].dimensions), &err));
        assert_int_equal(err.code, RAPT_ERR_VALUE);
        assert_non_null(strstr(err.message, cases[i].says));
    }
    encoder_close(&c);
}

static void vectors_are_those_of_the_settings(void **state)
{
    static const struct {
        const char *key, *prompt;
    } kinds[] = {{"vector", NULL}, {"query", "query"}};
    (void)state;
    for (size_t n = 0; n < sizeof SENTENCES / sizeof *SENTENCES; n++) {
        case_encoder c = encoder_open(SENTENCES[n]);
        rapt_real *x = malloc(TEXTS * c.d * sizeof *x);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            rapt_embedder *e = encoder_embedder(c.m, &EMBEDDER(.prompt = kinds[k].prompt));
            run(e, c.texts, TEXTS, x, NULL);
            for (size_t i = 0; i < TEXTS; i++) {
                double error = encoder_distance(x + i * c.d, encoder_entry(&c, kinds[k].key, i)->data, c.d);
                if (!(error <= 2 * encoder_error(&c)))
                    fail_msg("%s: %s of text %zu: %g from float64", SENTENCES[n], kinds[k].key, i, error);
            }
            rapt_embedder_free(e);
        }
        free(x);
        encoder_close(&c);
    }
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void check_text(const char *name, const char *text, const char *says)
{
    case_encoder c = encoder_open(name);
    rapt_embedder *e = encoder_embedder(c.m, NULL);
    rapt_real *x = malloc(c.d * sizeof *x);
    rapt_error err = {0};
    assert_int_not_equal(rapt_embedder_run(e, TEXTS_OF(&text, 1), 1, x, NULL, &err), RAPT_OK);
    if (!strstr(err.message, says))
        fail_msg("%s: %s", name, err.message);
    free(x);
    rapt_embedder_free(e);
    encoder_close(&c);
}

/* BERT's normalizer drops U+0000 (transformers' BasicTokenizer._clean_text), so the text is the one without it, whole. */
static void a_zero_byte_is_dropped(void **state)
{
    (void)state;
    case_encoder c = encoder_open("bert");
    rapt_embedder *e = encoder_embedder(c.m, NULL);
    const size_t size = strlen(c.texts[0]);
    char *text = malloc(size + 1);
    rapt_real *x = malloc(2 * c.d * sizeof *x);
    rapt_error err = {0};
    rapt_token_vectors v, whole;
    text[0] = c.texts[0][0];
    text[1] = '\0';
    memcpy(text + 2, c.texts[0] + 1, size - 1);
    assert_int_equal(rapt_embedder_tokens(e, text, size + 1, &v, &err), RAPT_OK);
    assert_int_equal(rapt_embedder_tokens(e, c.texts[0], size, &whole, &err), RAPT_OK);
    assert_int_equal(v.count, whole.count);
    assert_memory_equal(v.ids, whole.ids, v.count * sizeof *v.ids);
    const rapt_text both[] = {{text, size + 1}, {c.texts[0], size}};
    assert_int_equal(rapt_embedder_run(e, both, 2, x, NULL, &err), RAPT_OK);
    assert_memory_equal(x, x + c.d, c.d * sizeof *x);
    rapt_token_vectors_free(&v);
    rapt_token_vectors_free(&whole);
    free(text);
    free(x);
    rapt_embedder_free(e);
    encoder_close(&c);
}

/* Padding within a text would have another position there. */
static void texts_are_refused(void **state)
{
    (void)state;
    check_text("roberta", "a <pad> b", "padding");
    check_text("bert", "a \xff", "UTF-8");
}

static void other_uses_are_refused(void **state)
{
    (void)state;
    case_encoder c = encoder_open("bert");
    rapt_error translate = {0}, explain = {0}, save = {0}, export = {0}, load = {0};
    assert_null(rapt_translator_new(c.m, NULL, &translate));
    assert_non_null(strstr(translate.message, "an encoder does not translate"));
    assert_null(rapt_explanation_new(c.m, "a", strlen("a"), NULL, &explain));
    assert_non_null(strstr(explain.message, "an encoder"));
    assert_int_equal(rapt_model_save(c.m, folder_in("saved"), &save), RAPT_ERR_VALUE);
    assert_non_null(strstr(save.message, "an encoder"));
    assert_int_equal(rapt_model_export(c.m, folder_in("exported"), NULL, &export), RAPT_ERR_VALUE);
    assert_non_null(strstr(export.message, "bert"));
    assert_null(load_task(GOLDEN "bert", RAPT_TASK_TRANSLATION, &load));
    assert_non_null(strstr(load.message, "is an encoder; rapt embed runs it"));
    encoder_close(&c);
}

/* Another key of config.json; NULL: accepted. */
static void configurations_are_refused(void **state)
{
    static const char *const cases[][4] = {
        {"bert", "position_embedding_type", "\"relative_key\"", "position_embedding_type"},
        {"bert", "position_embedding_type", "\"absolute\"", NULL},
        {"bert", "is_decoder", "true", "is_decoder"},
        {"bert", "add_cross_attention", "true", "add_cross_attention"},
        {"bert", "quantization_config", "{}", "quantization_config"},
        {"bert", "hidden_act", "\"tanh\"", "hidden_act"},
        {"bert", "architectures", "[\"JinaBertModel\"]", "architectures"},
        {"bert", "architectures", "[\"BertForMaskedLM\"]", NULL},
        {"bert", "architectures", "[\"BertLMHeadModel\"]", "architectures"},
        {"bert", "architectures", "[\"BertForPreTraining\"]", NULL},
        {"bert", "architectures", "[\"BertForSequenceClassification\"]", "those of one label"},
        {"bert", "architectures", "[\"BertForTokenClassification\"]", "architectures"},
        {"bert", "architectures", "[\"BertForQuestionAnswering\"]", "architectures"},
        {"bert", "architectures", "[\"BertForMultipleChoice\"]", "architectures"},
        {"bert", "architectures", "[\"BertForNextSentencePrediction\"]", "architectures"},
        {"roberta", "architectures", "[\"RobertaForSequenceClassification\"]", "those of one label"},
        {"distilbert", "architectures", "[\"DistilBertForSequenceClassification\"]", "those of one label"},
        {"bert", "pruned_heads", "{\"0\": [1]}", "pruned_heads"},
        {"bert", "pruned_heads", "{}", NULL},
        {"bert", "type_vocab_size", "1", "token_type_embeddings"},
        {"bert", "num_hidden_layers", "2", "does not belong"},
        {"bert", "num_hidden_layers", "4", "tensor \"bert.encoder.layer.3.attention.self.query.weight\" is missing"},
        {"bert", "num_attention_heads", "5", "heads"},
        {"bert", "layer_norm_eps", "0", "layer_norm_eps"},
        {"bert", "max_position_embeddings", "64", "position_embeddings"},
        {"bert", "alibi", "true", "alibi"},
        {"roberta", "pad_token_id", "0", "pad_token_id"},
        {"roberta", "max_position_embeddings", "2", "max_position_embeddings"},
        {"distilbert", "activation", "\"selu\"", "activation"},
        {"distilbert", "model_type", "\"electra\"", "electra"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i][0], cases[i][1], cases[i][2]), NULL, &err);
        const char *says = cases[i][3];
        if (says ? m || !strstr(err.message, says) : !m)
            fail_msg("%s, \"%s\": %s: %s", cases[i][0], cases[i][1], cases[i][2], m ? "accepted" : err.message);
        rapt_model_free(m);
    }
}

static void encoder_write(const char *name, const char *text, size_t size)
{
    unlink(folder_in(name));
    FILE *f = fopen(folder_in(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

/* The folder "bert_4", whose tokenizer is vocab.txt, with another file; NULL: it is accepted. */
static void tokenizers_are_refused(void **state)
{
#define VOCAB "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
    static const char *const cases[][3] = {
        {"vocab.txt", VOCAB "a\nb\n", NULL},
        {"vocab.txt", VOCAB "a\r\nb", NULL},
        {"vocab.txt", VOCAB "a\na\n", "vocab.txt:7: token \"a\" is there twice"},
        {"vocab.txt", VOCAB "\na\n", "vocab.txt:6: an empty line"},
        {"vocab.txt", VOCAB "a\rb\n", "vocab.txt:6: a carriage return"},
        {"vocab.txt", VOCAB "\xff\n", "vocab.txt:6"},
        {"vocab.txt", "\xef\xbb\xbf" VOCAB, "byte order mark"},
        {"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[MASK]\n", "\"[SEP]\" is missing"},
        {"vocab.txt", "", "is missing"},
        {"tokenizer_config.json", "{\"tokenizer_class\": \"BertJapaneseTokenizer\"}", "tokenizer_class"},
        {"tokenizer_config.json", "{\"do_basic_tokenize\": false}", "do_basic_tokenize"},
        {"tokenizer_config.json", "{\"never_split\": [\"a\"]}", "never_split"},
        {"tokenizer_config.json", "{\"cls_token\": \"<s>\"}", "\"<s>\" is missing"},
        {"tokenizer_config.json", "{\"cls_token\": {\"content\": \"[CLS]\", \"lstrip\": true}}", "cls_token"},
        {"tokenizer_config.json", "{\"cls_token\": {\"content\": \"[CLS]\", \"lstrip\": false}}", NULL},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"5\": {\"content\": \"[X]\"}}}", "added_tokens_decoder"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"2\": {\"content\": \"[CLS]\"}}}", NULL},
        {"tokenizer_config.json", "{\"additional_special_tokens\": [\"[X]\"]}", "additional_special_tokens"},
        {"tokenizer_config.json", "{\"truncation_side\": \"left\"}", "truncation_side"},
        {"tokenizer_config.json", "{\"model_max_length\": 0}", "model_max_length"},
        {"tokenizer_config.json", "{\"split_words\": true}", "split_words"},
        {"tokenizer_config.json", "[", "tokenizer_config.json"},
        {"added_tokens.json", "{\"[X]\": 80}", "added_tokens.json"},
        {"special_tokens_map.json", "{\"cls_token\": \"<s>\"}", "special_tokens_map.json"},
        {"special_tokens_map.json", "{\"cls_token\": \"[CLS]\"}", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, "bert_4", "_", "0");
        unlink(folder_in("added_tokens.json"));
        unlink(folder_in("special_tokens_map.json"));
        encoder_write(cases[i][0], cases[i][1], strlen(cases[i][1]));
        rapt_model *m = rapt_model_load(folder_path, NULL, &err);
        const char *says = cases[i][2];
        if (says ? m || !strstr(err.message, says) : !m)
            fail_msg("%s, %s: %s", cases[i][0], cases[i][1], m ? "accepted" : err.message);
        rapt_model_free(m);
    }
}

/* The folder "bert_sentence" with another file; NULL: it is accepted. */
static void settings_are_refused(void **state)
{
#define MODULE(type, path) "{\"type\": \"sentence_transformers.models." type "\", \"path\": \"" path "\"}"
#define TWO "[" MODULE("Transformer", "") "," MODULE("Pooling", "1_Pooling")
    static const char *const others[] = {"modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
                                         "1_Pooling/config.json"};
    static const char *const cases[][3] = {
        {"modules.json", TWO "]", NULL},
        {"modules.json", TWO "," MODULE("Dense", "2_Dense") "]", "module 2 is \"Dense\""},
        {"modules.json", TWO "," MODULE("Normalize", "2_Normalize") "," MODULE("Normalize", "3") "]", "module 3"},
        {"modules.json", "[" MODULE("Transformer", "") "]", "not at least two modules"},
        {"modules.json", "{}", "not at least two modules"},
        {"modules.json", "[" MODULE("Transformer", "0_Transformer") "," MODULE("Pooling", "1_Pooling") "]",
         "from the folder itself"},
        {"modules.json", "[" MODULE("Transformer", "") "," MODULE("Pooling", "../1_Pooling") "]", "the name of a folder"},
        {"modules.json", "[" MODULE("Transformer", "") "," MODULE("Pooling", "3_Pooling") "]",
         "3_Pooling/config.json is missing"},
        {"1_Pooling/config.json", "{}", "neither the size of vectors nor a kind of pooling"},
        {"1_Pooling/config.json", "[]", "1_Pooling/config.json: it is an array, not an object"},
        {"1_Pooling/config.json", "{\"word_embedding_dimension\": 12}", NULL},
        {"1_Pooling/config.json", "{\"pooling_mode_max_tokens\": true}", "one kind of pooling"},
        {"1_Pooling/config.json", "{\"pooling_mode_mean_tokens\": false}", "one kind of pooling"},
        {"1_Pooling/config.json", "{\"pooling_mode_mean_tokens\": false, \"pooling_mode_lasttoken\": true}", "lasttoken"},
        {"1_Pooling/config.json", "{\"pooling_mode\": \"weightedmean\"}", "pooling_mode"},
        {"1_Pooling/config.json", "{\"pooling_mode\": \"cls\"}", NULL},
        {"1_Pooling/config.json", "{\"word_embedding_dimension\": 13}", "another size"},
        {"1_Pooling/config.json", "{\"power\": 2}", "power"},
        {"sentence_bert_config.json", "{\"do_lower_case\": true}", "do_lower_case"},
        {"sentence_bert_config.json", "{\"max_seq_length\": 0}", "max_seq_length"},
        {"sentence_bert_config.json", "{\"model_args\": {\"x\": 1}}", "model_args"},
        {"sentence_bert_config.json", "{\"model_args\": {}, \"max_seq_length\": null}", NULL},
        {"sentence_bert_config.json", "[]", "sentence_bert_config.json: it is an array, not an object"},
        {"config_sentence_transformers.json", "[]", "config_sentence_transformers.json: it is an array, not an object"},
        {"config_sentence_transformers.json", "{\"default_prompt_name\": \"query\"}", "default_prompt_name"},
        {"config_sentence_transformers.json", "{\"prompts\": {\"query\": 1}}", "prompt \"query\""},
        {"config_sentence_transformers.json", "{\"model_type\": \"SparseEncoder\"}", "model_type"},
        {"config_sentence_transformers.json", "{\"truncate_dim\": 4}", "truncate_dim"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        char path[1024];
        hub_folder_with(GOLDEN, "bert_sentence", "_", "0");
        mkdir(folder_in("1_Pooling"), 0777);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            snprintf(path, sizeof path, GOLDEN "bert_sentence/%s", others[k]);
            unlink(folder_in(others[k]));
            assert_int_equal(symlink(path, folder_in(others[k])), 0);
        }
        encoder_write(cases[i][0], cases[i][1], strlen(cases[i][1]));
        rapt_model *m = rapt_model_load(folder_path, NULL, &err);
        const char *says = cases[i][2];
        if (says ? m || !strstr(err.message, says) : !m)
            fail_msg("%s, %s: %s", cases[i][0], cases[i][1], m ? "accepted" : err.message);
        rapt_model_free(m);
    }
}

static void prompts_are_refused(void **state)
{
    rapt_error none = {0}, left_out = {0};
    (void)state;
    case_encoder c = encoder_open("bert_sentence");
    assert_null(rapt_embedder_new(c.m, &EMBEDDER(.prompt = "title"), &none));
    assert_non_null(strstr(none.message, "there is no prompt \"title\"; the model's folder has query, passage"));
    c.m->encoder.without_prompt = true;
    assert_null(rapt_embedder_new(c.m, &EMBEDDER(.prompt = "query"), &left_out));
    assert_non_null(strstr(left_out.message, "include_prompt"));
    rapt_embedder_free(encoder_embedder(c.m, &EMBEDDER(.prompt = "passage"))); /* which is empty */
    encoder_close(&c);
}

/* Any part of vocab.txt is a vocabulary, or is refused in one line. */
static void damaged_vocabularies_are_read_or_refused(void **state)
{
    char text[512];
    (void)state;
    FILE *f = fopen(GOLDEN "bert_4/vocab.txt", "r");
    assert_non_null(f);
    const size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    hub_folder_with(GOLDEN, "bert_4", "_", "0");
    for (size_t i = 0; i < size; i++) {
        const char was = text[i];
        for (int damage = 0; damage < 3; damage++) {
            rapt_error err = {0};
            text[i] = damage == 0 ? '\0' : damage == 1 ? '\n' : (char)0xC3;
            encoder_write("vocab.txt", text, damage == 2 ? size : i + 1);
            rapt_model *m = rapt_model_load(folder_path, NULL, &err);
            assert_true(m ? err.message[0] == '\0' : err.message[0] && !strchr(err.message, '\n'));
            rapt_model_free(m);
        }
        text[i] = was;
    }
}

static void files_that_are_missing_are_named(void **state)
{
    static const char *const cases[][3] = {{"bert", "tokenizer.json", "tokenizer.json or vocab.txt"},
                                           {"roberta", "tokenizer.json", "tokenizer.json"},
                                           {"bert", "model.safetensors", "model.safetensors"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, cases[i][0], "_", "0");
        assert_int_equal(unlink(folder_in(cases[i][1])), 0);
        assert_null(rapt_model_load(folder_path, NULL, &err));
        assert_non_null(strstr(err.message, cases[i][2]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_states_are_the_references), cmocka_unit_test(pooled_vectors_are_the_references),
        cmocka_unit_test(vectors_have_the_same_bits), cmocka_unit_test(vectors_are_those_of_the_settings),
        cmocka_unit_test(vectors_are_cut_before_they_are_normalized), cmocka_unit_test(dimensions_are_refused),
        cmocka_unit_test(a_zero_byte_is_dropped),
        cmocka_unit_test(texts_are_refused), cmocka_unit_test(prompts_are_refused), IN_FOLDER(other_uses_are_refused),
        IN_FOLDER(settings_are_refused), IN_FOLDER(configurations_are_refused), IN_FOLDER(tokenizers_are_refused),
        IN_FOLDER(damaged_vocabularies_are_read_or_refused), IN_FOLDER(files_that_are_missing_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/io/test_hub_rerank.c: cross-encoders of Hugging Face folders: their rows of two texts and their scores, against what
 * transformers makes, alone and in batches; and what is refused. For src/io/hub, src/text/hf/hf_post.c, src/decode/pair_rows.c
 * and src/decode/reranker.c. tests/golden/hub_rerank is made by tools/make_hub_rerank.py with PyTorch and transformers.
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

#include "decode/text_rows.h"
#include "distance.h"
#include "folder.h"
#include "io/hub_folder.h"
#include "io/safetensors.h"
#include "loading.h"
#include "options.h"
#include "rapt/embed.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub_rerank/"
enum { PAIRS = 35 };

static const char *const NAMES[] = {"bert_pairs", "bert_untyped", "roberta_pairs", "xlm_roberta_pairs", "distilbert_pairs"};
enum { COUNT = sizeof NAMES / sizeof *NAMES };

typedef struct case_pairs {
    rapt_model *m;
    safetensors *expected;
    json_t *root;
    rapt_text_pair pairs[PAIRS];
    bool cut[PAIRS];
    size_t limit;
} case_pairs;

static rapt_text text_at(const json_t *pair, size_t i)
{
    const json_t *text = json_array_get(pair, i);
    return (rapt_text){json_string_value(text), json_string_length(text)};
}

static case_pairs pairs_open(const char *name)
{
    char path[1024];
    json_error_t where;
    rapt_error err = {0};
    case_pairs c;
    snprintf(path, sizeof path, GOLDEN "%s", name);
    c.m = load_task(path, RAPT_TASK_CROSS_ENCODER, &err);
    assert_string_equal(err.message, "");
    snprintf(path, sizeof path, GOLDEN "%s/expected.safetensors", name);
    assert_int_equal(safetensors_open(path, &c.expected, &err), RAPT_OK);
    snprintf(path, sizeof path, GOLDEN "%s/expected.json", name);
    c.root = json_load_file(path, 0, &where);
    assert_non_null(c.root);
    c.limit = (size_t)json_integer_value(json_object_get(c.root, "limit"));
    for (size_t i = 0; i < PAIRS; i++) {
        const json_t *pair = json_array_get(json_object_get(c.root, "pairs"), i);
        c.pairs[i] = (rapt_text_pair){text_at(pair, 0), text_at(pair, 1)};
        c.cut[i] = json_is_true(json_array_get(json_object_get(c.root, "cut"), i));
    }
    return c;
}

static void pairs_close(case_pairs *c)
{
    json_decref(c->root);
    safetensors_close(c->expected);
    rapt_model_free(c->m);
}

static const safetensors_entry *pairs_entry(const case_pairs *c, const char *name, size_t pair)
{
    char whole[64];
    snprintf(whole, sizeof whole, pair < PAIRS ? "%s.%zu" : "%s", name, pair);
    const safetensors_entry *e = safetensors_find(c->expected, whole);
    assert_non_null(e);
    return e;
}

static rapt_reranker *pairs_reranker(const rapt_model *m, const rapt_reranker_options *o)
{
    rapt_error err = {0};
    rapt_reranker *r = rapt_reranker_new(m, o, &err);
    assert_string_equal(err.message, "");
    assert_non_null(r);
    return r;
}

static void run(rapt_reranker *r, const rapt_text_pair *pairs, size_t count, rapt_pair_score *scores)
{
    rapt_error err = {0};
    rapt_reranker_run(r, pairs, count, scores, &err);
    assert_string_equal(err.message, "");
}

/* ---- what is computed ------------------------------------------------------------------------------------------ */

/* Tokens and types, of the texts as they are and truncated. */
static void rows_are_the_references(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_pairs c = pairs_open(NAMES[n]);
        const rapt_encoder_model *m = rapt_model_encoder(c.m);
        rapt_error err = {0};
        assert_int_equal(m->max_len, c.limit);
        text_row *rows = text_rows_of_pairs(m, c.pairs, PAIRS, SIZE_MAX, &err);
        assert_string_equal(err.message, "");
        for (size_t i = 0; i < PAIRS; i++) {
            const text_row *row = &rows[i];
            const safetensors_entry *ids = pairs_entry(&c, "ids", row->index), *types = pairs_entry(&c, "types", row->index);
            assert_true(i == 0 || rows[i - 1].count <= row->count);
            if (row->count != ids->shape[0] || memcmp(row->ids, ids->data, row->count * sizeof *row->ids) != 0)
                fail_msg("%s: pair %zu has other tokens", NAMES[n], row->index);
            for (size_t j = 0; j < row->count && m->net->config.token_types > 1; j++)
                if (((const int32_t *)types->data)[j] != (row->second > 0 && j >= row->second))
                    fail_msg("%s: pair %zu has another type at %zu", NAMES[n], row->index, j);
            assert_int_equal(row->cut, c.cut[row->index]);
        }
        text_rows_free(rows, PAIRS);
        pairs_close(&c);
    }
}

/* The distance of rapt's logits from PyTorch's in float64 is at most twice the distance of PyTorch's in float32. A sigmoid's
 * slope is at most 1/4. */
static void scores_are_the_references(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_pairs c = pairs_open(NAMES[n]);
        rapt_reranker *r = pairs_reranker(c.m, NULL);
        const double *logits = pairs_entry(&c, "logits", PAIRS)->data, *scores = pairs_entry(&c, "scores", PAIRS)->data;
        const double error = *(const double *)pairs_entry(&c, "error", PAIRS)->data;
        rapt_pair_score got[PAIRS];
        double worst = 0, of_scores = 0;
        run(r, c.pairs, PAIRS, got);
        for (size_t i = 0; i < PAIRS; i++) {
            worst = fmax(worst, fabs((double)got[i].logit - logits[i]));
            of_scores = fmax(of_scores, fabs((double)got[i].score - scores[i]));
            assert_int_equal(got[i].cut, c.cut[i]);
        }
        distance_show(NAMES[n], "logits", worst, error);
        if (!(worst <= 2 * error))
            fail_msg("%s: %g from float64; PyTorch's in float32 %g", NAMES[n], worst, error);
        if (!(of_scores <= 2 * error + 6e-8)) /* a float of 1 */
            fail_msg("%s: scores %g from float64", NAMES[n], of_scores);
        rapt_reranker_free(r);
        pairs_close(&c);
    }
}

/* Together, whatever the threads and the batch, from the files or read at once, pairs have the scores that they have alone. */
static void scores_have_the_same_bits(void **state)
{
    static const rapt_reranker_options options[] = {
        {RERANKER_DEFAULTS, .compute.threads = 1},
        {RERANKER_DEFAULTS, .compute.threads = 3, .batch = 2},
        {RERANKER_DEFAULTS, .compute.threads = 2, .batch = 1},
        {RERANKER_DEFAULTS, .compute.threads = 1, .batch = 7},
    };
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_pairs c = pairs_open(NAMES[n]);
        char path[1024];
        rapt_error err = {0};
        rapt_pair_score alone[PAIRS], got[PAIRS];
        snprintf(path, sizeof path, GOLDEN "%s", NAMES[n]);
        rapt_model *later = load_inference(path, RAPT_TASK_CROSS_ENCODER, &err);
        assert_string_equal(err.message, "");
        rapt_reranker *one = pairs_reranker(c.m, &RERANKER(.compute.threads = 1));
        for (size_t i = 0; i < PAIRS; i++)
            run(one, &c.pairs[i], 1, &alone[i]);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            rapt_reranker *r = pairs_reranker(k % 2 ? later : c.m, &options[k]);
            run(r, c.pairs, PAIRS, got);
            for (size_t i = 0; i < PAIRS; i++)
                assert_true(got[i].logit == alone[i].logit && got[i].score == alone[i].score && got[i].cut == alone[i].cut);
            rapt_reranker_free(r);
        }
        rapt_reranker_free(one);
        rapt_model_free(later);
        pairs_close(&c);
    }
}

/* Pairs that share the bytes of a first text, and pairs with copies of it. */
static void a_shared_text_is_like_copies(void **state)
{
    (void)state;
    case_pairs c = pairs_open("bert_pairs");
    rapt_reranker *r = pairs_reranker(c.m, NULL);
    rapt_text_pair shared[PAIRS], copied[PAIRS];
    rapt_pair_score a[PAIRS], b[PAIRS];
    char texts[PAIRS][16];
    for (size_t i = 0; i < PAIRS; i++) {
        strcpy(texts[i], i % 3 ? "the cat sings" : "cat");
        copied[i] = (rapt_text_pair){rapt_text_of(texts[i]), c.pairs[i].second};
        shared[i] = (rapt_text_pair){rapt_text_of(i % 3 ? "the cat sings" : "cat"), c.pairs[i].second};
    }
    run(r, shared, PAIRS, a);
    run(r, copied, PAIRS, b);
    for (size_t i = 0; i < PAIRS; i++)
        assert_true(a[i].logit == b[i].logit);
    rapt_reranker_free(r);
    pairs_close(&c);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void options_are_refused(void **state)
{
    (void)state;
    case_pairs c = pairs_open("bert_pairs");
    rapt_error zeroed = {0}, batch = {0}, as_model = {0}, reserved = {0}, embed = {0}, encoder = {0};
    assert_null(rapt_reranker_new(c.m, &(rapt_reranker_options){.batch = 4}, &zeroed));
    assert_string_equal(zeroed.message, "options without a size: make them with rapt_reranker_options_default()");
    assert_null(rapt_reranker_new(c.m, &RERANKER(.batch = 0), &batch));
    assert_string_equal(batch.message, "a batch of 0 pairs");
    assert_null(rapt_reranker_new(c.m, &RERANKER(.batch = (size_t)RAPT_AS_MODEL), &as_model));
    assert_non_null(strstr(as_model.message, "batch is RAPT_AS_MODEL"));
    assert_null(rapt_reranker_new(c.m, &RERANKER(.compute.reserved[6] = 1), &reserved));
    assert_non_null(strstr(reserved.message, "reserved"));
    assert_null(rapt_embedder_new(c.m, NULL, &embed));
    assert_string_equal(embed.message, "a cross-encoder gives no embeddings of texts");
    rapt_model *m = load_task(RAPT_SOURCE_DIR "/tests/golden/hub_encoder/bert", RAPT_TASK_ENCODER, &encoder);
    assert_null(rapt_reranker_new(m, NULL, &encoder));
    assert_string_equal(encoder.message, "an encoder gives no scores of pairs");
    rapt_model_free(m);
    pairs_close(&c);
}

static void texts_are_refused(void **state)
{
    static const struct {
        const char *model, *first, *second, *says;
    } cases[] = {{"bert_pairs", "a", "b\xff", "UTF-8"}, {"bert_pairs", "\xff", "b", "UTF-8"},
                 {"roberta_pairs", "a", "b <pad>", "padding"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        case_pairs c = pairs_open(cases[i].model);
        rapt_reranker *r = pairs_reranker(c.m, NULL);
        rapt_error err = {0};
        rapt_pair_score score;
        const rapt_text_pair pair = {rapt_text_of(cases[i].first), rapt_text_of(cases[i].second)};
        assert_int_not_equal(rapt_reranker_run(r, &pair, 1, &score, &err), RAPT_OK);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s: %s", cases[i].model, err.message);
        assert_int_equal(rapt_reranker_run(r, &pair, 0, NULL, NULL), RAPT_OK);
        rapt_reranker_cancel(r);
        assert_int_equal(rapt_reranker_run(r, c.pairs, 1, &score, NULL), RAPT_ERR_INTERRUPTED);
        run(r, c.pairs, 1, &score);
        rapt_reranker_free(r);
        pairs_close(&c);
    }
}

/* All tokens together are counted before the model computes. */
static void tokens_are_bounded(void **state)
{
    (void)state;
    case_pairs c = pairs_open("bert_pairs");
    rapt_error err = {0};
    size_t sum = 0;
    text_row *rows = text_rows_of_pairs(rapt_model_encoder(c.m), c.pairs, PAIRS, SIZE_MAX, &err);
    for (size_t i = 0; i < PAIRS; i++)
        sum += rows[i].count;
    text_rows_free(rows, PAIRS);
    rows = text_rows_of_pairs(rapt_model_encoder(c.m), c.pairs, PAIRS, sum, &err);
    assert_non_null(rows);
    text_rows_free(rows, PAIRS);
    assert_null(text_rows_of_pairs(rapt_model_encoder(c.m), c.pairs, PAIRS, sum - 1, &err));
    assert_non_null(strstr(err.message, "tokens together"));
    pairs_close(&c);
}

/* Another key of config.json; NULL: accepted. */
static void configurations_are_refused(void **state)
{
    static const char *const cases[][4] = {
        {"bert_pairs", "num_labels", "2", "\"num_labels\" is 2: of classifiers rapt runs those of one label"},
        {"bert_pairs", "id2label", "{\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}", "those of one label"},
        {"bert_pairs", "id2label", "{}", "those of one label"},
        {"bert_pairs", "id2label", "null", "those of one label"},
        {"bert_pairs", "num_labels", "1", NULL},
        {"bert_pairs", "num_labels", "0", "num_labels"},
        {"bert_pairs", "sbert_ce_default_activation_function", "\"torch.nn.modules.activation.Tanh\"", "Sigmoid and of Identity"},
        {"bert_pairs", "sbert_ce_default_activation_function", "1", "it must be a text"},
        {"bert_pairs", "sbert_ce_default_activation_function", "null", NULL},
        {"bert_pairs", "sentence_transformers", "[]", "it must be an object"},
        {"bert_pairs", "sentence_transformers", "{\"activation_fn\": \"os.system\"}", "activation_fn"},
        {"bert_pairs", "sentence_transformers", "{\"prompts\": {}}", "prompts"},
        {"bert_pairs", "type_vocab_size", "1", "token_type_embeddings"},
        {"bert_pairs", "hidden_size", "24", "shape"},
        {"bert_pairs", "architectures", "[\"BertForTokenClassification\"]", "architectures"},
        {"bert_pairs", "architectures", "[\"RobertaForSequenceClassification\"]", "architectures"},
        {"roberta_pairs", "architectures", "[\"XLMRobertaForSequenceClassification\"]", "architectures"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i][0], cases[i][1], cases[i][2]), NULL, &err);
        const char *says = cases[i][3];
        if ((m != NULL) != (says == NULL) || (says && !strstr(err.message, says)))
            fail_msg("%s, %s: %s: %s", cases[i][0], cases[i][1], cases[i][2], err.message);
        rapt_model_free(m);
    }
}

/* Names of the folder are links to the golden files. */
static void write_file(const char *name, const char *text)
{
    unlink(folder_in(name));
    FILE *f = fopen(folder_in(name), "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* The files of newer folders of sentence-transformers. `says` NULL: accepted, with or without the sigmoid. */
static void settings_are_read_or_refused(void **state)
{
#define MODULES "[{\"idx\": 0, \"name\": \"0\", \"path\": \"\", \"type\": \"sentence_transformers.base.modules.Transformer\"}]"
#define WORK "{\"transformer_task\": \"sequence-classification\", \"modality_config\": {\"text\": {\"method\": \"forward\", " \
             "\"method_output_name\": \"logits\"}}, \"module_output_name\": \"scores\"}"
    static const struct {
        const char *modules, *limit, *settings, *says;
        bool sigmoid;
        size_t max_len;
    } cases[] = {
        {MODULES, "{}", "{}", NULL, false, 40},
        {MODULES, WORK, "{\"activation_fn\": \"torch.nn.modules.activation.Sigmoid\", \"model_type\": \"CrossEncoder\", "
                        "\"prompts\": {}, \"default_prompt_name\": null}", NULL, true, 40},
        {MODULES, "{\"max_seq_length\": 9}", "{}", NULL, false, 9},
        {"[]", "{}", "{}", "one module"},
        {"[{\"path\": \"\", \"type\": \"Transformer\"}, {\"path\": \"1_Dense\", \"type\": \"Dense\"}]", "{}", "{}", "one module"},
        {"[{\"path\": \"a\", \"type\": \"Transformer\"}]", "{}", "{}", "one module"},
        {MODULES, "{\"transformer_task\": \"feature-extraction\"}", "{}", "transformer_task"},
        {MODULES, "{\"module_output_name\": \"token_embeddings\"}", "{}", "module_output_name"},
        {MODULES, "{\"modality_config\": {}}", "{}", "modality_config"},
        {MODULES, "{}", "{\"activation_fn\": \"torch.nn.modules.activation.ReLU\"}", "activation_fn"},
        {MODULES, "{}", "{\"default_prompt_name\": \"query\"}", "default_prompt_name"},
        {MODULES, "{}", "{\"model_type\": \"SentenceTransformer\"}", "model_type"},
        {MODULES, "{}", "{\"other\": 1}", "other"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, "bert_pairs", "_", "0");
        write_file("modules.json", cases[i].modules);
        write_file("sentence_bert_config.json", cases[i].limit);
        write_file("config_sentence_transformers.json", cases[i].settings);
        rapt_model *m = rapt_model_load(folder_path, NULL, &err);
        if ((m != NULL) != (cases[i].says == NULL) || (cases[i].says && !strstr(err.message, cases[i].says)))
            fail_msg("%zu: %s", i, err.message);
        if (m) {
            assert_int_equal(rapt_model_encoder(m)->sigmoid, cases[i].sigmoid);
            assert_int_equal(rapt_model_encoder(m)->max_len, cases[i].max_len);
        }
        rapt_model_free(m);
    }
}

/* Other forms of rows of two texts in tokenizer.json are no failure of loading it, but of scoring pairs. */
static void forms_of_pairs_are_read_or_refused(void **state)
{
    static const struct {
        const char *pair, *says;
        size_t second;
    } cases[] = {
        {"[{\"SpecialToken\": {\"id\": \"[CLS]\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, "
         "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 1}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}]", NULL, 2},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}]", "form of pairs"},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 0}}]", NULL, 0},
        {"[{\"Sequence\": {\"id\": \"B\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 1}}]", "form of pairs"},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 1}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 0}}]", "form of pairs"},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 2}}]", "form of pairs"},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}]", "form of pairs"},
        {"[]", "form of pairs"},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"SpecialToken\": {\"id\": \"[NONE]\", \"type_id\": 0}}, "
         "{\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}]", "form of pairs"},
        {"[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}, "
         "{\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}]", "form of pairs"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, "bert_pairs", "_", "0");
        json_t *root = json_load_file(folder_in("tokenizer.json"), 0, NULL);
        json_t *post = json_object_get(root, "post_processor");
        assert_int_equal(json_object_set_new(post, "pair", json_loads(cases[i].pair, 0, NULL)), 0);
        char *text = json_dumps(root, 0);
        write_file("tokenizer.json", text);
        free(text);
        json_decref(root);
        rapt_model *m = rapt_model_load(folder_path, NULL, &err);
        assert_string_equal(err.message, "");
        const rapt_text_pair pair = {rapt_text_of("a"), rapt_text_of("b")};
        text_row *row = text_rows_of_pairs(rapt_model_encoder(m), &pair, 1, SIZE_MAX, &err);
        if ((row != NULL) != (cases[i].says == NULL) || (cases[i].says && !strstr(err.message, cases[i].says)))
            fail_msg("%zu: %s", i, err.message);
        if (row)
            assert_int_equal(row->second, cases[i].second);
        text_rows_free(row, 1);
        rapt_model_free(m);
    }
}

/* No text fits between the special tokens. */
static void models_of_few_tokens_are_refused(void **state)
{
    (void)state;
    rapt_error err = {0};
    hub_folder_with(GOLDEN, "bert_pairs", "_", "0");
    write_file("tokenizer_config.json", "{\"model_max_length\": 3}");
    rapt_model *m = rapt_model_load(folder_path, NULL, &err);
    assert_non_null(m);
    assert_null(rapt_reranker_new(m, NULL, &err));
    assert_string_equal(err.message, "the model takes 3 tokens, and 3 are around two texts");
    rapt_model_free(m);
}

static void files_that_are_missing_are_named(void **state)
{
    static const char *const cases[][3] = {{"roberta_pairs", "tokenizer.json", "tokenizer.json is missing, which says how"},
                                           {"bert_pairs", "tokenizer.json", "tokenizer.json or vocab.txt is missing"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, cases[i][0], "_", "0");
        assert_int_equal(unlink(folder_in(cases[i][1])), 0);
        assert_null(rapt_model_load(folder_path, NULL, &err));
        if (!strstr(err.message, cases[i][2]))
            fail_msg("%s", err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_references), cmocka_unit_test(scores_are_the_references),
        cmocka_unit_test(scores_have_the_same_bits), cmocka_unit_test(a_shared_text_is_like_copies),
        cmocka_unit_test(options_are_refused), cmocka_unit_test(texts_are_refused), cmocka_unit_test(tokens_are_bounded),
        IN_FOLDER(configurations_are_refused), IN_FOLDER(settings_are_read_or_refused),
        IN_FOLDER(forms_of_pairs_are_read_or_refused), IN_FOLDER(models_of_few_tokens_are_refused),
        IN_FOLDER(files_that_are_missing_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/io/test_hub_translation.c: encoder-decoders of Hugging Face folders: what they compute, against what transformers
 * computes, alone and in batches; and what is refused. For src/io/hub. tests/golden/hub_translation is made by
 * tools/make_hub_translation.py with PyTorch and transformers.
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

#include "distance.h"
#include "folder.h"
#include "io/hub_folder.h"
#include "io/safetensors.h"
#include "loading.h"
#include "options.h"
#include "rapt/data.h"
#include "rapt/decode.h"
#include "rapt/io.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub_translation/"
enum { SENTENCES = 3, GREEDY = 12, LONGEST = 64 };

static const char *const NAMES[] = {"marian", "marian_4", "pegasus", "bart", "mbart", "m2m_100", "m2m_100_4",
                                    "t5", "t5_4", "mt5", "umt5", "umt5_4"};
enum { COUNT = sizeof NAMES / sizeof *NAMES };

typedef struct case_hub {
    rapt_model *m;
    const rapt_transformer *net;
    safetensors *expected;
    json_t *texts;
} case_hub;

static case_hub pair_open(const char *name)
{
    char path[1024];
    json_error_t where;
    rapt_error err = {0};
    case_hub c;
    snprintf(path, sizeof path, GOLDEN "%s", name);
    c.m = load_task(path, RAPT_TASK_TRANSLATION, &err);
    assert_string_equal(err.message, "");
    assert_non_null(c.m);
    c.net = c.m->translation.net;
    snprintf(path, sizeof path, GOLDEN "%s/expected.safetensors", name);
    assert_int_equal(safetensors_open(path, &c.expected, &err), RAPT_OK);
    snprintf(path, sizeof path, GOLDEN "%s/expected.json", name);
    c.texts = json_load_file(path, JSON_ALLOW_NUL, &where);
    assert_non_null(c.texts);
    return c;
}

static void pair_close(case_hub *c)
{
    json_decref(c->texts);
    safetensors_close(c->expected);
    rapt_model_free(c->m);
}

static rapt_tape *pair_tape(int threads)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads}, &err);
    assert_non_null(t);
    return t;
}

static const safetensors_entry *pair_entry(const case_hub *c, const char *name, size_t sentence)
{
    char whole[64];
    snprintf(whole, sizeof whole, sentence < SENTENCES ? "%s.%zu" : "%s", name, sentence);
    const safetensors_entry *e = safetensors_find(c->expected, whole);
    assert_non_null(e);
    return e;
}

static double pair_number(const case_hub *c, const char *name)
{
    return *(const double *)pair_entry(c, name, SENTENCES)->data;
}

static rapt_tokens pair_tokens(const case_hub *c, const char *name, size_t sentence)
{
    const safetensors_entry *e = pair_entry(c, name, sentence);
    return (rapt_tokens){.ids = e->data, .batch = 1, .time = e->shape[0]};
}

static const char *pair_text(const case_hub *c, size_t sentence)
{
    return json_string_value(json_array_get(json_object_get(c->texts, "texts"), sentence));
}

/* ---- what is computed ------------------------------------------------------------------------------------------ */

/* The largest distance of the last numbers of x from the float64 numbers. */
static double pair_distance(const rapt_tensor *x, const safetensors_entry *e)
{
    double worst = 0;
    size_t count = e->ndim == 1 ? e->shape[0] : e->shape[0] * e->shape[1];
    const rapt_real *last = x->data + rapt_tensor_size(x) - count;
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, fabs((double)last[i] - ((const double *)e->data)[i]));
    return worst;
}

/* The distance of rapt's numbers from PyTorch's in float64 is at most twice the distance of PyTorch's in float32. */
static void logits_are_the_references(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        rapt_tape *t = pair_tape(2);
        double encoder = 0, logits = 0;
        for (size_t i = 0; i < SENTENCES; i++) {
            rapt_tape_begin(t, (rapt_pass){0});
            rapt_tensor *memory = rapt_encoder_forward(t, &c.net->encoder, pair_tokens(&c, "source", i), NULL);
            rapt_tensor *y = rapt_decoder_forward(t, &c.net->decoder, pair_tokens(&c, "target", i), memory, NULL);
            assert_string_equal(rapt_tape_error(t)->message, "");
            encoder = fmax(encoder, pair_distance(memory, pair_entry(&c, "encoder", i)));
            logits = fmax(logits, pair_distance(y, pair_entry(&c, "logits", i)));
        }
        distance_show(NAMES[n], "encoder", encoder, pair_number(&c, "encoder_error"));
        distance_show(NAMES[n], "logits", logits, pair_number(&c, "error"));
        if (!(encoder <= 2 * pair_number(&c, "encoder_error") && logits <= 2 * pair_number(&c, "error")))
            fail_msg("%s: encoder %g, logits %g from float64; PyTorch's in float32 %g and %g", NAMES[n], encoder, logits,
                     pair_number(&c, "encoder_error"), pair_number(&c, "error"));
        rapt_tape_free(t);
        pair_close(&c);
    }
}

static void pair_start(rapt_tape *t, const case_hub *c, rapt_decoder_state *state, rapt_tokens source, const int32_t *lens)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &c->net->encoder, source, lens);
    rapt_decoder_start(t, &c->net->decoder, state, memory, lens, (rapt_decoder_sizes){.capacity = GREEDY});
    assert_string_equal(rapt_tape_error(t)->message, "");
}

/* Logits of the next token of each row, [rows, vocabulary]. */
static rapt_real *pair_step(rapt_tape *t, const case_hub *c, rapt_decoder_state *state, const int32_t *ids, size_t rows)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *y = rapt_decoder_step(t, &c->net->decoder, state, (rapt_tokens){ids, rows, 1});
    assert_string_equal(rapt_tape_error(t)->message, "");
    return y->data;
}

/* The best token that is neither padding, nor the end, nor was there before. */
static int32_t pair_best(const case_hub *c, rapt_real *logits, const int32_t *before, size_t count)
{
    size_t best = 0, vocab = c->net->config.target_vocab;
    logits[c->m->translation.special.pad] = logits[c->m->translation.special.eos] = -INFINITY;
    for (size_t i = 0; i < count; i++)
        logits[before[i]] = -INFINITY;
    for (size_t i = 1; i < vocab; i++)
        best = logits[i] > logits[best] ? i : best;
    return (int32_t)best;
}

static void greedy_tokens_are_the_references(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        rapt_tape *t = pair_tape(1);
        rapt_decoder_state *decoder = rapt_decoder_state_new(NULL);
        assert_true(pair_number(&c, "margin") > 1e-3);
        for (size_t i = 0; i < SENTENCES; i++) {
            const int32_t *expected = pair_entry(&c, "greedy", i)->data;
            int32_t text[GREEDY + 1] = {c.m->translation.special.bos};
            pair_start(t, &c, decoder, pair_tokens(&c, "source", i), NULL);
            for (size_t k = 0; k < GREEDY; k++) {
                text[k + 1] = pair_best(&c, pair_step(t, &c, decoder, text + k, 1), text, k + 1);
                assert_int_equal(text[k + 1], expected[k]);
            }
        }
        rapt_decoder_state_free(decoder);
        rapt_tape_free(t);
        pair_close(&c);
    }
}

/* Sentences of unequal lengths as rows with padding. */
static void batches_have_the_bits_of_single_sentences(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        rapt_tape *one = pair_tape(1), *three = pair_tape(3);
        rapt_decoder_state *alone = rapt_decoder_state_new(NULL), *together = rapt_decoder_state_new(NULL);
        int32_t ids[SENTENCES * LONGEST], lens[SENTENCES], start[SENTENCES];
        const size_t vocab = c.net->config.target_vocab;
        for (size_t i = 0; i < SENTENCES; i++) {
            rapt_tokens source = pair_tokens(&c, "source", i);
            for (size_t k = 0; k < LONGEST; k++)
                ids[i * LONGEST + k] = k < source.time ? source.ids[k] : c.m->translation.special.pad;
            lens[i] = (int32_t)source.time;
            start[i] = c.m->translation.special.bos;
        }
        pair_start(three, &c, together, (rapt_tokens){ids, SENTENCES, LONGEST}, lens);
        const rapt_real *rows = pair_step(three, &c, together, start, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++) {
            pair_start(one, &c, alone, pair_tokens(&c, "source", i), NULL);
            assert_memory_equal(pair_step(one, &c, alone, start, 1), rows + i * vocab, vocab * sizeof *rows);
        }
        rapt_decoder_state_free(alone);
        rapt_decoder_state_free(together);
        rapt_tape_free(one);
        rapt_tape_free(three);
        pair_close(&c);
    }
}

/* ---- texts ----------------------------------------------------------------------------------------------------- */

static void sources_are_the_references(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        for (size_t i = 0; i < SENTENCES; i++) {
            const char *line = pair_text(&c, i);
            rapt_tokens source = pair_tokens(&c, "source", i);
            rapt_translation out;
            rapt_error err = {0};
            assert_int_equal(rapt_translate(c.m, &line, 1, &TRANSLATE(.tokens = true), &out, &err), RAPT_OK);
            assert_int_equal(out.source_count, source.time - 1);
            assert_memory_equal(out.source, source.ids, out.source_count * sizeof *out.source);
            assert_int_equal(source.ids[source.time - 1], c.m->translation.special.eos);
            rapt_translations_free(&out, 1);
        }
        pair_close(&c);
    }
}

/* Texts that hold texts of special tokens, which transformers' tokenizers turn into those. */
static json_t *special_texts(const char *name)
{
    json_error_t where;
    json_t *all = json_load_file(GOLDEN "specials.json", 0, &where), *list = json_incref(json_object_get(all, name));
    assert_true(json_array_size(list) > 10);
    json_decref(all);
    return list;
}

/* ids[count] equal the list after its first `from`. */
static void compare_special_ids(const case_hub *c, const json_t *one, const char *key, const int32_t *ids, size_t count,
                                size_t from)
{
    const json_t *list = json_object_get(one, key);
    bool same = json_array_size(list) == from + count;
    for (size_t i = 0; same && i < count; i++)
        same = ids[i] == json_integer_value(json_array_get(list, from + i));
    if (!same)
        fail_msg("%s: other %s of \"%s\"", c->m->family, key, json_string_value(json_object_get(one, "text")));
}

static void special_tokens_in_sources_are_found(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        json_t *list = special_texts(NAMES[n]), *one;
        size_t i;
        json_array_foreach(list, i, one)
        {
            const char *line = json_string_value(json_object_get(one, "text"));
            rapt_translation out;
            rapt_error err = {0};
            if (strcmp(c.m->family, "m2m_100") == 0 && strstr(line, "<pad>")) { /* which takes no position there */
                assert_int_equal(rapt_translate(c.m, &line, 1, NULL, &out, &err), RAPT_ERR_VALUE);
                assert_string_equal(err.message, "the text has token 1, which is padding");
                continue;
            }
            assert_int_equal(rapt_translate(c.m, &line, 1, &TRANSLATE(.tokens = true), &out, &err), RAPT_OK);
            out.source = realloc(out.source, (out.source_count + 1) * sizeof *out.source);
            out.source[out.source_count] = c.m->translation.special.eos;
            compare_special_ids(&c, one, "ids", out.source, out.source_count + 1, 0);
            rapt_translations_free(&out, 1);
        }
        json_decref(list);
        pair_close(&c);
    }
}

/* What training and `rapt eval` read. */
static void special_tokens_in_pairs_are_found(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        json_t *list = special_texts(NAMES[n]), *one;
        size_t i, begin = c.m->translation.source_begin_count;
        const rapt_dataset_options o = DATASET(.max_len = 64, .special = &c.m->translation.special,
                                        .specials_in_text = c.m->translation.specials_in_text);
        FILE *file = fopen(folder_in("pairs.tsv"), "w");
        json_array_foreach(list, i, one)
            fprintf(file, "%s\t%s\n", json_string_value(json_object_get(one, "text")),
                    json_string_value(json_object_get(one, "text")));
        assert_int_equal(fclose(file), 0);
        rapt_pairs *pairs = rapt_pairs_read(folder_in("pairs.tsv"), 0, NULL);
        rapt_dataset *data = rapt_dataset_new(pairs, c.m->translation.source, c.m->translation.target, &o, NULL);
        rapt_loader *loader = rapt_loader_new(data, &LOADER(.batch_size = 1), NULL);
        json_array_foreach(list, i, one)
        {
            const rapt_batch *b = rapt_loader_batch(loader, 0, i);
            compare_special_ids(&c, one, "ids", b->source.ids, (size_t)b->source_lens[0], begin);
            compare_special_ids(&c, one, "target", b->labels.ids, (size_t)b->target_lens[0], begin);
        }
        rapt_loader_free(loader);
        rapt_dataset_free(data);
        rapt_pairs_free(pairs);
        json_decref(list);
        pair_close(&c);
    }
}

/* The tokens of generate(), without its first one and the end, and their text. */
static void compare_tokens(const case_hub *c, const char *name, const char *key, size_t sentence, const rapt_hypothesis *h)
{
    const json_t *found = json_array_get(json_object_get(c->texts, key), sentence), *ids = json_object_get(found, "ids");
    const json_t *score = json_object_get(found, "score");
    size_t count = json_array_size(ids);
    if (json_integer_value(json_array_get(ids, count - 1)) == c->m->translation.special.eos)
        count--;
    bool same = h->token_count == count - 1;
    for (size_t i = 0; same && i < h->token_count; i++)
        same = h->tokens[i] == json_integer_value(json_array_get(ids, i + 1));
    same = same && strcmp(h->text, json_string_value(json_object_get(found, "text"))) == 0;
    if (!same || (json_is_real(score) && fabs(h->score - json_real_value(score)) > 1e-4))
        fail_msg("%s: sentence %zu, %s: another translation, or not its score: \"%s\", %g", name, sentence, key, h->text,
                 h->score);
}

/* With one beam, and with the folder's. */
static void translations_are_the_references(void **state)
{
    static const char *const keys[] = {"greedy", "beams"};
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        case_hub c = pair_open(NAMES[n]);
        const char *lines[SENTENCES];
        for (size_t i = 0; i < SENTENCES; i++)
            lines[i] = pair_text(&c, i);
        for (size_t k = 0; k < 2; k++) {
            rapt_translation out[SENTENCES];
            rapt_error err = {0};
            const rapt_translate_options o = {TRANSLATE_DEFAULTS, .tokens = true, .beam = k == 0 ? 1 : (size_t)RAPT_AS_MODEL};
            assert_int_equal(rapt_translate(c.m, lines, SENTENCES, &o, out, &err), RAPT_OK);
            for (size_t i = 0; i < SENTENCES; i++)
                compare_tokens(&c, NAMES[n], keys[k], i, out[i].hypotheses);
            rapt_translations_free(out, SENTENCES);
        }
        pair_close(&c);
    }
}

static rapt_translation translate_among(const rapt_model *m, const char *line, size_t count)
{
    const char *lines[] = {line, "The cat", "A line of some words."};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .tokens = true, .compute.threads = (int)count};
    rapt_translation out[3] = {{0}};
    rapt_error err = {0};
    assert_int_equal(rapt_translate(m, lines, count, &o, out, &err), RAPT_OK);
    rapt_translations_free(out + 1, count - 1);
    return out[0];
}

/* T5 has no positions that could end: 554 tokens are one text, alone and among others. */
static void long_texts_are_one_where_there_are_no_positions(void **state)
{
    static const char *const names[] = {"t5", "t5_4", "mt5", "umt5", "umt5_4"};
    json_error_t where;
    json_t *all = json_load_file(GOLDEN "long.json", JSON_ALLOW_NUL, &where);
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        case_hub c = pair_open(names[n]);
        json_decref(c.texts);
        c.texts = json_incref(json_object_get(all, names[n]));
        rapt_translation one = translate_among(c.m, pair_text(&c, 0), 1), among = translate_among(c.m, pair_text(&c, 0), 3);
        compare_tokens(&c, names[n], "beams", 0, one.hypotheses);
        assert_true(!one.split && !one.cut && one.source_count > 550);
        assert_string_equal(one.hypotheses->text, among.hypotheses->text);
        assert_true(one.hypotheses->score == among.hypotheses->score);
        rapt_translations_free(&one, 1);
        rapt_translations_free(&among, 1);
        pair_close(&c);
    }
    json_decref(all);
}

static void long_texts_are_split_where_positions_end(void **state)
{
    static const char *const lines[] = {
        "A line that has one sentence, and is much longer than what the model takes, so that it ends twice.",
        "One sentence. And another one.", "01234567890123456789012345678901234567890123456789012345678901234567890123456789"};
    (void)state;
    case_hub c = pair_open("bart");
    for (size_t i = 0; i < 3; i++) {
        rapt_translation out = translate_among(c.m, lines[i], 1);
        assert_int_equal(out.split, i != 1);
        rapt_translations_free(&out, 1);
    }
    pair_close(&c);
}

/* Packed from the files, a model translates as it does when all of it was read; and all of it can still be read. */
static void models_for_inference_are_the_same(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++) {
        char path[1024];
        rapt_error err = {0};
        case_hub c = pair_open(NAMES[n]);
        const char *lines[SENTENCES] = {pair_text(&c, 0), pair_text(&c, 1), pair_text(&c, 2)};
        const rapt_translate_options o = {TRANSLATE_DEFAULTS, .compute.threads = 3, .beam = 2};
        rapt_translation want[SENTENCES], got[SENTENCES];
        snprintf(path, sizeof path, GOLDEN "%s", NAMES[n]);
        rapt_model *m = load_inference(path, RAPT_TASK_TRANSLATION, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(rapt_translate(c.m, lines, SENTENCES, &o, want, &err), RAPT_OK);
        assert_int_equal(rapt_translate(m, lines, SENTENCES, &o, got, &err), RAPT_OK);
        for (size_t i = 0; i < SENTENCES; i++) {
            if (strcmp(want[i].hypotheses[0].text, got[i].hypotheses[0].text) != 0)
                fail_msg("%s: line %zu is translated otherwise", NAMES[n], i);
            assert_true(want[i].hypotheses[0].score == got[i].hypotheses[0].score);
        }
        for (size_t k = 0; k < rapt_params_count(m->params); k++) {
            const rapt_tensor *x = &rapt_params_at(m->params, k)->value, *y = &rapt_params_at(c.m->params, k)->value;
            assert_memory_equal(x->data, y->data, rapt_tensor_size(x) * sizeof *x->data);
        }
        rapt_translations_free(want, SENTENCES);
        rapt_translations_free(got, SENTENCES);
        rapt_model_free(m);
        pair_close(&c);
    }
}

/* ---- languages ------------------------------------------------------------------------------------------------- */

/* Tokens of the source and of its translation, up to two each, with languages; -1: the translator is refused with `says`. */
static void check_languages(const char *name, const char *from, const char *to, const int32_t *source, int32_t target,
                            const char *says)
{
    case_hub c = pair_open(name);
    const char *line = "The cat";
    rapt_translation out = {0};
    rapt_error err = {0};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .tokens = true, .source_language = from, .target_language = to};
    rapt_code code = rapt_translate(c.m, &line, 1, &o, &out, &err);
    if (says && (code != RAPT_ERR_VALUE || !strstr(err.message, says)))
        fail_msg("%s from %s to %s: \"%s\"", name, from ? from : "", to ? to : "", err.message);
    if (!says) {
        assert_string_equal(err.message, "");
        assert_int_equal(out.source[0], source[0]);
        assert_int_equal(out.source[1], source[1]);
        assert_true(target < 0 || out.hypotheses[0].tokens[0] == target);
        assert_true(target < 0 || !strstr(out.hypotheses[0].text, "_"));
    }
    rapt_translations_free(&out, 1);
    pair_close(&c);
}

static void languages_are_chosen(void **state)
{
    (void)state;
    const int32_t english[] = {260, 55}, german[] = {261, 55}, deu[] = {2, 386}, fra[] = {3, 386};
    check_languages("m2m_100", NULL, NULL, english, 261, NULL);
    check_languages("m2m_100", NULL, "en_XX", english, 260, NULL);
    check_languages("m2m_100", "de_DE", NULL, german, 261, NULL);
    check_languages("mbart", "de_DE", "en_XX", german, 260, NULL);
    check_languages("marian", NULL, "deu", deu, -1, NULL);
    check_languages("marian_4", NULL, "fra", fra, -1, NULL);
    check_languages("m2m_100", NULL, "fr_XX", NULL, 0, "the model has no language \"fr_XX\": it has en_XX, de_DE");
    check_languages("m2m_100", "</s>", NULL, NULL, 0, "the model has no language \"</s>\"");
    check_languages("marian", "deu", NULL, NULL, 0, "the model is not told the language of a source");
    check_languages("marian", NULL, "spa", NULL, 0, "the model has no language \"spa\": it has deu, fra");
    check_languages("bart", NULL, "de_DE", NULL, 0, "the model has no tokens of languages");
}

/* A line may begin with a language itself. */
static void languages_of_lines_are_checked(void **state)
{
    static const char *const lines[] = {">>xyz<< The cat", ">>deu<< The cat", ">> deu", "The >>xyz<< cat"};
    (void)state;
    case_hub c = pair_open("marian");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        rapt_translation out = {0};
        rapt_error err = {0};
        rapt_translate(c.m, lines + i, 1, NULL, &out, &err);
        assert_string_equal(err.message, i ? "" : "the model has no language \"xyz\": it has deu, fra");
        rapt_translations_free(&out, 1);
    }
    pair_close(&c);
}

static rapt_translation translate_line(const case_hub *c, const char *line, rapt_sentence_split split)
{
    rapt_translation out = {0};
    rapt_error err = {0};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .split = split, .tokens = true};
    if (rapt_translate(c->m, &line, 1, &o, &out, &err) != RAPT_OK)
        fail_msg("%s: %s", line, err.message);
    return out;
}

/* Each sentence of a line is translated as a line of its own that begins with the language. */
static void sentences_have_the_language_of_their_line(void **state)
{
    static const char *const lines[] = {">>deu<< Tom asked Mary.", ">>deu<< She was late.",
                                        ">>deu<< Tom asked Mary.  She was late."};
    (void)state;
    case_hub c = pair_open("marian");
    rapt_translation whole = translate_line(&c, lines[2], RAPT_SENTENCE_SPLIT_ALL);
    const char *text = whole.hypotheses[0].text;
    size_t source = 0;
    for (size_t i = 0; i < 2; i++) {
        rapt_translation one = translate_line(&c, lines[i], RAPT_SENTENCE_SPLIT_ALL);
        assert_memory_equal(whole.source + source, one.source, one.source_count * sizeof *one.source);
        source += one.source_count;
        assert_int_equal(strncmp(text, one.hypotheses[0].text, strlen(one.hypotheses[0].text)), 0);
        text += strlen(one.hypotheses[0].text) + 1;
        rapt_translations_free(&one, 1);
    }
    assert_int_equal(whole.source_count, source);
    rapt_translations_free(&whole, 1);
    pair_close(&c);
}

/* So has each part of a line that is too long for the model: no more tokens follow a language than the model takes. */
static void parts_have_the_language_of_their_line(void **state)
{
    char line[1024] = ">>fra<<";
    size_t languages = 0, behind = 0;
    (void)state;
    case_hub c = pair_open("marian");
    const int32_t language = rapt_tokenizer_special(c.m->translation.source, ">>fra<<");
    while (strlen(line) < 800)
        strcat(line, " the cat sat");
    rapt_translation out = translate_line(&c, line, RAPT_SENTENCE_SPLIT_LONG);
    assert_int_equal(out.source[0], language);
    for (size_t i = 0; i < out.source_count; i++) {
        behind = out.source[i] == language ? 0 : behind + 1;
        languages += behind == 0;
        assert_true(behind < c.m->translation.max_len - 1);
    }
    assert_true(languages > 2 && out.source_count > 2 * c.m->translation.max_len);
    rapt_translations_free(&out, 1);
    pair_close(&c);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

/* A key, its value, and how the message goes on behind the path of config.json or the folder. */
static void what_is_not_known_is_refused(void **state)
{
    static const char *const cases[][4] = {
        {"marian", "architectures", "[\"MarianForCausalLM\"]", "of models of type marian rapt runs MarianMTModel"},
        {"marian", "is_encoder_decoder", "false", "rapt does not compute such models"},
        {"marian", "activation_function", "\"mish\"", "\"activation_function\" is \"mish\": of such models rapt computes gelu"},
        {"marian", "encoder_attention_heads", "5", "5 heads do not divide d_model, 12"},
        {"marian", "decoder_attention_heads", "5", "5 heads do not divide d_model, 12"},
        {"marian", "normalize_before", "true", "rapt does not compute such models"},
        {"marian", "tie_word_embeddings", "false", "the embeddings are one matrix"},
        {"marian", "num_hidden_layers", "3", "\"num_hidden_layers\" is 3: encoder_layers is 2"},
        {"marian", "max_position_embeddings", "70000", "rapt takes up to 65536 positions"},
        {"marian", "decoder_layers", "2", "tensor \"model.decoder.layers.1.self_attn.q_proj.weight\" is missing"},
        {"marian", "encoder_layers", "1", "does not belong to a model of type marian"},
        {"marian", "encoder_layers", "1000000", "tensors; config.json asks for 1000001 layers"},
        {"marian", "decoder_ffn_dim", "29", "has the shape [28, 12]; config.json asks for [29, 12]"},
        {"marian", "vocab_size", "523", "524 tokens; the model has 523"},
        {"marian", "positional_bias", "1", "\"positional_bias\" is 1: rapt does not know what this key changes"},
        {"bart", "tie_word_embeddings", "false", "rapt does not compute such models"},
        {"m2m_100", "pad_token_id", "3", "\"pad_token_id\" is 3: rapt computes such models with 1"},
        {"mbart", "normalize_before", "false", "rapt does not compute such models"},
        {"mbart", "max_position_embeddings", "81", "has the shape [82, 12]; config.json asks for [83, 12]"},
        {"t5", "feed_forward_proj", "\"gated-relu\"", "rapt computes relu, gated-gelu and gated-silu"},
        {"t5", "relative_attention_num_buckets", "9", "has the shape [8, 3]; config.json asks for [9, 3]"},
        {"t5", "relative_attention_max_distance", "8", "rapt takes more than there are buckets"},
        {"t5", "d_kv", "4", "has the shape [15, 12]; config.json asks for [12, 12]"},
        {"umt5", "num_heads", "2", "has the shape [15, 12]; config.json asks for [10, 12]"},
        {"marian_4", "share_encoder_decoder_embeddings", "true", "is not the embedding"},
        {"marian_4", "decoder_vocab_size", "525", "has the shape [524, 12]; config.json asks for [525, 12]"},
        {"marian_4", "decoder_start_token_id", "", "\"decoder_start_token_id\" is missing"},
        {"marian_4", "decoder_start_token_id", "524", "\"decoder_start_token_id\" "},
        {"marian_4", "do_sample", "true", "\"do_sample\" is true: rapt translate does not sample"},
        {"marian_4", "max_length", "1", "\"max_length\" is 1: a translation has its first token and another"},
        {"marian_4", "max_length", "0", "\"max_length\" is 0: a translation has"},
        {"marian_4", "max_new_tokens", "0", "\"max_new_tokens\" is 0: it must be 1 or more"},
        {"marian_4", "eos_token_id", "[0, 1]", "\"eos_token_id\" "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i][0], cases[i][1], cases[i][2]), NULL, &err);
        if (m || !strstr(err.message, cases[i][3]) || strncmp(err.message, folder_path, strlen(folder_path)) != 0)
            fail_msg("%s with %s %s: %s", cases[i][0], cases[i][1], cases[i][2], m ? "accepted" : err.message);
        rapt_model_free(m);
    }
}

/* A file of the folder that a tokenizer cannot do without. */
static void files_that_are_missing_are_named(void **state)
{
    static const char *const cases[][2] = {{"marian", "vocab.json"}, {"marian_4", "vocab.json"},
                                           {"marian_4", "target_vocab.json"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        hub_folder_with(GOLDEN, cases[i][0], "_", "0");
        assert_int_equal(unlink(folder_in(cases[i][1])), 0);
        rapt_model *m = rapt_model_load(folder_path, NULL, &err);
        if (m || !strstr(err.message, cases[i][1]) || strncmp(err.message, folder_path, strlen(folder_path)) != 0)
            fail_msg("%s without %s: %s", cases[i][0], cases[i][1], m ? "accepted" : err.message);
        rapt_model_free(m);
    }
}

/* And is saved as it was. */
static void what_changes_nothing_is_accepted(void **state)
{
    static const char *const cases[][3] = {{"marian", "add_bias_logits", "false"}, {"marian", "num_hidden_layers", "2"},
                                           {"marian", "normalize_embedding", "false"}, {"marian", "bad_words_ids", "[[523]]"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i][0], cases[i][1], cases[i][2]), NULL, &err);
        assert_string_equal(err.message, "");
        hub_folder_comes_back(m);
        rapt_model_free(m);
    }
}

/* What transformers 5.24 computes: the files say whether the output matrix is the embedding, config.json whether hidden states
 * are scaled. */
static void outputs_of_t5_are_those_of_the_files(void **state)
{
    static const struct {
        const char *name, *key, *value;
        bool tied, scaled;
    } cases[] = {{"t5", "scale_decoder_outputs", "false", true, false}, {"t5_4", "tie_word_embeddings", "true", false, true},
                 {"t5_4", "scale_decoder_outputs", "false", false, false}, {"mt5", "tie_word_embeddings", "false", true, false},
                 {"umt5", "scale_decoder_outputs", "false", true, false}, {"umt5", "scale_decoder_outputs", "true", true, true},
                 {"umt5_4", "tie_word_embeddings", "true", false, true}, {"umt5_4", "tie_word_embeddings", "", false, true},
                 {"umt5_4", "scale_decoder_outputs", "true", false, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        rapt_model *m = rapt_model_load(hub_folder_with(GOLDEN, cases[i].name, cases[i].key, cases[i].value), NULL, &err);
        assert_string_equal(err.message, "");
        const rapt_transformer_config *k = &m->translation.net->config;
        const double scale = cases[i].scaled ? 1 / sqrt((double)k->block.d_model) : 0;
        if (k->tied != cases[i].tied || k->output_scale != scale)
            fail_msg("%s with %s %s: tied %d, scaled by %g", cases[i].name, cases[i].key, cases[i].value, k->tied,
                     k->output_scale);
        hub_folder_comes_back(m);
        rapt_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_the_references), cmocka_unit_test(greedy_tokens_are_the_references),
        cmocka_unit_test(batches_have_the_bits_of_single_sentences), cmocka_unit_test(sources_are_the_references),
        cmocka_unit_test(models_for_inference_are_the_same), cmocka_unit_test(translations_are_the_references),
        cmocka_unit_test(languages_are_chosen), cmocka_unit_test(languages_of_lines_are_checked),
        cmocka_unit_test(sentences_have_the_language_of_their_line), cmocka_unit_test(parts_have_the_language_of_their_line),
        cmocka_unit_test(special_tokens_in_sources_are_found), IN_FOLDER(special_tokens_in_pairs_are_found),
        cmocka_unit_test(long_texts_are_one_where_there_are_no_positions),
        cmocka_unit_test(long_texts_are_split_where_positions_end),
        IN_FOLDER(what_is_not_known_is_refused), IN_FOLDER(files_that_are_missing_are_named),
        IN_FOLDER(what_changes_nothing_is_accepted), IN_FOLDER(outputs_of_t5_are_those_of_the_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

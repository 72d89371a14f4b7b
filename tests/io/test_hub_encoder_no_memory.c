/* tests/io/test_hub_encoder_no_memory.c: every allocation of loading an encoder or a cross-encoder, of embedding texts and of
 * scoring pairs is made to fail in turn: the failure is reported, and nothing crashes. Blocks that are left are not counted:
 * strdup is not replaced. For src/io/hub, src/decode/embedder.c and src/decode/reranker.c. Linked as tests/failing.h says. */
#include "failing_json.h"

#include "loading.h"
#include "options.h"
#include "rapt/embed.h"
#include "texts.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub_encoder/"
enum { TEXTS = 3, FEATURES = 12 };

#define PAIRS RAPT_SOURCE_DIR "/tests/golden/hub_rerank/"

static rapt_model *model, *scorer;

static int set_up(void **state)
{
    if (failing_check_link(state))
        return -1;
    failing_count_json();
    model = rapt_model_load(GOLDEN "bert_sentence", NULL, NULL);
    scorer = rapt_model_load(PAIRS "bert_pairs", NULL, NULL);
    return model && scorer ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_model_free(model);
    rapt_model_free(scorer);
    return 0;
}

static rapt_code load_once(const char *folder)
{
    rapt_error err = {0};
    rapt_model *m = load_inference(folder, RAPT_TASK_ANY, &err);
    assert_true((m != NULL) == (err.code == RAPT_OK));
    rapt_model_free(m);
    return err.code;
}

static rapt_code embed_once(void)
{
    static const char *const texts[TEXTS] = {"The cat", "", "cat sing want"};
    rapt_real vectors[TEXTS * FEATURES];
    rapt_token_vectors tokens = {0};
    rapt_error err = {0};
    const rapt_embedder_options o = {EMBEDDER_DEFAULTS, .compute.threads = 1, .batch = 2, .prompt = "query"};
    rapt_embedder *e = rapt_embedder_new(model, &o, &err);
    rapt_code code = e ? rapt_embedder_run(e, TEXTS_OF(texts, TEXTS), TEXTS, vectors, NULL, &err) : err.code;
    code = code ? code : rapt_embedder_tokens(e, texts[0], strlen(texts[0]), &tokens, &err);
    assert_int_equal(code, err.code);
    rapt_token_vectors_free(&tokens);
    rapt_embedder_free(e);
    return code;
}

static rapt_code score_once(void)
{
    const rapt_text query = rapt_text_of("the cat");
    const rapt_text_pair pairs[] = {{query, rapt_text_of("sing")}, {query, rapt_text_of("")},
                                    {query, rapt_text_of("a cat sings")}};
    rapt_pair_score scores[3];
    rapt_error err = {0};
    rapt_reranker *r = rapt_reranker_new(scorer, &RERANKER(.compute.threads = 1, .batch = 2), &err);
    rapt_code code = r ? rapt_reranker_run(r, pairs, 3, scores, &err) : err.code;
    assert_int_equal(code, err.code);
    rapt_reranker_free(r);
    return code;
}

static void loading_survives(void **state)
{
    static const char *const folders[] = {GOLDEN "bert_sentence", GOLDEN "bert_4", GOLDEN "distilbert_4", PAIRS "bert_pairs",
                                         PAIRS "bert_untyped", PAIRS "roberta_pairs", PAIRS "xlm_roberta_pairs"};
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        failing f = {.what = "loading an encoder", .at_least = 20, .threads = true, .uncounted = true};
        do {
            failing_arm(&f);
        } while (failing_again(&f, load_once(folders[i])));
    }
}

static void embedding_survives(void **state)
{
    (void)state;
    failing f = {.what = "embedding texts", .at_least = 20, .threads = true, .uncounted = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, embed_once()));
}

static void scoring_survives(void **state)
{
    (void)state;
    failing f = {.what = "scoring pairs", .at_least = 20, .threads = true, .uncounted = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, score_once()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loading_survives), cmocka_unit_test(embedding_survives),
                                       cmocka_unit_test(scoring_survives)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

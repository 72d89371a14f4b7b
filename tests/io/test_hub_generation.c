/* tests/io/test_hub_generation.c: what generation_config.json and config.json of a Hugging Face folder say of decoding, and what
 * is refused. For src/io/hub/hub_generation.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "io/model_core.h"

#define GOLDEN RAPT_SOURCE_DIR "/tests/golden/hub/llama/"

/* A folder with the members of `more` in config.json, and `generation` as its generation_config.json; NULL: without one. */
static rapt_model *load(const char *more, const char *generation, rapt_error *err)
{
    char copied[FOLDER_ROOM];
    json_error_t where;
    json_t *config = json_load_file(GOLDEN "config.json", 0, &where), *added = json_loads(more, 0, &where);
    assert_non_null(added);
    json_object_update(config, added);
    assert_int_equal(json_dump_file(config, folder_in("config.json"), 0), 0);
    json_decref(added);
    json_decref(config);
    static const char *const others[] = {"model.safetensors", "tokenizer.json"};
    for (size_t i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, GOLDEN "%s", others[i]);
        snprintf(copied, sizeof copied, "%s", folder_in(others[i]));
        unlink(copied);
        assert_int_equal(symlink(path, copied), 0);
    }
    unlink(folder_in("generation_config.json"));
    if (generation) {
        FILE *f = fopen(folder_in("generation_config.json"), "w");
        assert_true(fputs(generation, f) >= 0 && fclose(f) == 0);
    }
    *err = (rapt_error){0};
    return rapt_model_load(folder_path, NULL, err);
}

/* ---- what is read ------------------------------------------------------------------------------------------------- */

static void every_setting_is_read(void **state)
{
    (void)state;
    rapt_error err;
    rapt_model *m = load("{\"num_beams\": 9, \"eos_token_id\": 3}",
                         "{\"num_beams\": 4, \"length_penalty\": 0.6, \"early_stopping\": \"never\", \"max_length\": 50,"
                         "\"min_length\": 5, \"max_new_tokens\": 40, \"min_new_tokens\": 3, \"repetition_penalty\": 1.3,"
                         "\"no_repeat_ngram_size\": 2, \"encoder_no_repeat_ngram_size\": 3, \"bad_words_ids\": [[7], [8, 9]],"
                         "\"forced_bos_token_id\": 10, \"forced_eos_token_id\": [11, 12], \"suppress_tokens\": [13],"
                         "\"begin_suppress_tokens\": [14, 15], \"renormalize_logits\": true, \"do_sample\": false,"
                         "\"eos_token_id\": [257, 258], \"bos_token_id\": 256, \"_x\": 1}", &err);
    assert_string_equal(err.message, "");
    const rapt_search_policy *p = &m->search;
    assert_true(p->given && p->renormalize && p->greedy);
    assert_int_equal(p->beams, 4);
    assert_true(p->length_penalty == 0.6 && p->repetition_penalty == 1.3);
    assert_int_equal(p->early_stopping, RAPT_EARLY_STOPPING_NEVER);
    assert_int_equal(p->max_length, 50);
    assert_int_equal(p->min_length, 5);
    assert_int_equal(p->max_new_tokens, 40);
    assert_int_equal(p->min_new_tokens, 3);
    assert_int_equal(p->no_repeat_ngram, 2);
    assert_int_equal(p->encoder_no_repeat_ngram, 3);
    assert_int_equal(p->bad_word_count, 2);
    assert_int_equal(p->bad_words[0].ids[0], 7);
    assert_int_equal(p->bad_words[1].count, 2);
    assert_int_equal(p->bad_words[1].ids[1], 9);
    assert_int_equal(p->forced_bos.ids[0], 10);
    assert_int_equal(p->forced_eos.count, 2);
    assert_int_equal(p->forced_eos.ids[1], 12);
    assert_int_equal(p->suppressed.ids[0], 13);
    assert_int_equal(p->suppressed_first.ids[1], 15);
    assert_int_equal(m->language.end_of_text_count, 2);
    assert_int_equal(m->language.end_of_text[1], 258);
    rapt_model_free(m);
}

/* The defaults are generate()'s. */
static void what_is_not_said_has_the_references_defaults(void **state)
{
    (void)state;
    rapt_error err;
    rapt_model *m = load("{}", "{}", &err);
    assert_string_equal(err.message, "");
    const rapt_search_policy *p = &m->search;
    assert_true(p->given && !p->greedy && p->beams == 1 && p->length_penalty == 1 && p->repetition_penalty == 1);
    assert_int_equal(p->early_stopping, RAPT_EARLY_STOPPING_NO);
    assert_true(p->temperature == 0 && p->top_k == 0 && p->top_p == 0 && p->max_length == 0);
    rapt_model_free(m);
    m = load("{}", "{\"do_sample\": true, \"top_p\": 0.9}", &err);
    assert_true(m->search.temperature == 1 && m->search.top_k == 50 && m->search.top_p == 0.9 && !m->search.greedy);
    rapt_model_free(m);
    m = load("{}", "{\"do_sample\": true, \"temperature\": 0.7, \"top_k\": 0}", &err);
    assert_true(m->search.temperature == 0.7 && m->search.top_k == SIZE_MAX);
    rapt_model_free(m);
}

/* generation_config.json counts as a whole; without one, config.json does. */
static void older_folders_say_it_in_config_json(void **state)
{
    static const char config[] = "{\"num_beams\": 6, \"bad_words_ids\": [[100]], \"forced_eos_token_id\": 0, \"eos_token_id\": 5,"
                                 "\"task_specific_params\": {\"translation\": {\"num_beams\": 2}}}";
    (void)state;
    rapt_error err;
    rapt_model *m = load(config, NULL, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(m->search.beams, 6);
    assert_int_equal(m->search.bad_words[0].ids[0], 100);
    assert_int_equal(m->search.forced_eos.ids[0], 0);
    rapt_model_free(m);
    m = load(config, "{\"length_penalty\": 2.0}", &err);
    assert_true(m->search.beams == 1 && m->search.bad_word_count == 0 && m->search.forced_eos.count == 0);
    assert_int_equal(m->language.end_of_text[0], 5); /* unlike in transformers 5, special tokens alone are looked for in both */
    rapt_model_free(m);
    m = load("{\"force_bos_token_to_be_generated\": true, \"bos_token_id\": 7, \"forced_bos_token_id\": 9}", NULL, &err);
    assert_int_equal(m->search.forced_bos.ids[0], 9);
    rapt_model_free(m);
    m = load("{\"force_bos_token_to_be_generated\": true, \"bos_token_id\": 7}", NULL, &err);
    assert_int_equal(m->search.forced_bos.ids[0], 7);
    rapt_model_free(m);
    assert_null(load("{\"force_bos_token_to_be_generated\": true, \"bos_token_id\": [7, 8]}", NULL, &err));
    assert_non_null(strstr(err.message, "\"bos_token_id\" is [7,8]: it must be one token"));
}

/* ---- what is refused ---------------------------------------------------------------------------------------------- */

static void what_rapt_does_not_compute_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{\"num_beam_groups\": 2}", "\"num_beam_groups\" is 2: rapt does not support this way of decoding"},
        {"{\"penalty_alpha\": 0.6}", "\"penalty_alpha\" is 0.6"},
        {"{\"guidance_scale\": 1.5}", "\"guidance_scale\" is 1.5"},
        {"{\"encoder_repetition_penalty\": 2}", "\"encoder_repetition_penalty\" is 2"},
        {"{\"typical_p\": 0}", "\"typical_p\""},
        {"{\"typical_p\": 1.5}", "\"typical_p\" is 1.5: it must be a number from 0 to 1"},
        {"{\"sequence_bias\": [[[1], -2.0]]}", "\"sequence_bias\" is [[[1],-2.0]]"},
        {"{\"exponential_decay_length_penalty\": [3, 1.2]}", "\"exponential_decay_length_penalty\" is [3,1.2]"},
        {"{\"stop_strings\": [\"x\"]}", "\"stop_strings\" is ["},
        {"{\"watermarking_config\": {}}", "\"watermarking_config\" is {}"},
        {"{\"constraints\": []}", "\"constraints\" is []"},
        {"{\"num_beams\": 4, \"do_sample\": true}", "\"do_sample\" is true: rapt does not sample beams"},
        {"{\"num_beams\": 0}", "\"num_beams\" is 0"},
        {"{\"num_beams\": 1000000}", "\"num_beams\" is 1000000: it must be a whole number from 1 to 1024"},
        {"{\"num_beams\": \"4\"}", "\"num_beams\" is \"4\""},
        {"{\"early_stopping\": \"always\"}", "\"early_stopping\" is \"always\": it must be true, false or \"never\""},
        {"{\"length_penalty\": 1e9}", "\"length_penalty\" is 1000000000.0"},
        {"{\"repetition_penalty\": 0}", "\"repetition_penalty\" is 0"},
        {"{\"max_length\": -1}", "\"max_length\" is -1: it must be a whole number from 0 to 2^30"},
        {"{\"bad_words_ids\": [7]}", "\"bad_words_ids\" is [7]: it must be a list of lists of tokens"},
        {"{\"bad_words_ids\": [[]]}", "\"bad_words_ids\" is [[]]"},
        {"{\"bad_words_ids\": [[259]]}", "\"bad_words_ids\" is [[259]]: it must be tokens of the vocabulary"},
        {"{\"forced_bos_token_id\": [1, 2]}", "it must be one token"},
        {"{\"forced_eos_token_id\": -1}", "\"forced_eos_token_id\" is -1: it must be tokens of the vocabulary"},
        {"{\"suppress_tokens\": 1.5}", "\"suppress_tokens\" is 1.5"},
        {"{\"eos_token_id\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}", "these are more tokens than rapt takes"},
        {"{\"eos_token_id\": 259}", "\"eos_token_id\" is 259"},
        {"{\"do_sample\": true, \"temperature\": 0.0}", "\"temperature\" is 0.0: it must be a number above 0"},
        {"{\"top_p\": 1.5}", "\"top_p\" is 1.5"},
        {"{\"something_new\": 1}", "\"something_new\" is 1: rapt does not know what this key changes"},
        {"[1]", "not an object"},
        {"{", "generation_config.json"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err;
        rapt_model *m = load("{}", cases[i][0], &err);
        if (m || !strstr(err.message, cases[i][1]) || !strstr(err.message, "/generation_config.json"))
            fail_msg("%s: %s", cases[i][0], m ? "accepted" : err.message);
    }
}

static void config_json_is_refused_by_its_own_name(void **state)
{
    (void)state;
    rapt_error err;
    assert_null(load("{\"num_beam_groups\": 3}", NULL, &err));
    assert_non_null(strstr(err.message, "/config.json: \"num_beam_groups\" is 3"));
}

/* As generate() would not take any notice of them. */
static void settings_that_are_off_are_accepted(void **state)
{
    static const char *const cases[] = {
        "{\"num_beam_groups\": 1, \"guidance_scale\": null, \"typical_p\": 1.0, \"stop_strings\": null}",
        "{\"token_healing\": false, \"num_return_sequences\": 4, \"output_scores\": true, \"_from_model_config\": true}",
        "{\"diversity_penalty\": 0.5, \"remove_invalid_values\": true, \"pad_token_id\": 0, \"eos_token_id\": null}"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err;
        rapt_model *m = load("{}", cases[i], &err);
        assert_string_equal(err.message, "");
        rapt_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_setting_is_read), IN_FOLDER(what_is_not_said_has_the_references_defaults),
        IN_FOLDER(older_folders_say_it_in_config_json), IN_FOLDER(what_rapt_does_not_compute_is_refused),
        IN_FOLDER(config_json_is_refused_by_its_own_name), IN_FOLDER(settings_that_are_off_are_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

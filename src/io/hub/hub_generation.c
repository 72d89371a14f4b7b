/* io/hub/hub_generation.c: reads generation settings. Keys, defaults and the choice of the file follow transformers 5: its
 * GenerationConfig, and how from_pretrained finds one. Special tokens differ: rapt looks for them in both files, so that a text
 * always has an end. */
#include "io/hub/hub_generation.h"

#include "base/file.h"
#include "io/hub/hub_config.h"
#include "io/json_file.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((size_t)1 << 20)
enum { MAX_COUNT = 1 << 30, MAX_BEAMS = 1024, MAX_PENALTY = 10, DEFAULT_TOP_K = 50 };

/* ---- what rapt does not compute ------------------------------------------------------------------------------- */

/* Refused, except the number that turns them off. */
static const struct {
    const char *key;
    double off;
} NUMBERS[] = {{"num_beam_groups", 1}, {"guidance_scale", 1}, {"encoder_repetition_penalty", 1}, {"penalty_alpha", 0},
               {"epsilon_cutoff", 0}, {"eta_cutoff", 0}};

/* Refused, except null and false. */
static const char *const OTHERS[] = {"exponential_decay_length_penalty", "sequence_bias", "constraints", "force_words_ids",
                                     "watermarking_config", "stop_strings", "max_time", "token_healing", "dola_layers", "top_h"};

/* No result of rapt depends on these: caches, what is returned, and speculation, which only changes the speed of transformers.
 * diversity_penalty concerns groups of beams. Infinite values, which remove_invalid_values is about, are an error in rapt. */
static const char *const WITHOUT_EFFECT[] = {
    "transformers_version", "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "use_cache",
    "cache_implementation", "cache_config", "max_cache_len", "return_legacy_cache", "prefill_chunk_size", "low_memory",
    "num_return_sequences", "output_attentions", "output_hidden_states", "output_scores", "output_logits",
    "return_dict_in_generate", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule",
    "assistant_confidence_threshold", "assistant_early_exit", "assistant_lookbehind", "target_lookbehind",
    "prompt_lookup_num_tokens", "max_matching_ngram_size", "use_mtp", "compile_config", "disable_compile",
    "diversity_penalty", "remove_invalid_values", "chat_format", "max_window_size", "trust_remote_code", NULL};

const char *const hub_generation_keys[] = {
    "num_beams", "length_penalty", "early_stopping", "max_length", "min_length", "max_new_tokens", "min_new_tokens",
    "repetition_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids", "forced_bos_token_id",
    "force_bos_token_to_be_generated", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens", "renormalize_logits",
    "do_sample", "temperature", "top_k", "top_p", "min_p", "num_beam_groups", "guidance_scale", "encoder_repetition_penalty",
    "penalty_alpha", "typical_p", "epsilon_cutoff", "eta_cutoff", "exponential_decay_length_penalty", "sequence_bias",
    "constraints", "force_words_ids", "stop_strings", "max_time", "diversity_penalty", "remove_invalid_values",
    "num_return_sequences", "output_scores", "return_dict_in_generate", "return_dict", NULL};

static void refuse_what_is_not_computed(hub_config *c)
{
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        if (hub_number(c, NUMBERS[i].key, NUMBERS[i].off) != NUMBERS[i].off)
            hub_refuse(c, NUMBERS[i].key, "rapt does not support this way of decoding");
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        const json_t *value = hub_value(c, OTHERS[i]);
        if (value && !json_is_false(value))
            hub_refuse(c, OTHERS[i], "rapt does not support this way of decoding");
    }
    hub_ignore(c, WITHOUT_EFFECT);
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */

/* The tokens of a number, or of a list of numbers. */
static void read_tokens(hub_config *c, const char *key, const json_t *value, size_t vocab, rapt_token_list *list)
{
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    list->ids = malloc((count + 1) * sizeof *list->ids);
    if (!list->ids) {
        c->code = rapt_fail(c->err, RAPT_ERR_MEMORY, "%s: out of memory for tokens", c->path);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_integer(id) || json_integer_value(id) < 0 || (size_t)json_integer_value(id) >= vocab) {
            hub_refuse(c, key, "it must be tokens of the vocabulary");
            return;
        }
        list->ids[list->count++] = (int32_t)json_integer_value(id);
    }
}

static void read_token_list(hub_config *c, const char *key, size_t vocab, rapt_token_list *list)
{
    const json_t *value = hub_value(c, key);
    if (value && !c->code)
        read_tokens(c, key, value, vocab, list);
}

static void read_bad_words(hub_config *c, size_t vocab, rapt_search_policy *p)
{
    static const char *const key = "bad_words_ids";
    const json_t *value = hub_value(c, key);
    if (!value || c->code)
        return;
    p->bad_words = json_is_array(value) ? calloc(json_array_size(value) + 1, sizeof *p->bad_words) : NULL;
    if (!p->bad_words)
        hub_refuse(c, key, "it must be a list of lists of tokens");
    for (size_t i = 0; i < json_array_size(value) && !c->code; i++) {
        const json_t *word = json_array_get(value, i);
        if (json_array_size(word) == 0)
            hub_refuse(c, key, "it must be a list of lists of tokens");
        else
            read_tokens(c, key, word, vocab, &p->bad_words[p->bad_word_count++]);
    }
}

/* Configurations older than forced_bos_token_id have a flag, which counts if that key is missing. */
static void read_forced_tokens(hub_config *c, size_t vocab, rapt_search_policy *p)
{
    const bool flag = hub_flag(c, "force_bos_token_to_be_generated", false) && !hub_value(c, "forced_bos_token_id");
    const char *key = flag ? "bos_token_id" : "forced_bos_token_id";
    read_token_list(c, key, vocab, &p->forced_bos);
    if (p->forced_bos.count > 1)
        hub_refuse(c, key, "it must be one token");
    read_token_list(c, "forced_eos_token_id", vocab, &p->forced_eos);
    read_token_list(c, "suppress_tokens", vocab, &p->suppressed);
    read_token_list(c, "begin_suppress_tokens", vocab, &p->suppressed_first);
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

static size_t generation_count(hub_config *c, const char *key, size_t otherwise)
{
    const json_t *value = hub_value(c, key);
    const json_int_t n = json_integer_value(value);
    if (!value)
        return otherwise;
    if (!json_is_integer(value) || n < 0 || n > MAX_COUNT)
        hub_refuse(c, key, "it must be a whole number from 0 to 2^30");
    return c->code ? otherwise : (size_t)n;
}

static rapt_early_stopping read_early_stopping(hub_config *c)
{
    static const char *const key = "early_stopping";
    const json_t *value = hub_value(c, key);
    const char *word = json_string_value(value);
    if (word && strcmp(word, "never") == 0)
        return RAPT_EARLY_STOPPING_NEVER;
    if (value && !json_is_boolean(value))
        hub_refuse(c, key, "it must be true, false or \"never\"");
    return json_is_true(value) ? RAPT_EARLY_STOPPING_YES : RAPT_EARLY_STOPPING_NO;
}

static void read_search(hub_config *c, rapt_search_policy *p)
{
    p->beams = generation_count(c, "num_beams", 1);
    if (p->beams < 1 || p->beams > MAX_BEAMS)
        hub_refuse(c, "num_beams", "it must be a whole number from 1 to 1024");
    p->length_penalty = hub_within(c, "length_penalty", 1, -MAX_PENALTY, MAX_PENALTY);
    p->early_stopping = read_early_stopping(c);
    p->max_length = generation_count(c, "max_length", 0);
    p->min_length = generation_count(c, "min_length", 0);
    p->max_new_tokens = generation_count(c, "max_new_tokens", 0);
    p->min_new_tokens = generation_count(c, "min_new_tokens", 0);
    p->repetition_penalty = hub_within(c, "repetition_penalty", 1, 0.001, 1000);
    p->no_repeat_ngram = generation_count(c, "no_repeat_ngram_size", 0);
    p->encoder_no_repeat_ngram = generation_count(c, "encoder_no_repeat_ngram_size", 0);
    p->renormalize = hub_flag(c, "renormalize_logits", false);
}

static void read_sampling(hub_config *c, rapt_search_policy *p)
{
    const bool said = hub_value(c, "do_sample") != NULL, sample = hub_flag(c, "do_sample", false);
    p->greedy = said && !sample;
    p->temperature = hub_number(c, "temperature", sample ? 1 : 0);
    p->top_k = generation_count(c, "top_k", sample ? DEFAULT_TOP_K : 0);
    if (hub_value(c, "top_k") && p->top_k == 0)
        p->top_k = SIZE_MAX;
    p->top_p = hub_within(c, "top_p", 0, 0, 1);
    if (hub_value(c, "top_p") && p->top_p == 0)
        p->top_p = DBL_MIN; /* as in the reference the most probable token stays; 0 is "not said" here */
    p->min_p = hub_within(c, "min_p", 0, 0, 1);
    p->typical_p = hub_within(c, "typical_p", 0, 0, 1);
    if (hub_value(c, "typical_p") && !(p->typical_p > 0))
        hub_refuse(c, "typical_p", "it must be a number above 0");
    if (sample && !(p->temperature > 0 && p->temperature <= 1e6))
        hub_refuse(c, "temperature", "it must be a number above 0");
    if (sample && p->beams > 1)
        hub_refuse(c, "do_sample", "rapt does not sample beams");
    if (!(p->temperature > 0))
        p->temperature = 0;
}

/* ---- the files ------------------------------------------------------------------------------------------------ */

rapt_code hub_generation_open(hub_generation *g, const model_source *from, rapt_error *err)
{
    bool there = false;
    *g = (hub_generation){.config = from->config, .config_path = from->config_path};
    rapt_code code = file_path(from->folder, "generation_config.json", &g->file_path, err);
    code = code ? code : file_is_there(g->file_path, &there, err);
    if (!code && there && !(g->file = json_file_read(g->file_path, MAX_FILE, err)))
        code = RAPT_ERR_FORMAT;
    if (g->file && !json_is_object(g->file))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: not an object", g->file_path);
    return code;
}

void hub_generation_close(hub_generation *g)
{
    json_decref(g->file);
    free(g->file_path);
    *g = (hub_generation){0};
}

rapt_code hub_generation_ids(const hub_generation *g, const char *key, size_t vocab, int32_t *ids, size_t max, size_t *count,
                             bool *there, rapt_error *err)
{
    const json_t *own = json_object_get(g->file, key), *other = json_object_get(g->config, key);
    hub_config c = {.root = g->file, .path = g->file_path, .err = err};
    rapt_token_list list = {0};
    if (!own || json_is_null(own)) {
        c.root = g->config;
        c.path = g->config_path;
    }
    *there = own || other;
    read_token_list(&c, key, vocab, &list);
    if (list.count > max)
        hub_refuse(&c, key, "these are more tokens than rapt takes");
    *count = c.code ? 0 : list.count;
    if (*count > 0)
        memcpy(ids, list.ids, *count * sizeof *ids);
    free(list.ids);
    return c.code;
}

/* The file that says how to search. */
static hub_config config_of_search(const hub_generation *g, rapt_error *err)
{
    return (hub_config){.root = g->file ? g->file : g->config, .path = g->file ? g->file_path : g->config_path, .err = err};
}

rapt_code hub_generation_check_translator(const hub_generation *g, rapt_error *err)
{
    hub_config c = config_of_search(g, err);
    if (hub_flag(&c, "do_sample", false))
        hub_refuse(&c, "do_sample", "rapt translate does not sample");
    if (generation_count(&c, "max_length", 2) < 2)
        hub_refuse(&c, "max_length", "a translation has its first token and another: it must be 2 or more");
    if (generation_count(&c, "max_new_tokens", 1) < 1)
        hub_refuse(&c, "max_new_tokens", "it must be 1 or more");
    return c.code;
}

rapt_code hub_generation_policy(const hub_generation *g, size_t vocab, rapt_search_policy *p, rapt_error *err)
{
    hub_config c = config_of_search(g, err);
    *p = (rapt_search_policy){.given = true};
    refuse_what_is_not_computed(&c);
    read_search(&c, p);
    read_sampling(&c, p);
    read_bad_words(&c, vocab, p);
    read_forced_tokens(&c, vocab, p);
    if (g->file)
        hub_refuse_others(&c); /* all other keys of config.json belong to the model */
    return c.code;
}

void hub_generation_policy_free(rapt_search_policy *p)
{
    for (size_t i = 0; i < p->bad_word_count; i++)
        free(p->bad_words[i].ids);
    free(p->bad_words);
    free(p->forced_bos.ids);
    free(p->forced_eos.ids);
    free(p->suppressed.ids);
    free(p->suppressed_first.ids);
    *p = (rapt_search_policy){0};
}

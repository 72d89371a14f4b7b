/* tests/decode/test_search.c: greedy and beam search against what defines them: all hypotheses that there are, written down
 * and scored by passes over whole rows; a search that continues to the last token and scores every candidate. And what
 * happens rarely: a beam wider than the vocabulary, all beams ending at once.
 * labels: sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "all_hypotheses.h"

/* A beam of all hypotheses misses none. */
static void check_best(double penalty, size_t n, rapt_real eos)
{
    static everything e;
    int32_t tokens[LIMIT + 1];
    setting s = new_setting(VOCAB, LIMIT - 1, eos);
    search_together(&s, 0, SENTENCES, MOST, (search_options){.length_penalty = penalty, .n_best = n});
    for (size_t i = 0; i < SENTENCES; i++) {
        e.count = 0;
        write_down(&s, i, s.limits[i], penalty, tokens, 0, &e);
        qsort(e.all, e.count, sizeof *e.all, by_score);
        assert_int_equal(s.results[i].count, n < e.count ? n : e.count);
        for (size_t j = 0; j < s.results[i].count; j++) {
            const search_hypothesis *h = &s.results[i].best[j];
            if (fabs(h->score - e.all[j].score) > 1e-4)
                fail_msg("penalty %g, sentence %zu, rank %zu: %g, not %g", penalty, i, j, h->score, e.all[j].score);
            double score = log_p_of(&s, i, h->tokens, h->length) / pow((5 + (double)h->length) / 6, penalty);
            assert_true(fabs(score - h->score) < 1e-4);
        }
    }
    free_setting(&s);
}

static void the_widest_beam_finds_the_best(void **state)
{
    (void)state;
    check_best(0, 1, 0);
    check_best(0, 7, 1);
    check_best(0.6, 1, 1);
    check_best(2, 5, 2);
    check_best(-0.7, 3, 1);
}

static void a_beam_wider_than_the_vocabulary_can_take_all(void **state)
{
    (void)state;
    check_best(0, MOST, 0);
}

/* ---- a beam search that leaves nothing out -------------------------------------------------------------------- */

#define LARGE 150 /* tokens */
#define LONG 14

typedef struct plain_row {
    int32_t tokens[LONG];
    size_t length;
    double score; /* log p, of finished ones by the penalty */
} plain_row;

typedef struct plain {
    plain_row open[8], all[8 * LARGE], finished[2 * 8 * LONG];
    size_t opens, count, finishes;
} plain;

static int by_plain_score(const void *a, const void *b)
{
    const plain_row *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score;
}

/* Every row followed by every token. */
static void plain_candidates(setting *s, size_t i, plain *p)
{
    p->count = 0;
    for (size_t r = 0; r < p->opens; r++) {
        const plain_row *row = &p->open[r];
        int32_t ids[LONG + 1] = {RAPT_BOS};
        memcpy(ids + 1, row->tokens, row->length * sizeof *ids);
        rapt_tape_begin(s->t, (rapt_pass){0});
        rapt_tensor *y = rapt_transformer_forward(s->t, s->m, (rapt_tokens){s->source + i * SOURCE, 1, SOURCE}, &s->lens[i],
                                                  (rapt_tokens){ids, 1, row->length + 1});
        const rapt_real *x = y->data + row->length * LARGE;
        double sum = 0;
        for (int32_t j = 0; j < LARGE; j++)
            sum += exp((double)x[j]);
        for (int32_t j = 0; j < LARGE; j++) {
            plain_row *c = &p->all[p->count++];
            *c = *row;
            c->tokens[c->length++] = j;
            c->score = row->score + (double)x[j] - log(sum);
        }
    }
    qsort(p->all, p->count, sizeof *p->all, by_plain_score);
}

/* `enough` 0: to the last token; else until so many have ended. */
static void plain_search(setting *s, size_t i, size_t beam, double penalty, size_t enough, plain *p)
{
    *p = (plain){.opens = 1};
    for (size_t length = 1; length <= s->limits[i] && (!enough || p->finishes < enough); length++) {
        plain_candidates(s, i, p);
        p->opens = 0;
        for (size_t c = 0, open = 0; c < 2 * beam && c < p->count && open < beam; c++) {
            const plain_row *row = &p->all[c];
            bool ends = row->tokens[length - 1] == RAPT_EOS;
            open += !ends;
            if (ends || length == s->limits[i]) {
                p->finished[p->finishes] = *row;
                p->finished[p->finishes++].score /= pow((5 + (double)length) / 6, penalty);
            } else {
                p->open[p->opens++] = *row;
            }
        }
    }
    qsort(p->finished, p->finishes, sizeof *p->finished, by_plain_score);
}

static void check_plain(size_t beam, size_t n, double penalty, rapt_real eos, double patience)
{
    static plain p;
    setting s = new_setting(LARGE, LONG - 1, eos);
    search_together(&s, 0, SENTENCES, beam, (search_options){.length_penalty = penalty, .n_best = n, .patience = patience});
    for (size_t i = 0; i < SENTENCES; i++) {
        plain_search(&s, i, beam, penalty, (size_t)lround((double)beam * patience), &p);
        assert_int_equal(s.results[i].count, n < p.finishes ? n : p.finishes);
        for (size_t j = 0; j < s.results[i].count; j++) {
            const search_hypothesis *h = &s.results[i].best[j];
            if (h->length != p.finished[j].length || memcmp(h->tokens, p.finished[j].tokens, h->length * sizeof *h->tokens) != 0)
                fail_msg("beam %zu, penalty %g, sentence %zu, rank %zu: score %g, not %g", beam, penalty, i, j, h->score,
                         p.finished[j].score);
        }
    }
    free_setting(&s);
}

static void nothing_that_counts_is_left_out(void **state)
{
    static const double penalties[] = {0, 0.6, 3, -0.7, -3};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        check_plain(3, 1, penalties[i], 2, 0);
        check_plain(8, 4, penalties[i], 3, 0);
        check_plain(4, 1, penalties[i], 5, 0);
        check_plain(4, 2, penalties[i], 8, 0);
        check_plain(4, 1, penalties[i], 10, 0);
        check_plain(4, 1, penalties[i], 15, 0);
    }
}

/* First come, first served (Kasai et al. 2022): a search with patience p ends in the step in which beam * p have ended. */
static void a_patience_ends_the_search(void **state)
{
    static const double patience[] = {0.25, 0.5, 1, 1.5, 2, 4};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        check_plain(4, 1, 0.6, 5, patience[i]);
        check_plain(4, 3, 0, 8, patience[i]);
        check_plain(8, 8, 2, 6, patience[i]);
    }
}

/* ---- beam and greedy ------------------------------------------------------------------------------------------ */

static void a_beam_of_one_is_greedy(void **state)
{
    static const int32_t prefix[] = {7, 9, 7};
    static const search_options options[] = {{0}, {.no_repeat = 2}, {0}};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 20, 2);
    for (size_t o = 0; o < 3; o++) {
        search_result greedy[SENTENCES];
        set_prefix(&s, prefix, o == 2 ? 3 : 0);
        search_together(&s, 0, SENTENCES, 0, options[o]);
        memcpy(greedy, s.results, sizeof greedy);
        search_together(&s, 0, SENTENCES, 1, options[o]);
        for (size_t i = 0; i < SENTENCES; i++)
            assert_same_result(&greedy[i], &s.results[i]);
    }
    free_setting(&s);
}

/* Whichever search found a hypothesis: its log-probability divided by the length penalty. */
static void scores_have_one_meaning(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 20, 2);
    for (size_t beam = 0; beam < 4; beam += 3) {
        search_together(&s, 0, SENTENCES, beam, (search_options){.length_penalty = 0.8, .n_best = 1});
        for (size_t i = 0; i < SENTENCES; i++) {
            const search_hypothesis *h = s.results[i].best;
            assert_true(h->log_prob < 0);
            assert_true(fabs(h->score - h->log_prob / pow((5 + (double)h->length) / 6, 0.8)) < 1e-12);
        }
    }
    free_setting(&s);
}

static void other_sentences_change_nothing(void **state)
{
    static const size_t beams[] = {0, 2, 5, 60};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 2);
    for (size_t b = 0; b < 4; b++) {
        search_options o = {.length_penalty = 0.6, .n_best = beams[b] ? beams[b] : 1};
        search_result together[SENTENCES];
        search_together(&s, 0, SENTENCES, beams[b], o);
        memcpy(together, s.results, sizeof together);
        for (size_t i = 0; i < SENTENCES; i++) {
            search_together(&s, i, 1, beams[b], o);
            assert_same_result(&together[i], &s.results[i]);
        }
    }
    free_setting(&s);
}

static void fewer_wanted_are_the_first_of_more(void **state)
{
    static const double penalties[] = {0, 1, -0.5};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 3);
    for (size_t p = 0; p < 3; p++) {
        search_result all[SENTENCES];
        search_together(&s, 0, SENTENCES, 6, (search_options){.length_penalty = penalties[p], .n_best = 6});
        memcpy(all, s.results, sizeof all);
        for (size_t n = 1; n < 6; n++) {
            search_together(&s, 0, SENTENCES, 6, (search_options){.length_penalty = penalties[p], .n_best = n});
            for (size_t i = 0; i < SENTENCES; i++) {
                assert_int_equal(s.results[i].count, n);
                all[i].count = n;
                assert_same_result(&all[i], &s.results[i]);
                all[i].count = 6;
            }
        }
    }
    free_setting(&s);
}

/* The log-probability of each token, from passes over the whole row; with them, the search finds the same. */
static void tokens_have_log_probabilities(void **state)
{
    static const int32_t prefix[] = {7, 9};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 2);
    for (size_t beam = 1; beam <= 4; beam += 3) {
        search_result without[SENTENCES];
        search_options o = {.length_penalty = 0.6, .n_best = beam};
        set_prefix(&s, prefix, beam > 1 ? 2 : 0);
        search_together(&s, 0, SENTENCES, beam, o);
        memcpy(without, s.results, sizeof without);
        o.log_probs = true;
        search_together(&s, 0, SENTENCES, beam, o);
        for (size_t i = 0; i < SENTENCES; i++) {
            assert_same_result(&without[i], &s.results[i]);
            assert_null(without[i].best[0].log_probs);
            for (size_t j = 0; j < s.results[i].count; j++) {
                const search_hypothesis *h = &s.results[i].best[j];
                double sum = 0;
                for (size_t k = 0; k < h->length; k++) {
                    const double before = k ? log_p_of(&s, i, h->tokens, k) : 0;
                    assert_true(fabs(h->log_probs[k] - (log_p_of(&s, i, h->tokens, k + 1) - before)) < 1e-4);
                    sum += h->log_probs[k];
                }
                assert_true(fabs(sum - h->log_prob) < 1e-9);
            }
        }
    }
    free_setting(&s);
}

/* ---- all beams end at once ------------------------------------------------------------------------------------ */

static void everything_ends_at_once(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 60);
    search_together(&s, 0, SENTENCES, 0, (search_options){0});
    for (size_t i = 0; i < SENTENCES; i++)
        assert_int_equal(s.results[i].best[0].length, 1);
    search_together(&s, 0, SENTENCES, 4, (search_options){.n_best = 4});
    for (size_t i = 0; i < SENTENCES; i++) {
        assert_int_equal(s.results[i].count, 4);
        for (size_t j = 0; j < 4; j++) { /* <eos>, then what has one token before it */
            assert_int_equal(s.results[i].best[j].length, j == 0 ? 1 : 2);
            assert_int_equal(s.results[i].best[j].tokens[j > 0], RAPT_EOS);
        }
    }
    free_setting(&s);
}

static void a_limit_of_one_token(void **state)
{
    (void)state;
    setting s = new_setting(VOCAB, 0, 0);
    for (size_t i = 0; i < SENTENCES; i++)
        s.limits[i] = 1;
    search_together(&s, 0, SENTENCES, 40, (search_options){.n_best = 40});
    for (size_t i = 0; i < SENTENCES; i++)
        assert_int_equal(s.results[i].count, VOCAB);
    free_setting(&s);
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static bool repeats(const search_hypothesis *h, size_t n)
{
    for (size_t i = 0; i + n <= h->length; i++)
        for (size_t j = i + 1; j + n <= h->length; j++)
            if (memcmp(h->tokens + i, h->tokens + j, n * sizeof *h->tokens) == 0)
                return true;
    return false;
}

static size_t count_repeats(const setting *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < SENTENCES; i++)
        for (size_t j = 0; j < s->results[i].count; j++)
            count += repeats(&s->results[i].best[j], n);
    return count;
}

static void no_tokens_come_twice(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 40, -20);
    for (size_t beam = 0; beam <= 4; beam += 4)
        for (size_t n = 1; n <= 3; n++) {
            search_together(&s, 0, SENTENCES, beam, (search_options){.n_best = beam ? 3 : 1});
            assert_true(count_repeats(&s, n) > 0);
            search_together(&s, 0, SENTENCES, beam, (search_options){.n_best = beam ? 3 : 1, .no_repeat = n});
            assert_int_equal(count_repeats(&s, n), 0);
            for (size_t i = 0; i < SENTENCES; i++)
                assert_int_equal(s.results[i].best[0].length, s.limits[i]); /* there is always another token */
        }
    free_setting(&s);
}

/* Nothing but <eos> is left when each of six tokens has come. */
static void the_end_is_never_banned(void **state)
{
    (void)state;
    setting s = new_setting(VOCAB, 20, -60);
    search_together(&s, 0, SENTENCES, 0, (search_options){.no_repeat = 1});
    for (size_t i = 0; i < SENTENCES; i++) {
        assert_int_equal(s.results[i].best[0].length, VOCAB);
        assert_int_equal(s.results[i].best[0].tokens[VOCAB - 1], RAPT_EOS);
    }
    free_setting(&s);
}

/* The logits after tokens[length], by a pass over the whole row, with the penalty on each token that is there. Adds the log p of
 * `next` to *log_p; returns the best token but `never`. */
static int32_t penalized(setting *s, size_t i, const int32_t *tokens, size_t length, double penalty, int32_t never, int32_t next,
                         double *log_p)
{
    int32_t row[64] = {RAPT_BOS}, best = -1;
    double x[MODEL_VOCAB], sum = 0;
    memcpy(row + 1, tokens, length * sizeof *tokens);
    rapt_tape_begin(s->t, (rapt_pass){0});
    rapt_tensor *y = rapt_transformer_forward(s->t, s->m, (rapt_tokens){s->source + i * SOURCE, 1, SOURCE}, &s->lens[i],
                                              (rapt_tokens){row, 1, length + 1});
    for (int32_t j = 0; j < MODEL_VOCAB; j++) {
        bool there = false;
        for (size_t p = 0; p < length; p++)
            there |= tokens[p] == j;
        x[j] = (double)y->data[length * MODEL_VOCAB + (size_t)j];
        if (there)
            x[j] = x[j] > 0 ? x[j] / penalty : x[j] * penalty;
        sum += exp(x[j]);
        best = j != never && (best < 0 || x[j] > x[best]) ? j : best;
    }
    *log_p += x[next] - log(sum);
    return best;
}

static void a_penalty_is_of_tokens_that_are_there(void **state)
{
    static const double penalties[] = {1.3, 3, 0.8};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 0);
    for (size_t p = 0; p < 3; p++)
        for (size_t beam = 0; beam <= 3; beam += 3) {
            const search_options o = {.n_best = beam ? 3 : 1, .repetition_penalty = penalties[p], .log_probs = true};
            search_together(&s, 0, SENTENCES, beam, o);
            for (size_t i = 0; i < SENTENCES; i++)
                for (size_t j = 0; j < s.results[i].count; j++) {
                    const search_hypothesis *h = &s.results[i].best[j];
                    double sum = 0;
                    for (size_t k = 0; k < h->length; k++) {
                        double log_p = 0;
                        const int32_t best = penalized(&s, i, h->tokens, k, penalties[p], -1, h->tokens[k], &log_p);
                        assert_true(beam || best == h->tokens[k]);
                        assert_true(fabs(log_p - h->log_probs[k]) < 1e-4);
                        sum += log_p;
                    }
                    assert_true(fabs(sum - h->log_prob) < 1e-4);
                }
        }
    free_setting(&s);
}

/* Greedy search takes the best token but <eos> until there are enough, and log-probabilities stay the model's. */
static void no_end_before_the_least_length(void **state)
{
    static const int32_t prefix[] = {7, 9};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 20, 3); /* ends at once if it may */
    for (size_t beam = 0; beam <= 4; beam += 4)
        for (size_t with = 0; with <= 2; with += 2)
            for (size_t least = 0; least <= 9; least += 3) {
                const search_options o = {.n_best = beam ? 3 : 1, .min_length = least ? least : SIZE_MAX};
                set_prefix(&s, prefix, with);
                search_together(&s, 0, SENTENCES, beam, o);
                for (size_t i = 0; i < SENTENCES; i++)
                    for (size_t j = 0; j < s.results[i].count; j++) {
                        const search_hypothesis *h = &s.results[i].best[j];
                        assert_true(h->length > with + least || h->length == s.limits[i]);
                        for (size_t k = 0; k < with + least && k < h->length; k++)
                            assert_int_not_equal(h->tokens[k], RAPT_EOS);
                        assert_true(fabs(log_p_of(&s, i, h->tokens, h->length) - h->log_prob) < 1e-4);
                        for (size_t k = with; k < h->length && !beam; k++) {
                            double log_p = 0;
                            const int32_t never = k < with + least ? RAPT_EOS : -1;
                            const int32_t best = penalized(&s, i, h->tokens, k, 1, never, h->tokens[k], &log_p);
                            assert_int_equal(h->tokens[k], best);
                        }
                    }
            }
    free_setting(&s);
}

static bool has_sequence(const search_hypothesis *h, const rapt_token_list *list)
{
    for (size_t i = 0; i + list->count <= h->length; i++)
        if (memcmp(h->tokens + i, list->ids, list->count * sizeof *list->ids) == 0)
            return true;
    return false;
}

/* A token and a pair of tokens of a search do not come in the next one, whose log-probabilities stay the model's. */
static void suppressed_tokens_do_not_come(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 20, -3);
    for (size_t beam = 0; beam <= 4; beam += 4) {
        int32_t one[1], two[2];
        const rapt_token_list lists[] = {{one, 1}, {two, 2}};
        search_together(&s, 0, SENTENCES, beam, (search_options){.n_best = beam ? 3 : 1});
        const search_hypothesis *h = &s.results[0].best[0];
        assert_true(h->length > 5);
        one[0] = h->tokens[1];
        memcpy(two, h->tokens + 3, sizeof two);
        assert_true(has_sequence(h, &lists[0]) && has_sequence(h, &lists[1]));
        search_together(&s, 0, SENTENCES, beam,
                        (search_options){.n_best = beam ? 3 : 1, .suppressed = lists, .suppressed_count = 2});
        for (size_t i = 0; i < SENTENCES; i++)
            for (size_t j = 0; j < s.results[i].count; j++) {
                const search_hypothesis *found = &s.results[i].best[j];
                assert_false(has_sequence(found, &lists[0]) || has_sequence(found, &lists[1]));
                assert_true(fabs(log_p_of(&s, i, found->tokens, found->length) - found->log_prob) < 1e-4);
            }
    }
    free_setting(&s);
}

static void prefixes_come_first_and_cost(void **state)
{
    static const int32_t prefix[] = {7, 7, 30};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 2);
    set_prefix(&s, prefix, 3);
    for (size_t beam = 0; beam <= 4; beam += 4) {
        /* a prefix may repeat */
        search_together(&s, 0, SENTENCES, beam, (search_options){.n_best = beam ? 3 : 1, .no_repeat = 1});
        for (size_t i = 0; i < SENTENCES; i++)
            for (size_t j = 0; j < s.results[i].count; j++) {
                const search_hypothesis *h = &s.results[i].best[j];
                assert_true(h->length > 3);
                assert_memory_equal(h->tokens, prefix, sizeof prefix);
                assert_true(fabs(log_p_of(&s, i, h->tokens, h->length) - h->score) < 1e-4);
            }
    }
    free_setting(&s);
}

/* What greedy would say anyhow, forced, is what it says. */
static void own_words_as_a_prefix_change_nothing(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 0);
    search_together(&s, 0, 1, 0, (search_options){0});
    search_result own = s.results[0];
    assert_true(own.best[0].length > 4);
    set_prefix(&s, own.best[0].tokens, 4);
    search_together(&s, 0, 1, 0, (search_options){0});
    assert_same_result(&own, &s.results[0]);
    free_setting(&s);
}

/* Each sentence of a batch with a prefix of its own gives what it gives alone. */
static void prefixes_of_their_own(void **state)
{
    static const int32_t ids[] = {7, 9, 30, 7, 11};
    (void)state;
    setting s = new_setting(MODEL_VOCAB, 12, 2);
    for (size_t i = 0; i < SENTENCES; i++)
        s.prefixes[i] = (search_prefix){ids + i % 3, i % 4};
    for (size_t beam = 0; beam <= 4; beam += 4) {
        search_result together[SENTENCES];
        search_together(&s, 0, SENTENCES, beam, (search_options){.n_best = beam ? 2 : 1});
        memcpy(together, s.results, sizeof together);
        for (size_t i = 0; i < SENTENCES; i++) {
            search_together(&s, i, 1, beam, (search_options){.n_best = beam ? 2 : 1});
            assert_same_result(&together[i], &s.results[i]);
            assert_true(together[i].best[0].length > s.prefixes[i].count);
            assert_memory_equal(together[i].best[0].tokens, s.prefixes[i].ids, s.prefixes[i].count * sizeof *ids);
        }
    }
    free_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_widest_beam_finds_the_best),
        cmocka_unit_test(a_beam_wider_than_the_vocabulary_can_take_all),
        cmocka_unit_test(nothing_that_counts_is_left_out),
        cmocka_unit_test(a_patience_ends_the_search),
        cmocka_unit_test(a_beam_of_one_is_greedy),
        cmocka_unit_test(scores_have_one_meaning),
        cmocka_unit_test(other_sentences_change_nothing),
        cmocka_unit_test(fewer_wanted_are_the_first_of_more),
        cmocka_unit_test(tokens_have_log_probabilities), cmocka_unit_test(everything_ends_at_once),
        cmocka_unit_test(a_limit_of_one_token),
        cmocka_unit_test(no_tokens_come_twice),
        cmocka_unit_test(the_end_is_never_banned),
        cmocka_unit_test(a_penalty_is_of_tokens_that_are_there),
        cmocka_unit_test(no_end_before_the_least_length),
        cmocka_unit_test(suppressed_tokens_do_not_come),
        cmocka_unit_test(prefixes_come_first_and_cost),
        cmocka_unit_test(own_words_as_a_prefix_change_nothing),
        cmocka_unit_test(prefixes_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/cli/test_cluster_cost.c: the formulas of `rapt info RECIPE --cluster`, against values calculated by hand for numbers that
 * make this easy: 12 million parameters are 48 MB, 24 buckets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/cluster_cost.h"

#define CLOSE(is, wanted) assert_float_equal(is, wanted, 1e-9 * (wanted))

static const cluster_machine machine = {.flops = 1e12, .memory = 12e9, .network = 1e8, .latency = 0.001};
static const cluster_job job = {.parameters = 12e6, .looked_up = 2e6, .tokens = 8000, .activations = 1e6, .batches = 8,
                                .shards = 8};

/* 6 * 10e6 * 8000 / 1e12 s; 7 additions and one step of Adam of 12e6 numbers; log2(8) + 1 buffers of gradients. */
static void one_machine(void **state)
{
    (void)state;
    cluster_cost c = cluster_cost_of(&machine, &job, 1);
    assert_int_equal(c.batches, 8);
    CLOSE(c.compute, 0.48);
    CLOSE(c.additions, 0.084);
    CLOSE(c.adam, 0.028);
    assert_true(c.exposed == 0 && c.sent == 0);
    CLOSE(c.step, 0.592);
    CLOSE(c.resident, 48e6 + 4 * 48e6 + 96e6 + 1e6);
}

/* Half of 48 MB takes 0.24 s, and 24 messages of a millisecond, six at once, 4 ms. A batch's backward pass takes 0.04 s, of which
 * 23 of 24 parts hide something; its forward pass half as long. The norm: two messages and half of 1464.84375 doubles. */
static void two_machines(void **state)
{
    (void)state;
    cluster_cost c = cluster_cost_of(&machine, &job, 2);
    assert_int_equal(c.batches, 4);
    CLOSE(c.compute, 0.24);
    CLOSE(c.additions, 0.036);
    CLOSE(c.adam, 0.014);
    const double each = 0.24 + 0.004;
    CLOSE(c.reduce, each);
    CLOSE(c.gather, each);
    CLOSE(c.exposed, (each - 0.04 * 23 / 24) + (each - 0.02 * 23 / 24) + 0.002 + 0.00005859375);
    CLOSE(c.step, 0.24 + 0.036 + 0.014 + c.exposed);
    CLOSE(c.sent, 48e6 + 5859.375);
    CLOSE(c.resident, 48e6 + 3 * 48e6 + 48e6 + 1e6);
}

/* Shards 0 and 1 are one subtree; 2 to 4 are two, as are 5 to 7, where the sum of 5 is held while 6 and 7 are added. */
static void three_machines(void **state)
{
    (void)state;
    cluster_cost c = cluster_cost_of(&machine, &job, 3);
    assert_int_equal(c.batches, 3);
    CLOSE(c.compute, 0.18);
    CLOSE(c.additions, 0.024);
    CLOSE(c.reduce, 0.64 + 24 * 0.002 / 6);
    CLOSE(c.gather, 0.32 + 24 * 0.002 / 6);
    CLOSE(c.resident, 48e6 + 3 * 48e6 + 32e6 + 1e6);
}

/* 24 shards are no perfect tree: each of eight machines has two subtrees, and sends both to the seven others. What it gathers
 * comes in three messages. */
static void uneven_shards(void **state)
{
    (void)state;
    cluster_job j = job;
    j.batches = j.shards = 24;
    cluster_cost c = cluster_cost_of(&machine, &j, 8);
    CLOSE(c.reduce, 2 * 0.42 + 24 * 0.007 / 6);
    CLOSE(c.gather, 0.42 + 24 * 0.003 / 6);
}

/* Batches of 40 times the tokens hide all but a bucket: a 24th of its time and its message, twice. */
static void all_is_hidden(void **state)
{
    (void)state;
    cluster_job large = job;
    large.tokens *= 40;
    cluster_cost c = cluster_cost_of(&machine, &large, 2);
    CLOSE(c.exposed, 2 * ((0.24 + 0.004) / 24 + 0.001) + 0.002 + 0.00005859375);
    CLOSE(cluster_cost_hides(&machine, &job), 12.0 / 10 * 1e12 / 1e8);
}

/* In bf16 10e6 of 12e6 numbers are gathered with two bytes; rows that are used now and then are not sent as a whole. */
static void fewer_bytes(void **state)
{
    (void)state;
    cluster_job j = job;
    j.bf16 = true;
    CLOSE(cluster_cost_of(&machine, &j, 2).sent, 24e6 + 14e6 + 5859.375);
    j = job;
    j.sparse = 2e6;
    CLOSE(cluster_cost_of(&machine, &j, 2).sent, 40e6 + 8 * 10e6 / 8192 / 2);
    CLOSE(cluster_cost_of(&machine, &j, 2).resident, 48e6 + 3 * 40e6 + 40e6 + 24e6 + 1e6);
}

/* A quarter of the parameters is read first and complete last. */
static void embedding_waits(void **state)
{
    (void)state;
    cluster_job large = job;
    large.tokens *= 40;
    large.embedding = 3e6;
    cluster_cost all = cluster_cost_of(&machine, &large, 2);
    CLOSE(all.exposed, (all.reduce + all.gather) / 4 + 2 * 0.001 + 0.002 + 0.00005859375);
}

/* docs/results/cluster-simulation.md: milliseconds of a step, message by message. The formulas leave out what little is lost
 * between messages. */
static void near_the_simulation(void **state)
{
    (void)state;
    static const struct {
        uint32_t machines;
        double network, parameters, embedding, tokens, flops, ms;
    } cases[] = {{64, 1.175e9, 124e6, 0, 4096, 2e12, 1576}, {64, 1.175e9, 124e6, 38.6e6, 4096, 2e12, 1900},
                 {4, 1.175e8, 60e6, 0, 6250, 2e11, 11459}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t n = cases[i].machines;
        cluster_machine m = {cases[i].flops, 20e9, cases[i].network, 50e-6};
        cluster_job j = {.parameters = cases[i].parameters, .embedding = cases[i].embedding, .tokens = cases[i].tokens * n,
                         .batches = n, .shards = n};
        double ms = 1e3 * cluster_cost_of(&m, &j, n).step;
        if (ms > cases[i].ms || ms < 0.93 * cases[i].ms)
            fail_msg("case %zu: %.0f ms, simulated %.0f", i, ms, cases[i].ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_machine), cmocka_unit_test(two_machines),
                                       cmocka_unit_test(three_machines), cmocka_unit_test(uneven_shards),
                                       cmocka_unit_test(all_is_hidden),
                                       cmocka_unit_test(fewer_bytes), cmocka_unit_test(embedding_waits),
                                       cmocka_unit_test(near_the_simulation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

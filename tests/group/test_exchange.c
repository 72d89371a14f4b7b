/* tests/group/test_exchange.c: the exchange of many ranks, polled in one thread: sums against the definition of the tree bit for
 * bit, gathers, broadcasts and collections, several at once, with small and large messages; and how many bytes are sent.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "group/rank_exchange.h"
#include "group_case.h"

#define MOST_OPS 16

/* All ranks of a group in this thread. */
typedef struct polled {
    int size;
    rapt_transport *transports;
    rank_exchange **ranks;
    group_op *ops; /* [MOST_OPS][size] */
    int count;     /* operations of a rank */
} polled;

static polled new_polled(int size, const rank_exchange_options *options)
{
    polled p = {size, rapt_group_local(size, NULL)};
    assert_non_null(p.transports);
    p.ranks = malloc((size_t)size * sizeof *p.ranks);
    p.ops = calloc((size_t)size * MOST_OPS, sizeof *p.ops);
    for (int r = 0; r < size; r++) {
        p.ranks[r] = rank_exchange_new(&p.transports[r], r, size, options, NULL);
        assert_non_null(p.ranks[r]);
    }
    return p;
}

static void free_polled(polled *p)
{
    for (int r = 0; r < p->size; r++)
        rank_exchange_free(p->ranks[r]);
    free(p->ranks);
    free(p->ops);
    rapt_group_local_free(p->transports);
}

/* Operation n of a rank. */
static group_op *op_of(polled *p, int n, int rank)
{
    group_op *op = &p->ops[n * p->size + rank];
    op->rank = rank;
    op->size = p->size;
    return op;
}

/* Polls the ranks in an order that changes, until all operations are done; rank `slow` only now and then. */
static void run_polled(polled *p, int slow)
{
    size_t open = 1;
    for (size_t turn = 0; open > 0; turn++) {
        bool any = false;
        open = 0;
        for (int i = 0; i < p->size; i++) {
            int r = turn % 2 ? p->size - 1 - i : i;
            bool moved = r == slow && turn % 7 != 0;
            if (!moved)
                assert_int_equal(rank_exchange_poll(p->ranks[r], &moved, NULL), RAPT_OK);
            any = any || moved;
            open += rank_exchange_open(p->ranks[r]);
        }
        if (!any && open > 0 && turn % 7 == 0)
            fail_msg("%zu operations of %d ranks do not get on", open, p->size);
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

static void begin_reduce(polled *p, int n, uint32_t shards, const size_t *bounds, case_parts *parts)
{
    for (int r = 0; r < p->size; r++) {
        group_op *op = op_of(p, n, r);
        case_fill_parts(&parts[r], r, p->size, shards, bounds[p->size]);
        op->bounds = bounds;
        op->shards = shards;
        op->parts = parts[r].parts;
        rank_exchange_prepare_reduce(op);
        rank_exchange_begin(p->ranks[r], op);
    }
}

static void check_reduce(int size, uint32_t shards, size_t elements, const rank_exchange_options *options)
{
    polled p = new_polled(size, options);
    size_t *bounds = malloc(((size_t)size + 1) * sizeof *bounds);
    case_parts *parts = calloc((size_t)size, sizeof *parts);
    case_bounds(bounds, size, elements);
    begin_reduce(&p, 0, shards, bounds, parts);
    run_polled(&p, size / 2);
    for (int r = 0; r < size; r++) {
        size_t wrong = case_wrong(parts[r].parts[0], r, size, shards, bounds);
        if (wrong)
            fail_msg("%d ranks, %u shards: %zu numbers of rank %d are not the tree's", size, shards, wrong, r);
        case_free_parts(&parts[r]);
    }
    free(parts);
    free(bounds);
    free_polled(&p);
}

static void sums(void **state)
{
    (void)state;
    rank_exchange_options portions = {.portion = 40};
    for (int size = 1; size <= 9; size++) {
        for (uint32_t shards = (uint32_t)size; shards <= 33; shards += shards < 12 ? 1 : 5)
            check_reduce(size, shards, 97, NULL);
        check_reduce(size, 8 * (uint32_t)size, 200, &portions);
        check_reduce(size, 64, 1, NULL);
        check_reduce(size, 64, 0, NULL);
    }
}

static void sums_of_many(void **state)
{
    (void)state;
    check_reduce(64, 64, 500, NULL);
    check_reduce(257, 257, 600, NULL);
    check_reduce(257, 1000, 300, NULL);
    check_reduce(1000, 1024, 1100, NULL);
    check_reduce(1024, 1024, 2500, NULL);
    check_reduce(1024, 4096, 1030, NULL);
}

/* Additions that do not keep the order of the tree would be seen: other orders give other bits. */
static void order_shows(void **state)
{
    (void)state;
    size_t differ = 0, negative = 0;
    for (size_t i = 0; i < 1000; i++) {
        float chain = case_leaf(0, i), tree = case_sum(0, 8, i);
        for (uint32_t s = 1; s < 8; s++)
            chain += case_leaf(s, i);
        differ += memcmp(&chain, &tree, sizeof tree) != 0;
        float zero = case_leaf(0, i);
        negative += zero == 0 && signbit(zero);
    }
    assert_true(differ > 300);
    assert_true(negative > 10);
}

/* -0 stays where all shards have it, and nowhere else. */
static void negative_zero(void **state)
{
    (void)state;
    for (int size = 2; size <= 5; size++) {
        polled p = new_polled(size, NULL);
        size_t bounds[6];
        float own[5][2][16];
        rapt_real *parts[5][2];
        for (int i = 0; i <= size; i++)
            bounds[i] = 16 * (size_t)i / (size_t)size;
        for (int r = 0; r < size; r++) {
            for (size_t i = 0; i < 16; i++)
                own[r][0][i] = own[r][1][i] = i % 2 || r > 0 ? -0.0f : 0.0f;
            parts[r][0] = own[r][0];
            parts[r][1] = own[r][1];
            group_op *op = op_of(&p, 0, r);
            op->bounds = bounds, op->shards = (uint32_t)size, op->parts = parts[r];
            rank_exchange_prepare_reduce(op);
            rank_exchange_begin(p.ranks[r], op);
        }
        run_polled(&p, -1);
        for (int r = 0; r < size; r++)
            for (size_t i = bounds[group_range(r, size)]; i < bounds[group_range(r, size) + 1]; i++)
                assert_int_equal(signbit(own[r][0][i]) != 0, i % 2);
        free_polled(&p);
    }
}

/* ---- gathers and the like --------------------------------------------------------------------------------- */

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 167 + i / 251 + 5);
}

/* A buffer for each rank, with only what `has` says in place. */
static uint8_t *new_data(int rank, int size, const size_t *bounds, size_t size_of, bool natural)
{
    size_t bytes = bounds[size] * size_of;
    int range = natural ? rank : group_range(rank, size);
    uint8_t *data = calloc(bytes + 1, 1);
    for (size_t i = bounds[range] * size_of; i < bounds[range + 1] * size_of; i++)
        data[i] = byte_at(i);
    return data;
}

static void check_data(const uint8_t *data, size_t bytes, int size, int rank)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != byte_at(i))
            fail_msg("byte %zu of rank %d of %d is wrong", i, rank, size);
}

static void check_gather(int size, size_t elements, size_t size_of, bool natural, const rank_exchange_options *options)
{
    polled p = new_polled(size, options);
    size_t *bounds = malloc(((size_t)size + 1) * sizeof *bounds);
    uint8_t **data = malloc((size_t)size * sizeof *data);
    case_bounds(bounds, size, elements);
    for (int r = 0; r < size; r++) {
        group_op *op = op_of(&p, 0, r);
        data[r] = new_data(r, size, bounds, size_of, natural);
        op->data = (char *)data[r];
        op->bounds = bounds;
        op->size_of = size_of;
        op->natural = natural;
        rank_exchange_prepare_gather(op);
        rank_exchange_begin(p.ranks[r], op);
    }
    run_polled(&p, 0);
    for (int r = 0; r < size; r++) {
        check_data(data[r], elements * size_of, size, r);
        free(data[r]);
    }
    free(data);
    free(bounds);
    free_polled(&p);
}

static void gathers(void **state)
{
    (void)state;
    rank_exchange_options portions = {.portion = 7};
    for (int size = 1; size <= 17; size++) {
        check_gather(size, 100, 4, false, NULL);
        check_gather(size, 101, 3, true, &portions);
        check_gather(size, 2, 2, false, NULL);
    }
    check_gather(257, 700, 2, false, NULL);
    check_gather(1024, 1500, 1, false, NULL);
    check_gather(1024, 1024, 4, true, NULL);
}

static void check_broadcast(int size, int root, size_t bytes, const rank_exchange_options *options)
{
    polled p = new_polled(size, options);
    uint8_t **data = malloc((size_t)size * sizeof *data);
    for (int r = 0; r < size; r++) {
        group_op *op = op_of(&p, 0, r);
        data[r] = calloc(bytes + 1, 1);
        for (size_t i = 0; i < bytes && r == root; i++)
            data[r][i] = byte_at(i);
        op->data = (char *)data[r];
        op->bytes = bytes;
        op->root = root;
        rank_exchange_prepare_broadcast(op);
        rank_exchange_begin(p.ranks[r], op);
    }
    run_polled(&p, root);
    for (int r = 0; r < size; r++) {
        check_data(data[r], bytes, size, r);
        free(data[r]);
    }
    free(data);
    free_polled(&p);
}

static void broadcasts(void **state)
{
    (void)state;
    rank_exchange_options portions = {.portion = 100001};
    for (int size = 1; size <= 9; size++)
        for (int root = 0; root < size; root += 2) {
            check_broadcast(size, root, 0, NULL);
            check_broadcast(size, root, 1000, NULL);
            check_broadcast(size, root, 70000, NULL);
        }
    check_broadcast(3, 1, 3 * ((size_t)1 << 20) + 17, &portions);
    check_broadcast(257, 200, 300, NULL);
    check_broadcast(1024, 5, 65536, NULL);
    check_broadcast(300, 5, 65537, NULL);
}

static void check_collect(int size, size_t elements)
{
    polled p = new_polled(size, NULL);
    size_t *bounds = malloc(((size_t)size + 1) * sizeof *bounds);
    uint8_t **data = calloc((size_t)size, sizeof *data);
    case_bounds(bounds, size, elements);
    for (int r = 0; r < size; r++) {
        group_op *op = op_of(&p, 0, r);
        data[r] = new_data(r, size, bounds, 4, false);
        op->data = (char *)data[r];
        op->bounds = bounds;
        op->size_of = 4;
        rank_exchange_prepare_collect(op);
        rank_exchange_begin(p.ranks[r], op);
    }
    run_polled(&p, size - 1);
    check_data(data[0], elements * 4, size, 0);
    for (int r = 0; r < size; r++)
        free(data[r]);
    free(data);
    free(bounds);
    free_polled(&p);
}

static void collections(void **state)
{
    (void)state;
    for (int size = 1; size <= 19; size++)
        check_collect(size, 77);
    check_collect(257, 1000);
    check_collect(1024, 3000);
}

/* ---- several at once -------------------------------------------------------------------------------------- */

/* Sums and gathers of different sizes, more than are carried on at once, and small ones that pass them. */
static void run_many(polled *p)
{
    const int size = p->size;
    size_t bounds[MOST_OPS][9];
    case_parts parts[MOST_OPS][8];
    uint8_t shared[MOST_OPS][8][8];
    for (int n = 0; n < MOST_OPS; n++) {
        case_bounds(bounds[n], size, 50 + 40 * (size_t)n);
        if (n % 3 < 2) {
            begin_reduce(p, n, 24, bounds[n], parts[n]);
            continue;
        }
        for (int r = 0; r < size; r++) {
            group_op *op = op_of(p, n, r);
            memset(shared[n][r], 0, 8);
            shared[n][r][r] = byte_at((size_t)r);
            op->data = (char *)shared[n][r];
            op->size_of = 1;
            op->natural = op->small = true;
            rank_exchange_prepare_gather(op);
            rank_exchange_begin(p->ranks[r], op);
        }
    }
    run_polled(p, 1);
    for (int n = 0; n < MOST_OPS; n++)
        for (int r = 0; r < size; r++) {
            if (n % 3 == 2) {
                check_data(shared[n][r], (size_t)size, size, r);
                continue;
            }
            assert_int_equal(case_wrong(parts[n][r].parts[0], r, size, 24, bounds[n]), 0);
            case_free_parts(&parts[n][r]);
        }
}

static void in_flight(void **state)
{
    (void)state;
    for (int size = 2; size <= 8; size++) {
        polled p = new_polled(size, &(rank_exchange_options){.in_flight = 2, .portion = 256});
        run_many(&p);
        free_polled(&p);
    }
}

/* ---- tags ------------------------------------------------------------------------------------------------- */

#define HIGHEST_TAG 32766 /* MPI has 32767 at least, which is the heartbeat's */

static rapt_transport unchecked; /* its functions */
static int last_tag;

static rapt_code checked_send(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err)
{
    assert_in_range(tag, 0, HIGHEST_TAG);
    last_tag = tag;
    return unchecked.send(context, rank, tag, data, bytes, request, err);
}

/* In ranks that have carried on operations before, without a byte in them. */
static void begin_after(polled *p, int before)
{
    for (int n = 0; n < before; n++) {
        bool moved;
        for (int r = 0; r < p->size; r++) {
            group_op *op = op_of(p, 0, r);
            rank_exchange_prepare_broadcast(op);
            rank_exchange_begin(p->ranks[r], op);
            assert_int_equal(rank_exchange_poll(p->ranks[r], &moved, NULL), RAPT_OK);
            assert_int_equal(rank_exchange_open(p->ranks[r]), 0);
            memset(op, 0, sizeof *op);
        }
    }
}

/* After the highest tag comes the lowest; operations with both are under way at once. */
static void tags_start_again(void **state)
{
    (void)state;
    for (int size = 2; size <= 5; size += 3)
        for (int before = HIGHEST_TAG - MOST_OPS; before <= HIGHEST_TAG; before += MOST_OPS / 2) {
            polled p = new_polled(size, NULL);
            unchecked = p.transports[0];
            for (int r = 0; r < size; r++) {
                rapt_transport checked = p.transports[r];
                checked.send = checked_send;
                rank_exchange_free(p.ranks[r]);
                p.ranks[r] = rank_exchange_new(&checked, r, size, &(rank_exchange_options){.in_flight = 3, .portion = 256}, NULL);
                assert_non_null(p.ranks[r]);
            }
            begin_after(&p, before);
            run_many(&p);
            assert_in_range(last_tag, 0, before + MOST_OPS > HIGHEST_TAG ? MOST_OPS : HIGHEST_TAG);
            free_polled(&p);
        }
}

/* A small one does not wait in the queue. */
static void small_first(void **state)
{
    (void)state;
    polled p = new_polled(2, &(rank_exchange_options){.in_flight = 1});
    size_t bounds[] = {0, 50, 100};
    case_parts parts[2][2];
    uint8_t shared[2][2];
    bool moved;
    begin_reduce(&p, 0, 4, bounds, parts[0]);
    begin_reduce(&p, 1, 4, bounds, parts[1]);
    for (int r = 0; r < 2; r++) {
        group_op *op = op_of(&p, 2, r);
        shared[r][r] = byte_at((size_t)r);
        op->data = (char *)shared[r];
        op->size_of = 1;
        op->natural = op->small = true;
        rank_exchange_prepare_gather(op);
        rank_exchange_begin(p.ranks[r], op);
    }
    assert_int_equal(rank_exchange_poll(p.ranks[0], &moved, NULL), RAPT_OK);
    assert_int_equal(rank_exchange_counted(p.ranks[0]).messages, 2);
    run_polled(&p, -1);
    for (int n = 0; n < 2; n++)
        for (int r = 0; r < 2; r++)
            case_free_parts(&parts[n][r]);
    check_data(shared[0], 2, 2, 0);
    check_data(shared[1], 2, 2, 1);
    free_polled(&p);
}

/* ---- bytes ------------------------------------------------------------------------------------------------ */

/* A sum by halving, and a gather by either algorithm, send (P - 1) / P of the bucket for each rank. */
static void bytes_sent(void **state)
{
    (void)state;
    for (int size = 2; size <= 16; size++) {
        size_t elements = 240 * (size_t)size, bounds[17];
        bool halves = (size & (size - 1)) == 0;
        polled p = new_polled(size, NULL);
        case_parts parts[16];
        for (int i = 0; i <= size; i++)
            bounds[i] = 240 * (size_t)i;
        if (halves)
            begin_reduce(&p, 0, 2 * (uint32_t)size > 16 ? 16 : 2 * (uint32_t)size, bounds, parts);
        float *data = calloc(elements * (size_t)size, sizeof *data);
        for (int r = 0; r < size; r++) {
            group_op *op = op_of(&p, 1, r);
            op->data = (char *)(data + (size_t)r * elements);
            op->bounds = bounds;
            op->size_of = sizeof *data;
            rank_exchange_prepare_gather(op);
            rank_exchange_begin(p.ranks[r], op);
        }
        run_polled(&p, -1);
        for (int r = 0; r < size; r++) {
            rank_exchange_counts counts = rank_exchange_counted(p.ranks[r]);
            uint64_t bound = (elements - 240) * sizeof *data;
            assert_int_equal(counts.sent, halves ? 2 * bound : bound);
            assert_int_equal(counts.received, counts.sent);
            if (halves)
                case_free_parts(&parts[r]);
        }
        free(data);
        free_polled(&p);
    }
}

static void owners(void **state)
{
    (void)state;
    assert_int_equal(group_range(1, 8), 4);
    assert_int_equal(group_range(3, 8), 6);
    assert_int_equal(group_range(5, 6), 5);
    for (int size = 1; size <= 1024; size += size < 40 ? 1 : 246)
        for (int i = 0; i < size; i++) {
            assert_in_range(group_range(i, size), 0, size - 1);
            assert_int_equal(group_owner(group_range(i, size), size), i);
        }
}

/* ---- failures --------------------------------------------------------------------------------------------- */

static void *no_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static void failures(void **state)
{
    (void)state;
    rapt_error err = {0};
    bool moved;
    size_t bounds[] = {0, 10, 20};
    case_parts parts[2];
    polled p = new_polled(2, &(rank_exchange_options){.allocate = no_memory, .release = free});
    begin_reduce(&p, 0, 2, bounds, parts);
    assert_int_equal(rank_exchange_poll(p.ranks[0], &moved, &err), RAPT_ERR_MEMORY);
    assert_non_null(strstr(err.message, "out of memory for 40 bytes"));
    for (int r = 0; r < 2; r++)
        case_free_parts(&parts[r]);
    free_polled(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_shows), cmocka_unit_test(owners),   cmocka_unit_test(sums),
        cmocka_unit_test(sums_of_many), cmocka_unit_test(negative_zero), cmocka_unit_test(gathers),
        cmocka_unit_test(broadcasts),  cmocka_unit_test(collections), cmocka_unit_test(in_flight),
        cmocka_unit_test(tags_start_again), cmocka_unit_test(small_first),
        cmocka_unit_test(bytes_sent),  cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* bench/smpi/step.c: a training step of many machines in a simulation (SimGrid's SMPI): the exchange is the real one of src/group
 * over the real MPI transport, message by message; what a machine computes in between is only time. For simulate.sh; it trains
 * nothing and adds up nothing.
 *
 * A machine computes with all of its cores while its communication thread carries the exchange on, so both have a clock here:
 * computing goes in slices, after each of which the exchange is polled; additions of the exchange keep the communication thread
 * busy, which begins no message meanwhile, and take its share of the cores from computing. */
#include "base/memory.h"
#include "group/rank_exchange.h"
#include "group/mpi/mpi_transport.h"
#include "kernels/kernels.h"

#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BUCKETS 512
#define MAX_MESSAGES 4096
#define STEPS 3 /* the first warms up */
#define ADAM_BYTES 28 /* of a number: parameter, gradient, two moments, read; all but the gradient written */
#define ADD_BYTES 12
#define NORM_BLOCK 8192 /* numbers for each sum of squares that is shared */

/* What is simulated: NAME=VALUE on the command line. */
static struct {
    double params, tied, tokens, flops, passes, bucket, in_flight, memory, cores, cpu_byte, slice, nap, gather_bytes;
} set = {124e6, 0, 4096, 2e12, 1, 1 << 20, 6, 20e9, 32, 0, 5e-4, 1e-4, 4};

static const struct setting {
    const char *name;
    double *value;
} SETTINGS[] = {
    {"params", &set.params},       /* numbers of the model */
    {"tied", &set.tied},           /* of them in a tied embedding: first read, last final */
    {"tokens", &set.tokens},       /* of a machine and step */
    {"flops", &set.flops},         /* a second, of a machine in training: 6 params tokens / seconds */
    {"passes", &set.passes},       /* batches of a machine and step; gradients are exchanged in the last one's backward pass */
    {"bucket", &set.bucket},       /* numbers */
    {"in_flight", &set.in_flight}, /* operations at once */
    {"memory", &set.memory},       /* bytes a second of one core */
    {"cores", &set.cores},         /* of a machine */
    {"cpu_byte", &set.cpu_byte},   /* seconds of a core for a byte sent or received */
    {"slice", &set.slice},         /* seconds of computing between two polls of what is in flight */
    {"nap", &set.nap},             /* seconds between two polls of a rank that waits */
    {"gather_bytes", &set.gather_bytes}, /* of a number: 4, or 2 in bf16 */
};
#define SETTING_COUNT (sizeof SETTINGS / sizeof *SETTINGS)

static int rank, ranks;
static double busy_until, debt; /* of the communication thread; seconds of computing that it has taken */
static rank_exchange *engine;

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Computing, too, is only sleep: one rank has a machine to itself, and SimGrid keeps a record of each smpi_execute_flops, through
 * which it goes at every message. */
static void pass_time(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    smpi_nanosleep(&t, NULL);
}

/* The communication thread takes so long, of one core. */
static void take_core(double seconds)
{
    double now = MPI_Wtime();
    busy_until = (busy_until > now ? busy_until : now) + seconds;
    debt += seconds / set.cores;
}

static void simulated_add(size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y)
{
    (void)a, (void)b, (void)y;
    take_core((double)n * ADD_BYTES / set.memory);
}

/* smpicc has another malloc, which the files of src/base do not stand. */
void *memory_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void memory_aligned_free(void *memory)
{
    free(memory);
}

/* rank_exchange_new looks for kernels, of which it needs none here. */
const kernels *kernels_active(rapt_error *err)
{
    static const kernels none = {0};
    (void)err;
    return &none;
}

/* In place of MPI_Init_thread, in mpi_transport.c: SMPI has one thread a rank, which is as good. */
int simulated_init_thread(int *argc, char ***argv, int wanted, int *level)
{
    *level = wanted;
    return MPI_Init(argc, argv);
}

/* ---- messages that begin when the communication thread is free -------------------------------------------------- */

typedef struct message {
    bool used, waits, receives;
    int peer, tag, inner; /* inner: MPI's request */
    void *data;
    size_t bytes;
} message;

static message messages[MAX_MESSAGES];
static const rapt_transport *mpi;

static rapt_code message_begin(message *m, rapt_error *err)
{
    m->waits = false;
    return m->receives ? mpi->receive(mpi->context, m->peer, m->tag, m->data, m->bytes, &m->inner, err)
                       : mpi->send(mpi->context, m->peer, m->tag, m->data, m->bytes, &m->inner, err);
}

static rapt_code message_add(message m, int *request, rapt_error *err)
{
    int i = 0;
    while (i < MAX_MESSAGES && messages[i].used)
        i++;
    if (i == MAX_MESSAGES)
        return rapt_fail(err, RAPT_ERR_MEMORY, "more than %d messages", MAX_MESSAGES);
    if (set.cpu_byte > 0)
        take_core((double)m.bytes * set.cpu_byte);
    messages[i] = m;
    *request = i;
    return MPI_Wtime() < busy_until ? RAPT_OK : message_begin(&messages[i], err);
}

static rapt_code delayed_send(void *context, int peer, int tag, const void *data, size_t bytes, int *request, rapt_error *err)
{
    (void)context;
    return message_add((message){true, true, false, peer, tag, -1, (void *)data, bytes}, request, err);
}

static rapt_code delayed_receive(void *context, int peer, int tag, void *data, size_t bytes, int *request, rapt_error *err)
{
    (void)context;
    return message_add((message){true, true, true, peer, tag, -1, data, bytes}, request, err);
}

static rapt_code delayed_test(void *context, int request, bool *done, rapt_error *err)
{
    message *m = &messages[request];
    rapt_code code = RAPT_OK;
    (void)context;
    *done = false;
    if (m->waits)
        code = message_begin(m, err);
    if (!code)
        code = mpi->test(mpi->context, m->inner, done, err);
    m->used = !*done;
    return code;
}

/* ---- computing beside the exchange ------------------------------------------------------------------------------ */

static void poll_exchange(void)
{
    rapt_error err = {0};
    bool moved = true;
    while (moved && MPI_Wtime() >= busy_until)
        if (rank_exchange_poll(engine, &moved, &err)) {
            fprintf(stderr, "%s\n", err.message);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void compute(double seconds)
{
    while (seconds > 1e-12 || debt > 0) {
        double now = seconds < set.slice || rank_exchange_open(engine) == 0 ? seconds : set.slice;
        seconds -= now;
        now += debt;
        debt = 0;
        pass_time(now);
        poll_exchange();
    }
}

static void wait_for(const group_op *op)
{
    while (!op->done) {
        pass_time(set.nap);
        poll_exchange();
        debt = 0; /* nobody computes */
    }
}

/* ---- the step --------------------------------------------------------------------------------------------------- */

/* A part of the model's numbers; when a pass needs it, and when its gradient is final, as shares of the pass. */
typedef struct bucket {
    size_t numbers;
    double needed, final;
    size_t *bounds;
    rapt_real *memory;
    group_op reduce, gather;
} bucket;

static bucket buckets[MAX_BUCKETS]; /* in the order of the forward pass */
static rapt_real *numbers;          /* of all buckets, and of all ranks: what they are is no matter */
static int bucket_count, backward_order[MAX_BUCKETS];

static void add_buckets(double size, double needed, double needed_end, double final, double final_end)
{
    int count = (int)ceil(size / set.bucket);
    for (int i = 0; i < count; i++) {
        bucket *b = &buckets[bucket_count++];
        b->numbers = (size_t)(size / count);
        b->needed = needed + (needed_end - needed) * i / count;
        b->final = final + (final_end - final) * (count - i) / count;
        b->bounds = malloc(((size_t)ranks + 1) * sizeof *b->bounds);
        for (int r = 0; r <= ranks; r++)
            b->bounds[r] = (size_t)r * b->numbers / (size_t)ranks;
        b->memory = numbers;
    }
}

static int by_final(const void *a, const void *b)
{
    int i = *(const int *)a, j = *(const int *)b;
    double x = buckets[i].final, y = buckets[j].final;
    return x < y ? -1 : x > y ? 1 : j - i;
}

/* Layers are read evenly and their gradients become final evenly, backwards. A tied embedding is read at the beginning, and is
 * the output layer, too, which is the end of the forward pass; its gradient is final at the end. */
static void make_buckets(void)
{
    double layers = 1 - set.tied / set.params;
    numbers = SMPI_SHARED_MALLOC((size_t)set.bucket * sizeof(rapt_real) + 64);
    if (set.tied > 0)
        add_buckets(set.tied, 0, 0, 1, 1);
    add_buckets(set.params - set.tied, 0, layers, 1 - layers, 1);
    for (int i = 0; i < bucket_count; i++)
        backward_order[i] = i;
    qsort(backward_order, (size_t)bucket_count, sizeof *backward_order, by_final);
}

static void forward(double seconds, bool waits)
{
    double at = 0;
    for (int i = 0; waits && i < bucket_count; i++) {
        compute((buckets[i].needed - at) * seconds);
        at = buckets[i].needed;
        wait_for(&buckets[i].gather);
    }
    compute((1 - at) * seconds);
}

static void backward(double seconds)
{
    double at = 0;
    for (int i = 0; i < bucket_count; i++) {
        bucket *b = &buckets[backward_order[i]];
        compute((b->final - at) * seconds);
        at = b->final;
        b->reduce = (group_op){.rank = rank, .size = ranks, .bounds = b->bounds, .parts = &b->memory, .shards = (uint32_t)ranks};
        rank_exchange_prepare_reduce(&b->reduce);
        rank_exchange_begin(engine, &b->reduce);
    }
}

/* Sums of squares of the blocks that each rank owns, to all. */
static void share_norm(void *memory)
{
    size_t bytes = (size_t)ceil(set.params / NORM_BLOCK / ranks) * sizeof(double);
    group_op op = {.rank = rank, .size = ranks, .data = memory, .size_of = bytes, .natural = true, .small = true};
    rank_exchange_prepare_gather(&op);
    rank_exchange_begin(engine, &op);
    wait_for(&op);
}

static void optimize(void)
{
    for (int i = 0; i < bucket_count; i++) {
        bucket *b = &buckets[i];
        compute((double)b->numbers / ranks * ADAM_BYTES / (set.memory * fmin(set.cores, 8)));
        b->gather = (group_op){.rank = rank, .size = ranks, .data = (char *)b->memory, .bounds = b->bounds,
                               .size_of = (size_t)set.gather_bytes};
        rank_exchange_prepare_gather(&b->gather);
        rank_exchange_begin(engine, &b->gather);
    }
}

static void simulated_step(bool first, void *norms)
{
    double pass = 2 * set.params * set.tokens / set.flops / set.passes; /* a forward pass; a backward pass takes twice that */
    for (int i = 0; i < (int)set.passes; i++) {
        forward(pass, !first && i == 0);
        if (i < (int)set.passes - 1)
            compute(2 * pass);
        else
            backward(2 * pass);
    }
    for (int i = 0; i < bucket_count; i++)
        wait_for(&buckets[backward_order[i]].reduce);
    share_norm(norms);
    optimize();
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

static void read_settings(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t length = strcspn(argv[i], "="), k = 0;
        while (k < SETTING_COUNT && (strncmp(SETTINGS[k].name, argv[i], length) != 0 || SETTINGS[k].name[length]))
            k++;
        if (k == SETTING_COUNT || argv[i][length] != '=') {
            fprintf(stderr, "there is no setting %s\n", argv[i]);
            exit(2);
        }
        *SETTINGS[k].value = strtod(argv[i] + length + 1, NULL);
    }
}

static void *shared_memory(size_t bytes)
{
    return SMPI_SHARED_MALLOC(bytes);
}

static void leave_memory(void *memory)
{
    SMPI_SHARED_FREE(memory);
}

static void print_result(double step, double sent)
{
    double adam = set.params * ADAM_BYTES / (set.memory * fmin(set.cores, 8));
    double alone = 6 * set.params * set.tokens / set.flops + adam;
    double bound = (double)(ranks - 1) / ranks * set.params * (4 + set.gather_bytes);
    printf("{\"ranks\": %d, \"params\": %.0f, \"tokens\": %.0f, \"step_ms\": %.2f, \"alone_ms\": %.2f, \"efficiency\": %.4f, "
           "\"sent_mb\": %.2f, \"bound_mb\": %.2f, \"tok_s\": %.0f}\n", ranks, set.params, set.tokens, 1e3 * step, 1e3 * alone,
           alone / step, sent * 1e-6, bound * 1e-6, set.tokens * ranks / step);
}

int main(int argc, char **argv)
{
    rapt_error err = {0};
    read_settings(argc, argv);
    mpi = mpi_transport();
    if (mpi->open(mpi->context, &rank, &ranks, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    rapt_transport delayed = *mpi;
    delayed.send = delayed_send;
    delayed.receive = delayed_receive;
    delayed.test = delayed_test;
    rank_exchange_options options = {.in_flight = (int)set.in_flight, .add = simulated_add, .allocate = shared_memory,
                                .release = leave_memory};
    engine = rank_exchange_new(&delayed, rank, ranks, &options, &err);
    make_buckets();
    void *norms = SMPI_SHARED_MALLOC((size_t)(set.params / NORM_BLOCK + ranks) * 16);
    double start = 0;
    uint64_t sent = 0;
    for (int i = 0; i < STEPS; i++) {
        if (i == 1) {
            start = MPI_Wtime();
            sent = rank_exchange_counted(engine).sent;
        }
        simulated_step(i == 0, norms);
    }
    double end = MPI_Wtime();
    if (rank == 0)
        print_result((end - start) / (STEPS - 1), (double)(rank_exchange_counted(engine).sent - sent) / (STEPS - 1));
    for (int i = 0; i < bucket_count; i++)
        wait_for(&buckets[i].gather);
    mpi->close(mpi->context);
    return 0;
}

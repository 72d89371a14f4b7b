/* tests/group/transport_ranks.c: a rank of check_mpi.sh: `mpirun -n P transport_ranks MODULE [abort]` sends messages of several
 * sizes and tags from each rank to each through a module's transport, in a thread that is not the first, and checks what comes.
 * Rank 0 prints the transport's name and the number of ranks; the exit status says whether all was right. With `abort` rank 1
 * ends all of them with status 3 while they wait for it. */
#include "rapt/group.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZES 4
#define MOST_RANKS 8

static const size_t SIZE[SIZES] = {0, 1, 1000, (size_t)1 << 20};
static const int TAG[SIZES] = {0, 1, 7, 32767};

typedef struct ranks {
    const rapt_transport *t;
    bool aborts;
    int rank, size, wrong;
    unsigned char *out[MOST_RANKS][SIZES], *in[MOST_RANKS][SIZES];
} ranks;

static unsigned char byte_of(int from, int to, int which, size_t i)
{
    return (unsigned char)(from * 131 + to * 31 + which * 7 + (int)(i * 2654435761u >> 13));
}

__attribute__((noreturn)) static void die(const ranks *r, const char *what)
{
    fprintf(stderr, "rank %d: %s\n", r->rank, what);
    _exit(1);
}

static void need(const ranks *r, rapt_code code, const rapt_error *err)
{
    if (code)
        die(r, err->message);
}

static void wait_for(const ranks *r, int request)
{
    rapt_error err = {0};
    for (bool done = false; !done;)
        need(r, r->t->test(r->t->context, request, &done, &err), &err);
}

/* All at once; receives are begun in another order than sends. */
static void exchange(ranks *r)
{
    int requests[2 * MOST_RANKS * SIZES], count = 0;
    rapt_error err = {0};
    for (int other = 0; other < r->size; other++)
        for (int k = 0; k < SIZES && other != r->rank; k++) {
            unsigned char *out = r->out[other][k] = malloc(SIZE[k] + 1);
            r->in[other][k] = calloc(1, SIZE[k] + 1);
            for (size_t i = 0; i < SIZE[k]; i++)
                out[i] = byte_of(r->rank, other, k, i);
            need(r, r->t->send(r->t->context, other, TAG[k], out, SIZE[k], &requests[count++], &err), &err);
        }
    for (int other = r->size - 1; other >= 0; other--)
        for (int k = SIZES - 1; k >= 0 && other != r->rank; k--)
            need(r, r->t->receive(r->t->context, other, TAG[k], r->in[other][k], SIZE[k], &requests[count++], &err), &err);
    for (int i = 0; i < count; i++)
        wait_for(r, requests[i]);
}

static void compare(ranks *r)
{
    for (int other = 0; other < r->size; other++)
        for (int k = 0; k < SIZES && other != r->rank; k++) {
            for (size_t i = 0; i < SIZE[k]; i++)
                r->wrong += r->in[other][k][i] != byte_of(other, r->rank, k, i);
            free(r->in[other][k]);
            free(r->out[other][k]);
        }
}

/* Two messages of one tag arrive in the order of their sending; one that is shorter than expected is an error. */
static void between_neighbors(ranks *r)
{
    int to = (r->rank + 1) % r->size, from = (r->rank + r->size - 1) % r->size, requests[6];
    char first[8] = "first", second[8] = "second", in[3][8] = {"", "", ""};
    rapt_error err = {0};
    const rapt_transport *t = r->t;
    need(r, t->send(t->context, to, 3, first, 8, &requests[0], &err), &err);
    need(r, t->send(t->context, to, 3, second, 8, &requests[1], &err), &err);
    need(r, t->send(t->context, to, 4, first, 5, &requests[2], &err), &err);
    need(r, t->receive(t->context, from, 3, in[0], 8, &requests[3], &err), &err);
    need(r, t->receive(t->context, from, 3, in[1], 8, &requests[4], &err), &err);
    need(r, t->receive(t->context, from, 4, in[2], 8, &requests[5], &err), &err);
    for (int i = 0; i < 5; i++)
        wait_for(r, requests[i]);
    if (strcmp(in[0], first) != 0 || strcmp(in[1], second) != 0)
        die(r, "messages of one tag are out of order");
    rapt_code code = RAPT_OK;
    for (bool done = false; !done && !code;)
        code = t->test(t->context, requests[5], &done, &err);
    if (code != RAPT_ERR_FORMAT || !strstr(err.message, "5 bytes, not 8"))
        die(r, "a message that is too short goes unnoticed");
}

static void *communicate(void *context)
{
    ranks *r = context;
    rapt_error err = {0};
    need(r, r->t->open(r->t->context, &r->rank, &r->size, &err), &err);
    if (r->size > MOST_RANKS)
        die(r, "too many ranks");
    if (r->aborts && r->rank == 1)
        r->t->abort(r->t->context, 3);
    for (;r->aborts;) /* until rank 1 has ended this, too */
        r->t->progress(r->t->context);
    for (int i = 0; i < 3; i++) {
        exchange(r);
        compare(r);
    }
    if (r->size > 1)
        between_neighbors(r);
    r->t->close(r->t->context);
    return NULL;
}

int main(int argc, char **argv)
{
    ranks r = {.aborts = argc > 2};
    pthread_t thread;
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const rapt_transport *(*transport)(void) = NULL;
    if (module)
        *(void **)&transport = dlsym(module, "mpi_transport");
    if (!transport) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: transport_ranks MODULE [abort]");
        return 2;
    }
    r.t = transport();
    pthread_create(&thread, NULL, communicate, &r);
    pthread_join(thread, NULL);
    if (r.rank == 0)
        printf("%s, %d ranks\n", r.t->name, r.size);
    if (r.wrong)
        die(&r, "bytes that were not sent");
    return 0;
}

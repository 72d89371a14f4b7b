/* examples/ranks.c: one training run shared by ranks, which are threads of this process here; their messages go through memory.
 * Processes on several machines do the same with a transport of their own.  Usage: ranks RECIPE.yaml FOLDER RANKS */
#include <rapt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 64 };

typedef struct rank {
    pthread_t thread;
    const rapt_transport *transport; /* of this rank */
    rapt_train_options options;
    rapt_error err;
} rank;

static void show_progress(void *context, const rapt_progress *p)
{
    (void)context;
    if (p->report)
        printf("step %llu: loss %.4f\n", (unsigned long long)p->step, p->loss);
}

static void *train_rank(void *argument)
{
    rank *r = argument;
    r->options.group = rapt_group_new(r->transport, NULL, &r->err); /* waits for all ranks */
    if (r->options.group && rapt_train(&r->options, &r->err) && strncmp(r->err.message, "rank ", 5) != 0)
        rapt_group_abort(r->options.group, 1); /* only this rank has failed, and the others would wait for it */
    else
        rapt_group_free(r->options.group); /* all have the same result, and the same message */
    return NULL;
}

/* The first failure, or a code of RAPT_OK. */
static rapt_error train(const rapt_recipe *recipe, const char *out, int ranks)
{
    static rank list[RANKS_MAX];
    rapt_error err = {0};
    rapt_transport *transports = rapt_group_local(ranks, &err);
    for (int i = 0; transports && i < ranks; i++) {
        list[i].transport = &transports[i];
        rapt_train_options *o = &list[i].options;
        *o = rapt_train_options_default();
        o->recipe = recipe, o->out = out, o->threads = 1, o->on_progress = show_progress;
        if (pthread_create(&list[i].thread, NULL, train_rank, &list[i])) {
            fputs("cannot start a thread\n", stderr);
            exit(1); /* the others would wait for this one */
        }
    }
    for (int i = 0; transports && i < ranks; i++) {
        pthread_join(list[i].thread, NULL);
        if (!err.code)
            err = list[i].err;
    }
    rapt_group_local_free(transports);
    return err;
}

int main(int argc, char **argv)
{
    int ranks = argc == 4 ? atoi(argv[3]) : 0;
    if (ranks < 1 || ranks > RANKS_MAX)
        return 2;
    rapt_error err = {0};
    rapt_recipe recipe;
    if (!rapt_recipe_read(argv[1], &recipe, &err))
        err = train(&recipe, argv[2], ranks);
    rapt_recipe_free(&recipe);
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    return err.code != RAPT_OK;
}

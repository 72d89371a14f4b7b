/* serve/module/served_load.h: loads the models of a server's options into an engine, and frees them. For app.c. */
#ifndef SERVE_MODULE_SERVED_LOAD_H
#define SERVE_MODULE_SERVED_LOAD_H

#include "rapt/base.h"

#include "serve/module/served.h"
#include "serve/serve.h"

#include <stdatomic.h>

/* The owner of a served_set, with its count of references. */
typedef struct served_set_owner {
    served_set set;
    atomic_size_t references;
    /* Called with the set when the last reference is gone, by the thread that had it. That may be the engine's thread, which must
     * not remove models: so it puts the set aside for served_free. */
    void (*retire)(void *context, served_set *set);
    void *context;
    struct served_set_owner *next; /* for a list of sets that are put aside */
} served_set_owner;

/* What the owner of a set learns of it. */
typedef struct served_events {
    void (*retire)(void *context, served_set *set); /* as in served_set_owner */
    void (*warn)(void *context, const char *message); /* of a part that was left out: a chat template that cannot be read */
    void (*damaged)(void *context, const char *message); /* a model cannot be used any more; from any thread, once */
    void *context;
} served_events;

/* Loads all models of the options, or none: NULL with `err` set. */
served_set *served_load(const serve_options *o, rapt_engine *engine, const served_events *events, rapt_error *err);
/* Frees a set without references. `engine_is_gone`: its models are freed already. NULL is fine. */
void served_free(served_set *set, bool engine_is_gone);

/* ---- fingerprint.c: a number that identifies a model with everything that changes its results, so that a client can tell
 * whether two responses came from the same model. For served_load.c. */

/* XXH3 of these bytes, as 16 hexadecimal digits: a folder's (or GGUF file's) parameter files, its configurations and tokenizers,
 * the model under a folder of adapters, `number_format`, and the `options` that change results. *created: when the newest of the
 * files was written, in seconds since 1970. Reads the files once. RAPT_ERR_NOT_FOUND, RAPT_ERR_IO, RAPT_ERR_FORMAT. */
rapt_code fingerprint_of(const char *folder, const char *number_format, const char *options, char text[17], int64_t *created,
                         rapt_error *err);

#endif

/* serve/module/map_watch.h: models whose files somebody truncates while they are mapped. The system answers a read behind the end
 * of a mapped file, or one that the disk refuses, with SIGBUS, which would end the server and all other models with it. The
 * handler puts pages of zeros in place of the missing ones, and marks the model before: so whoever asks map_watch_damage after
 * computing knows whether zeros can have been read. A file that is truncated within its last page has zeros there without a
 * signal, as any file that is changed in place gives other results. For served_load.c and server.c. */
#ifndef SERVE_MODULE_MAP_WATCH_H
#define SERVE_MODULE_MAP_WATCH_H

#include "rapt/io.h"

typedef struct map_watch map_watch;

/* From now on watched models do not end the process; other causes of SIGBUS have the effect that they had before. */
void map_watch_install(void);
/* Watches the files of a model, which `name` names in messages. `tell` is called once with the message, by the first who asks for
 * the damage. NULL with `err` set: out of memory, or too many files are watched. */
map_watch *map_watch_new(const rapt_model *m, const char *name, void (*tell)(void *context, const char *message), void *context,
                         rapt_error *err);
/* "the model "a" cannot be used: its file model.safetensors was truncated or cannot be read", or NULL if it is sound. A fault of
 * rapt_engine_model_options: any thread, cheap. */
const char *map_watch_damage(void *watch);
/* Before the model is freed, when nothing reads it any more. NULL is fine. A fault_free of rapt_engine_model_options. */
void map_watch_free(void *watch);

#endif

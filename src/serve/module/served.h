/* serve/module/served.h: the models that the server serves, by name. A reload replaces all of them together; requests that have
 * begun keep their model. */
#ifndef SERVE_MODULE_SERVED_H
#define SERVE_MODULE_SERVED_H

#include "rapt/chat.h"
#include "rapt/engine.h"
#include "serve/module/map_watch.h"
#include "text/chat/tool_format.h"

#include <jansson.h>

/* One model. Const once loaded, shared by threads. */
typedef struct served {
    char *name;                 /* as requests call it: "en-fr", "gpt2" */
    char *path;                 /* path of its folder or file, as on the command line */
    char *source, *target;      /* codes of languages, from a NAME such as "en-fr" or from the configuration; NULL: unknown */
    rapt_task task;
    rapt_engine_model *model;   /* the engine's model */
    map_watch *watch;           /* of its files; freed with the engine's model. NULL: none */
    rapt_chat_template *chat;   /* NULL: the folder has no template */
    tool_format tools;          /* of the template */
    char fingerprint[17];       /* fingerprint.c: 16 hexadecimal digits */
    const char *number_format;  /* "fp32", "bf16", or the types of --weights */
    int64_t created;            /* when its files were written, in seconds since 1970 */
    bool no_replay;             /* responses have no X-Rapt-Replay */
    char *options;              /* options of the command line that change its results, quoted for a shell: "--weights q8_0";
                                   "" */
} served;

/* A set of models that were loaded together. */
typedef struct served_set {
    served *models; /* [count] in the order of the command line */
    size_t count;
    struct served_set_owner *owner; /* its references */
} served_set;

/* The model with this name; NULL: there is none. */
const served *served_named(const served_set *set, const char *name);
/* The first model of a task; NULL: there is none. */
const served *served_first(const served_set *set, rapt_task task);
/* The translation model from one language to another; `source` NULL or "auto": any. Codes compare without case; "en-US" fits "en"
 * if no model fits exactly. NULL: there is none. */
const served *served_pair(const served_set *set, const char *source, const char *target);

/* Adds what a list of languages says of a model that translates. False: out of memory. */
typedef bool served_pair_fn(json_t *list, const char *source, const char *target);
/* A list to which all translation models whose languages are known are added; releases the set. NULL: out of memory. */
json_t *served_list_pairs(served_set *set, served_pair_fn *add);

/* Why the model cannot be used any more: a file of it was truncated while it is mapped. NULL: it can. */
const char *served_damage(const served *s);

/* A reference more, or less: the last one removes the models from the engine. */
served_set *served_hold(served_set *set);
void served_release(served_set *set);

#endif

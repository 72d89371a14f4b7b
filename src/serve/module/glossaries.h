/* serve/module/glossaries.h: glossaries that clients have made, in memory until they are deleted or the server ends. For
 * deepl_glossaries.c and deepl.c. */
#ifndef SERVE_MODULE_GLOSSARIES_H
#define SERVE_MODULE_GLOSSARIES_H

#include "rapt/glossary.h"

#include <stdint.h>

enum { GLOSSARY_ID = 37, GLOSSARY_CODE = 24, GLOSSARY_OWNER = 64 };
/* What an owner, and all owners together, may keep. */
enum { GLOSSARIES_EACH = 100, GLOSSARIES_ALL = 1000, GLOSSARIES_EACH_BYTES = 32 << 20, GLOSSARIES_ALL_BYTES = 128 << 20 };

typedef struct glossaries glossaries;

typedef struct kept_glossary {
    char id[GLOSSARY_ID];       /* a UUID of random numbers */
    char owner[GLOSSARY_OWNER]; /* the name of the owner of the key that made it; "": none */
    char source[GLOSSARY_CODE], target[GLOSSARY_CODE]; /* codes of languages in lower case, without a country */
    char *name;
    rapt_glossary *terms;
    size_t bytes;               /* that it takes, roughly */
    int64_t created;            /* seconds since 1970 */
    /* private */
    glossaries *of;
    size_t references;
} kept_glossary;

/* NULL: out of memory. No reference may be left when they are freed; NULL is fine. */
glossaries *glossaries_new(void);
void glossaries_free(glossaries *g);
/* Keeps a copy of *one, whose `name` and `terms` belong to the list after success, and sets its id and time. A reference, to be
 * released; NULL: *why says what there is too much of, or NULL: out of memory. */
const kept_glossary *glossaries_add(glossaries *g, const kept_glossary *one, const char **why);
/* A reference to the owner's glossary with this id; NULL: there is none. */
const kept_glossary *glossaries_find(glossaries *g, const char *owner, const char *id);
void glossaries_release(const kept_glossary *one); /* NULL is fine */
/* Takes it out of the list; requests that use it keep it until they end. False: there is none. */
bool glossaries_remove(glossaries *g, const char *owner, const char *id);
/* The part of a language's code before a country, in lower case; it may be cut. In deepl_glossaries.c. */
void glossary_language(const char *code, char out[GLOSSARY_CODE]);
/* Calls each(context, one) for the owner's, in the order of their making, under a lock. */
void glossaries_each(glossaries *g, const char *owner, void (*each)(void *context, const kept_glossary *one), void *context);

#endif

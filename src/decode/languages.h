/* decode/languages.h: the languages of a translation, where a model of Hugging Face knows several: which tokens a source begins
 * with, and which one the translation is forced to begin with. For translate.c. */
#ifndef DECODE_LANGUAGES_H
#define DECODE_LANGUAGES_H

#include "rapt/decode.h"

typedef struct languages {
    int32_t begin[RAPT_SOURCE_BEGIN_MAX + 1]; /* [count] tokens before a source */
    size_t count;
    int32_t forced;            /* the language that a translation begins with, where options name it */
    rapt_search_policy policy; /* the model's, with that token; its arrays are the model's and `forced`, so that *this stays */
} languages;

/* What the options ask for; without options what the model's folder says. RAPT_ERR_VALUE: the model has no such language, or no
 * languages, or translates to one that nobody named. */
rapt_code languages_set(languages *l, const rapt_model *m, const rapt_translate_options *o, rapt_error *err);

/* The language ">>xyz<<" that the line of a Marian model begins with: *size bytes, 0 where there is none, and its token.
 * RAPT_ERR_VALUE where the model has no such language: it would be read as <unk>. */
rapt_code languages_of_line(const rapt_model *m, const char *line, int32_t *token, size_t *size, rapt_error *err);

#endif

/* decode/languages.h: the languages of a translation, for Hugging Face models with several: the tokens that begin a source, and
 * the token that a translation is forced to begin with. For translate.c. */
#ifndef DECODE_LANGUAGES_H
#define DECODE_LANGUAGES_H

#include "rapt/decode.h"

typedef struct languages {
    int32_t begin[RAPT_SOURCE_BEGIN_MAX + 1]; /* [count] tokens before a source */
    size_t count;
    int32_t forced;            /* the language with which a translation begins, if options name it */
    rapt_search_policy policy; /* the model's, with that token; its arrays are the model's and `forced`, so that *this stays */
} languages;

/* Sets the languages that the options ask for, or else the languages of the model's folder. RAPT_ERR_VALUE: the model does not
 * have the language, or has no languages, or needs a target language that is not named. */
rapt_code languages_set(languages *l, const rapt_model *m, const rapt_translate_options *o, rapt_error *err);

/* The language ">>xyz<<" at the beginning of a line for a Marian model: *size bytes (0: there is none), and its token.
 * RAPT_ERR_VALUE: the model does not have the language; it would read it as <unk>. */
rapt_code languages_of_line(const rapt_model *m, rapt_text line, int32_t *token, size_t *size, rapt_error *err);

#endif

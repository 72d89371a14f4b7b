/* model.h: the handle of a loaded model, for the files with its methods. */
#ifndef RAPT_PYTHON_MODEL_H
#define RAPT_PYTHON_MODEL_H

#include "ext.h"

#include "rapt/chat.h"
#include "rapt/decode.h"
#include "rapt/markup.h"

typedef struct model {
    PyObject_HEAD
    rapt_model *model;
    PyObject *owner;           /* of `model`; NULL: closed */
    bool trainable;            /* its parameters are in memory and can be written: nothing that is made of them is kept */
    bool lent;                 /* by a trainer, which changes it */
    PyObject *options;         /* the dict that `compute` points into */
    rapt_compute compute;
    ext_mutex lock;            /* of the translator, and of the first use of the chat template */
    rapt_translator *translator; /* made by the first translation, with `compute`; NULL: none yet */
    size_t calls;              /* that are in progress without the lock */
    struct generation *idle;   /* a generator that waits for the next text with its options, or NULL */
    rapt_chat_template *chat;  /* of the model's folder; NULL: not loaded yet */
} model;

/* The model of a handle that is not closed, with a new reference to its owner in *hold, so that it cannot be closed meanwhile;
 * NULL with an exception set. */
rapt_model *model_hold(PyObject *self, PyObject **hold);

/* model_hold for a call of the library that does not take the lock: model_expire waits for its end. */
bool model_begin(PyObject *self, PyObject **hold);
void model_end(PyObject *self, PyObject *hold);

/* A handle without a model yet, with the options of a dict; NULL with an exception set. */
model *model_new(const ext_state *s, PyObject *options);
/* Gives the handle the model that was loaded for it, NULL with `err` set after a failure; returns the handle, or NULL with an
 * exception set. */
PyObject *model_take(const ext_state *s, model *m, rapt_model *loaded, const rapt_error *err);
/* A handle of a model that `under` keeps alive and may change: it is to be expired before. */
PyObject *model_view(const ext_state *s, rapt_model *m, int threads, PyObject *under);

/* Takes "glossary" out of a dict: None, or a tuple of sources, each before its target. The caller frees *g, which may be NULL,
 * also after a failure. */
int translate_glossary_read(const ext_state *s, PyObject *dict, rapt_glossary **g);
/* Options of translations from a dict. */
int translate_options_read(PyObject *dict, rapt_translate_options *o);
/* A list of tuples, of what was translated with these options. */
PyObject *translations_list(const ext_state *s, const rapt_translation *t, size_t count, const rapt_translate_options *o);

/* ---- documents.c: texts that are documents of HTML or XML. */

typedef struct documents {
    rapt_markup **list; /* [count] */
    size_t count;
    rapt_text *lines;   /* [line_count] of all; NULL: the texts are no documents */
    size_t line_count;
} documents;

/* Takes "markup" out of a dict: None, or a tuple of what documents.c names; the texts are documents then. The caller frees *d,
 * which is zeroed before, also after a failure. -1: an exception is set. */
int documents_read(const ext_state *s, PyObject *dict, const ext_texts *texts, documents *d);
void documents_free(documents *d);
/* A list of tuples like translations_list, from the translations of all lines. */
PyObject *documents_list(const ext_state *s, const documents *d, const rapt_translation *lines);

/* The methods, by file. */
PyObject *model_translate(PyObject *self, PyObject *args);
PyObject *model_save(PyObject *self, PyObject *path);
PyObject *model_save_config(PyObject *self, PyObject *path);
PyObject *model_export(PyObject *self, PyObject *args);
PyObject *model_load_state(PyObject *self, PyObject *args);
PyObject *model_generate(PyObject *self, PyObject *args);
PyObject *model_stream(PyObject *self, PyObject *args);
PyObject *model_next_token(PyObject *self, PyObject *args);
PyObject *model_chat_prompt(PyObject *self, PyObject *args);
PyObject *model_chat_calls(PyObject *self, PyObject *args);
PyObject *model_score(PyObject *self, PyObject *args);
PyObject *model_score_pairs(PyObject *self, PyObject *args);
PyObject *model_pairs_loss(PyObject *self, PyObject *args);
PyObject *model_book(PyObject *self, PyObject *unused);
PyObject *model_loss(PyObject *self, PyObject *args);
PyObject *model_embed(PyObject *self, PyObject *args);
PyObject *model_rerank(PyObject *self, PyObject *args);
PyObject *model_explain(PyObject *self, PyObject *args);
PyObject *model_heads(PyObject *self, PyObject *unused);
PyObject *model_without_heads(PyObject *self, PyObject *names);

#endif

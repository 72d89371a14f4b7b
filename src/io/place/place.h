/* io/place/place.h: which tensor of a file holds which parameter. One language for the tables of all containers (Hugging Face
 * folders, GGUF files, CTranslate2 folders), and the same rows for both directions. For the tables of families, and for code that
 * makes parameters of tensors and tensors of parameters. */
#ifndef IO_PLACE_PLACE_H
#define IO_PLACE_PLACE_H

#include "io/place/place_slice.h"
#include "rapt/nn.h"

enum { PLACE_NAME = 256, PLACE_PARTS_MAX = 3 }; /* PLACE_PARTS_MAX: parameters of one tensor */

/* How a tensor holds a parameter: at most one part, and any of the others. Each works in both directions. */
enum {
    /* The part of the tensor that is the parameter. 0: all of it. Rows of a joint tensor stand one after the other. */
    PLACE_QUERY = 1, /* rows of [queries, keys, values] */
    PLACE_KEY,
    PLACE_VALUE,
    PLACE_FIRST_HALF,
    PLACE_SECOND_HALF,
    PLACE_HEAD_QUERY, /* rows of queries in [heads, 3, features] */
    PLACE_HEAD_KEY,
    PLACE_HEAD_VALUE,
    PLACE_ONE_ROW,    /* a vector that is stored as a matrix of one row; it is zeros if one side lacks it */
    PLACE_BEHIND_TWO, /* all rows except the first two, which are zeros */
    PLACE_PART = 15,  /* mask of the above */

    /* How its values are stored. */
    PLACE_TRANSPOSED = 16,  /* weights are [in, out], as GPT-2's Conv1D has them */
    PLACE_PLUS_ONE = 32,    /* the norm multiplies by 1 + weight */
    PLACE_ROTARY = 64,      /* rows are features of heads, of which the first are rotated, in other pairs than rapt's */
    PLACE_INTERLEAVED = 128, /* rows are features of heads, rotated in pairs of adjacent features, as in GGUF files of Llama */

    /* A parameter is read from the first of its rows' tensors that is in the files; the others must be copies. It is written as
     * the tensor of its first row, except: */
    PLACE_READ = 256,  /* the tensor is read if it is there, never written */
    PLACE_TWICE = 512, /* a copy, which is written as well if the matrix stands for the one that the name is of */
    PLACE_TIED = 1024  /* the tensor is written only if all embeddings and the output are one matrix */
};

/* Patterns of names: "#" is the number of a layer; "@" is "weight" or "bias", as is "%", for the name of a norm's tensor, which
 * then ends with "gamma" or "beta". A "/" at the beginning: without the prefix. A whole tensor belongs to the first row with its
 * name whose parameter the model has. */
typedef struct place_row {
    const char *ours, *theirs;
    unsigned how;
} place_row;

/* The tensors of a model type in a container. */
typedef struct place_table {
    const place_row *rows;    /* {0} ends them. They are written in this order */
    const char *const *unused; /* patterns of tensors that hold no parameters; NULL ends them; NULL: there are none */
    const char *prefix;        /* of names; files of a model without a head lack it. NULL: none */
    bool biased;               /* each "@" has a bias: written as zeros if the model has none */
} place_table;

/* A model whose files have such tensors. */
typedef struct place_model {
    const place_table *of;
    const char *type; /* for messages: "llama" */
    const rapt_params *params;
    const rapt_block_config *block; /* with defaults in place; it decides the rows of a joint matrix */
} place_model;

/* The values of "#" and "@" in a pattern. */
typedef struct place_match {
    char layer[24];
    const char *last; /* "weight" or "bias" */
} place_match;

/* Writes a pattern with its values in place. */
void place_expand(const char *pattern, const place_match *m, char name[PLACE_NAME]);

/* The row after `last` (NULL: the first one) for a parameter; NULL: there is no other. */
const place_row *place_next(const place_model *of, const place_row *last, const char *ours, place_match *m);
/* The name of a row's tensor: `bare`, as files of a model without head have it, and `whole`, with the prefix. */
void place_name(const place_model *of, const place_row *n, const place_match *m, char bare[PLACE_NAME],
                 char whole[PLACE_NAME]);
/* Whether a tensor of this name holds no parameters. */
bool place_is_unused(const place_model *of, const char *name);

/* The shape of the tensor that a row says to hold a parameter of the shape of `ours`; the number of dimensions. */
int place_shape(const place_model *of, const place_row *n, const rapt_tensor *ours, size_t shape[2]);
/* The part of that tensor that is the parameter. To read it, the caller sets `w` and `t`. */
place_slice place_slice_of(const place_model *of, const place_row *n, const rapt_tensor *ours);

#endif

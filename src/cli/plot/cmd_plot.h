/* cli/plot/cmd_plot.h: options and output of the subcommands of `rapt plot`. */
#ifndef CLI_PLOT_CMD_PLOT_H
#define CLI_PLOT_CMD_PLOT_H

#include "rapt/base.h"
#include "rapt/io.h"

#include "cli/options/options.h"
#include "decode/known_words.h"
#include "view/draw.h"

/* The subcommands. argv[0] is "rapt plot SUBCOMMAND"; each returns the exit status. */
int plot_attention(int argc, char **argv);
int plot_positions(int argc, char **argv);
int plot_similarity(int argc, char **argv);
int plot_embedding(int argc, char **argv);
int plot_training(int argc, char **argv);
int plot_table(int argc, char **argv);
extern const cli_command plot_attention_command, plot_positions_command, plot_similarity_command, plot_embedding_command,
    plot_training_command, plot_table_command;

/* ---- options of all subcommands ---------------------------------------------------------------------------- */

typedef struct plot_options {
    const char *out; /* NULL: print the numbers */
    const char *title, *x, *y, *bar;
    double low, high;
    bool data, has_low, has_high;
} plot_options;

/* Tables whose fields are in a plot_options. The second one also has --low and --high, for heat maps. */
extern const cli_option plot_options_rows[], plot_range_rows[];
/* Call it after all options. */
void plot_options_finish(plot_options *o);

/* ---- what comes out: pictures, or with --data numbers to stdout -------------------------------------------- */

/* `title` is above all maps; options override titles. The labels of the maps are changed. */
rapt_code plot_heat_maps(const plot_options *o, draw_heat *maps, size_t count, size_t across, const char *title,
                         rapt_error *err);
rapt_code plot_curves(const plot_options *o, const draw_curve *curves, size_t count, draw_labels labels, rapt_error *err);
rapt_code plot_points(const plot_options *o, const draw_point *points, size_t count, draw_labels labels, rapt_error *err);

/* ---- names ------------------------------------------------------------------------------------------------- */

/* Names of model folders, or of their train.jsonl: their paths without the folders common to all; if there is one path, its last
 * part. Fills names[count] with texts from malloc, or NULL after a failure; the caller frees each. */
rapt_code plot_name_paths(const char *const *paths, size_t count, char **names, rapt_error *err);

/* ---- tokens ------------------------------------------------------------------------------------------------ */

typedef struct plot_tokens {
    int32_t *ids;
    size_t count;
    char **names; /* [count] their names in a picture; NULL until plot_name_tokens */
} plot_tokens;

/* Fills the names, as token_name.h makes them. */
rapt_code plot_name_tokens(const rapt_tokenizer *k, plot_tokens *t, rapt_error *err);
void plot_tokens_free(plot_tokens *t);

/* ---- plot_attention.c: the two halves of `rapt plot attention`: a pass that captures attention weights, and the picture. */

typedef enum attention_kind {
    ATTENTION_ANY,   /* cross for translation, causal for language models */
    ATTENTION_SELF,  /* in the encoder */
    ATTENTION_CROSS, /* from the decoder to the encoder's output */
    ATTENTION_CAUSAL /* in the decoder, or in a language model, to earlier positions */
} attention_kind;

/* What to compute with a model. */
typedef struct attention_request {
    attention_kind kind;
    const char *text, *target; /* target: the decoder's input; NULL: the greedy translation */
    bool strict;               /* unknown words are an error */
} attention_request;

/* The captured attention weights of one kind, and the tokens along their axes. It must not be moved. */
typedef struct attention_view {
    const char *word; /* "cross-attention" */
    size_t blocks, heads;
    plot_tokens source, target; /* a language model's text is the source */
    const plot_tokens *queries, *keys; /* the one of them along each axis, with names */
    const char *query, *key;           /* titles of the axes */
    unknown_list unknown_source, unknown_target; /* words that are <unk> among the tokens */
} attention_view;

/* Runs the model on tape `t`, which holds the weights until its next pass. Free the view with attention_view_free, also after a
 * failure. RAPT_ERR_VALUE: a text that is empty or too long, or unknown words with `strict`. */
rapt_code attention_run(rapt_tape *t, const rapt_model *m, const attention_request *r, attention_view *v, rapt_error *err);
/* [heads, queries, keys] of a block. */
const rapt_real *attention_weights(const rapt_tape *t, const rapt_model *m, attention_kind kind, size_t block);
void attention_view_free(attention_view *v);

/* ---- plot_seeds.c: runs of one setting, which differ only in their seed, as one curve: their mean, and a band from the least to
 * the greatest. For `rapt plot training --group`. */

/* One curve, which owns its memory. */
typedef struct plot_series {
    char *name;
    double *x, *y;      /* [count] */
    double *low, *high; /* [count] the band of a mean of runs; otherwise NULL */
    size_t count;
} plot_series;

void plot_series_free(plot_series *s);

/* Which runs belong together. */
typedef struct plot_settings {
    size_t *of;   /* [runs]: the number of a run's setting */
    char **names; /* [count] each the common beginning of its runs' names, and their number */
    size_t count;
} plot_settings;

/* Two runs are of one setting if their recipes train the same model, except for the seed (recipe_first_difference).
 * RAPT_ERR_VALUE: a path is no folder with a recipe. On failure there is nothing to free. */
rapt_code plot_settings_find(char *const *paths, char *const *names, size_t runs, plot_settings *s, rapt_error *err);
void plot_settings_free(plot_settings *s);

/* *to: mean, least and greatest of the curves runs[count], at each x that all of them have. */
rapt_code plot_series_mean(const plot_series *const *runs, size_t count, plot_series *to, rapt_error *err);

/* ---- plot_training.c: the training curves of a model folder, for `rapt train --plot`. */

typedef struct plot_training_request {
    const char *folder, *out; /* whose train.jsonl; the picture, PNG or SVG by its ending */
    bool book;                /* loss_book, the curve that the book draws, in place of loss and val_loss */
    bool by_epoch;            /* false: by step */
} plot_training_request;

/* Draws the curves of the lines so far, as `rapt plot training` does; the picture is replaced as a whole. Errors: as draw_curves,
 * or from reading the log. */
rapt_code plot_training_picture(const plot_training_request *q, rapt_error *err);

#endif

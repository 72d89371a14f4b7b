/* cli/plot/cmd_plot.h: options and output of the subcommands of `rapt plot`. */
#ifndef CLI_PLOT_CMD_PLOT_H
#define CLI_PLOT_CMD_PLOT_H

#include "rapt/io.h"
#include "view/draw.h"

#include "cli/options/options.h"

/* The subcommands. argv[0] is "rapt plot SUBCOMMAND"; each returns the exit status. */
int plot_attention(int argc, char **argv);
int plot_positions(int argc, char **argv);
int plot_similarity(int argc, char **argv);
int plot_embedding(int argc, char **argv);
int plot_training(int argc, char **argv);
int plot_table(int argc, char **argv);

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

#endif

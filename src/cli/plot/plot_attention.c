/* cli/plot/plot_attention.c: `rapt plot attention`: options, the choice of heads, and their maps. The weights are computed
 * in plot_attention_run.c. */
#include "cli/plot/cmd_plot.h"

#include "base/memory_stream.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/unknown_words.h"
#include "io/model_core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INDEX 1000000

typedef enum attention_scale { SCALE_DEFAULT, SCALE_FIXED, SCALE_ALL, SCALE_ROW } attention_scale;

typedef struct attention_arguments {
    const char *model, *text, *target, *map_title;
    attention_kind kind;
    attention_scale scale;
    bool has_block, has_head, strict;
    size_t block, head;
    int threads;
    plot_options o;
} attention_arguments;

#define ARGUMENTS attention_arguments
static const cli_option OPTIONS[] = {
    OPTION_WORD("kind", "NAME", AT(kind), ATTENTION_SELF, "self, cross, causal", "Translation: self (encoder), causal "
                "(decoder) or cross (decoder to encoder, default); language models have causal only"),
    OPTION_COUNT("block", "N", AT(block), 0, MAX_INDEX, "This block only, counted from 0"),
    OPTION_COUNT("head", "N", AT(head), 0, MAX_INDEX, "This head only, counted from 0"),
    OPTION_TEXT("target", "TEXT", AT(target), "Translation: decoder input (default: the model's greedy translation)"),
    OPTION_WORD("scale", "NAME", AT(scale), SCALE_FIXED, "fixed, all, row", "Color scale: fixed (default): 0 to 1, the same "
                "in every figure; all: minimum to maximum of this figure; row: 0 to the maximum of each row, for long texts, "
                "whose weights are small"),
    OPTION_TEXT("map-title", "TEXT", AT(map_title), "Title of each of several maps; {block} and {head} in it are their numbers "
                "(default: 'block {block}, head {head}')"),
    OPTION_FLAG("strict", AT(strict), "Unknown words are errors; by default a warning names them, and <unk> is shown"),
    CLI_OPTION_THREADS(AT(threads)),
    OPTION_TABLE(plot_range_rows, AT(o)),
    {0}};

/* --low and --high are a scale themselves: if one end isn't given, the weights decide it. */
static void settle_scale(attention_arguments *a)
{
    bool given = a->o.has_low || a->o.has_high;
    if (given && a->scale != SCALE_DEFAULT)
        usage_error("--scale, or --low and --high, not both");
    if (!given && (a->scale == SCALE_DEFAULT || a->scale == SCALE_FIXED)) {
        a->o.high = 1;
        a->o.has_low = a->o.has_high = true;
    }
}

static void plot_attention_finish(void *arguments)
{
    attention_arguments *a = arguments;
    plot_options_finish(&a->o);
    a->has_block = options_given("block");
    a->has_head = options_given("head");
    if (a->target && a->kind == ATTENTION_SELF)
        usage_error("--target is decoder input, but --kind self is encoder attention");
    settle_scale(a);
}

const cli_command plot_attention_command = {
    .options = OPTIONS, .operands = "MODEL TEXT -o PICTURE",
    .about = "Plot the attention weights of each head for a text as heat maps.",
    .notes = "A row is a query, a column a key; each row sums to 1, and masked (later) keys are gray. By default all heads of "
             "all blocks are drawn, a row of maps for each block. Unknown words are shown as the model reads them, as <unk>. In "
             "names of tokens, an open box is a space.",
    .least = 2, .missing = "MODEL and TEXT", .most = 2, .takes = "a model and one text; quote a text of several words",
    .operand = {AT(model), AT(text)}, .finish = plot_attention_finish};

/* ---- maps -------------------------------------------------------------------------------------------------- */

/* The blocks and heads that are wanted. */
typedef struct choice {
    size_t first_block, blocks, first_head, heads;
} choice;

static rapt_code plot_attention_choose(const attention_arguments *a, const attention_view *v, choice *c, rapt_error *err)
{
    if (a->has_block && a->block >= v->blocks)
        return rapt_fail(err, RAPT_ERR_VALUE, "--block %zu: %s has %zu block%s with %s, counted from 0", a->block, a->model,
                         v->blocks, v->blocks == 1 ? "" : "s", v->word);
    if (a->has_head && a->head >= v->heads)
        return rapt_fail(err, RAPT_ERR_VALUE, "--head %zu: %s has %zu head%s in a block, counted from 0", a->head, a->model,
                         v->heads, v->heads == 1 ? "" : "s");
    *c = (choice){a->has_block ? a->block : 0, a->has_block ? 1 : v->blocks, a->has_head ? a->head : 0,
                  a->has_head ? 1 : v->heads};
    return RAPT_OK;
}

typedef struct map_title {
    char text[128];
} map_title;

/* Replaces a name in braces by its number. */
static const char *map_title_number(const char *from, const char *name, size_t number, FILE *to)
{
    if (strncmp(from, name, strlen(name)) != 0)
        return from;
    fprintf(to, "%zu", number);
    return from + strlen(name);
}

static void write_map_title(const char *format, size_t block, size_t head, map_title *title)
{
    memory_stream whole;
    FILE *to = memory_stream_open(&whole);
    for (const char *at = format; to && *at;) {
        const char *behind = map_title_number(map_title_number(at, "{block}", block, to), "{head}", head, to);
        if (behind == at)
            fputc(*behind++, to);
        at = behind;
    }
    if (memory_stream_close(&whole))
        snprintf(title->text, sizeof title->text, "%s", whole.text); /* what does not fit is cut */
    free(whole.text);
}

static draw_heat make_map(const attention_view *v, const rapt_real *weights, size_t head)
{
    draw_heat map = {.labels = {.x = v->key, .y = v->query}, .rows = v->queries->count, .columns = v->keys->count};
    map.row_names = (const char *const *)v->queries->names;
    map.column_names = (const char *const *)v->keys->names;
    map.values = weights + head * map.rows * map.columns;
    return map;
}

static void fill_maps(const attention_arguments *a, const rapt_tape *t, const rapt_model *m, const attention_view *v, choice c,
                      draw_heat *maps, map_title *titles)
{
    for (size_t i = 0; i < c.blocks * c.heads; i++) {
        size_t block = c.first_block + i / c.heads, head = c.first_head + i % c.heads;
        maps[i] = make_map(v, attention_weights(t, m, a->kind, block), head);
        write_map_title(a->map_title ? a->map_title : "block {block}, head {head}", block, head, &titles[i]);
        maps[i].labels.title = titles[i].text;
    }
}

/* One map alone has one title, which names its head. The text is in the title as well, unless no font here has its letters. Names
 * of tokens cannot fail that way: tokens that are no letters have other names. */
static rapt_code draw_maps(const attention_arguments *a, const attention_view *v, choice c, draw_heat *maps, rapt_error *err)
{
    char place[200], title[400];
    rapt_error why = {0};
    size_t count = c.blocks * c.heads, across = c.blocks > 1 && c.heads > 1 ? c.heads : 0;
    snprintf(place, sizeof place, "%s%s%s", v->word, count == 1 ? ", " : "", count == 1 ? maps[0].labels.title : "");
    snprintf(title, sizeof title, "%s: %s", place, quote(a->text).text);
    if (count == 1)
        maps[0].labels.title = NULL;
    rapt_code code = plot_heat_maps(&a->o, maps, count, across, title, &why);
    if (code == RAPT_ERR_NOT_FOUND && !a->o.title)
        return plot_heat_maps(&a->o, maps, count, across, place, err);
    return code ? rapt_fail(err, code, "%s", why.message) : RAPT_OK;
}

/* Row `row` of a map as it is shown: the weights, or their share of the greatest; gray where the mask excludes a position. */
static void plot_attention_fill_row(const attention_arguments *a, rapt_real *out, const rapt_real *weights, size_t row, size_t n)
{
    rapt_real greatest = a->scale == SCALE_ROW ? 0 : 1;
    for (size_t i = 0; a->scale == SCALE_ROW && i < n; i++)
        greatest = weights[i] > greatest ? weights[i] : greatest;
    for (size_t i = 0; i < n; i++)
        out[i] = a->kind == ATTENTION_CAUSAL && i > row ? (rapt_real)NAN : greatest > 0 ? weights[i] / greatest : 0;
}

/* Replaces the weights by the values that are shown, in memory that the caller frees. */
static rapt_real *fill_shown(const attention_arguments *a, draw_heat *maps, size_t count)
{
    size_t size = maps[0].rows * maps[0].columns, n = maps[0].columns;
    rapt_real *shown = calloc(count * size, sizeof *shown);
    for (size_t i = 0; shown && i < count; i++) {
        for (size_t row = 0; row < maps[i].rows; row++)
            plot_attention_fill_row(a, shown + i * size + row * n, maps[i].values + row * n, row, n);
        maps[i].values = shown + i * size;
    }
    return shown;
}

/* Draws shown values, but prints the weights themselves. */
static rapt_code draw_shown(const attention_arguments *a, const attention_view *v, choice c, draw_heat *maps, rapt_error *err)
{
    size_t count = c.blocks * c.heads;
    rapt_real *shown = a->o.out ? fill_shown(a, maps, count) : NULL;
    rapt_code code = a->o.out && !shown ? rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu maps", count)
                                        : draw_maps(a, v, c, maps, err);
    free(shown);
    return code;
}

static rapt_code plot_attention_draw(const attention_arguments *a, const rapt_tape *t, const rapt_model *m,
                                     const attention_view *v,
                                     rapt_error *err)
{
    choice c;
    rapt_code code = plot_attention_choose(a, v, &c, err);
    if (code)
        return code;
    draw_heat *maps = calloc(c.blocks * c.heads, sizeof *maps);
    map_title *titles = calloc(c.blocks * c.heads, sizeof *titles);
    if (maps && titles) {
        fill_maps(a, t, m, v, c, maps, titles);
        code = draw_shown(a, v, c, maps, err);
    } else
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu maps", c.blocks * c.heads);
    free(titles);
    free(maps);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------- */

static rapt_code settle_kind(attention_arguments *a, const rapt_model *m, rapt_error *err)
{
    bool translation = m->task == RAPT_TASK_TRANSLATION;
    if (a->kind == ATTENTION_ANY)
        a->kind = translation ? ATTENTION_CROSS : ATTENTION_CAUSAL;
    if (!translation && (a->kind != ATTENTION_CAUSAL || a->target))
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is a language model: it has %s", a->model,
                         a->target ? "no decoder that --target is for" : "causal attention only");
    return RAPT_OK;
}

static rapt_code plot_attention_run(attention_arguments *a, const rapt_model *m, rapt_error *err)
{
    attention_view v = {0};
    rapt_code code = settle_kind(a, m, err);
    rapt_tape *t = code ? NULL : rapt_tape_new(&(rapt_compute){.threads = a->threads}, err);
    if (t)
        code = attention_run(t, m, &(attention_request){a->kind, a->text, a->target, a->strict}, &v, err);
    unknown_words_warn("the text", (const char *const *)v.unknown_source.words, v.unknown_source.count);
    unknown_words_warn("the target", (const char *const *)v.unknown_target.words, v.unknown_target.count);
    if (t && !code)
        code = plot_attention_draw(a, t, m, &v, err);
    attention_view_free(&v);
    rapt_tape_free(t);
    return t ? code : err->code;
}

int plot_attention(int argc, char **argv)
{
    attention_arguments a = {0};
    rapt_error err = {0};
    options_parse(&plot_attention_command, argc, argv, &a);
    if (!a.o.bar)
        a.o.bar = a.scale == SCALE_ROW ? "attention weight, the greatest of each row as 1" : "attention weight";
    rapt_model *m = cli_model_any_inference(a.model, &err);
    rapt_code code = m ? plot_attention_run(&a, m, &err) : err.code;
    rapt_model_free(m);
    return code ? cli_fail(&err) : 0;
}

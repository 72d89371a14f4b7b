/* cli/plot/plot_training.c: `rapt plot training`: the fields of train.jsonl as curves against steps or epochs, for one training
 * run or to compare several; and the picture that `rapt train --plot` draws while it trains. */
#include "cli/plot/cmd_plot.h"

#include "base/chars.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "text/lines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 16

typedef struct training_arguments {
    char **paths; /* [path_count], within argv */
    size_t path_count, field_count;
    const char *fields[MAX_FIELDS];
    bool by_epoch, group, log;
    plot_options o;
} training_arguments;

/* ---- kinds of numbers, of which each has an axis ------------------------------------------------------------ */

/* All losses are of one kind; every other field is a kind of its own. */
static const char *plot_training_kind_of(const char *field)
{
    return strcmp(field, "val_loss") == 0 ? "loss" : field;
}

/* The number of a field's kind among the kinds of the fields: 0, 1, ... */
static size_t axis_of(const training_arguments *a, const char *field)
{
    size_t axis = 0;
    for (size_t i = 0; i < a->field_count; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first = first && strcmp(plot_training_kind_of(a->fields[j]), plot_training_kind_of(a->fields[i])) != 0;
        if (strcmp(plot_training_kind_of(a->fields[i]), plot_training_kind_of(field)) == 0)
            return axis;
        axis += first;
    }
    return axis;
}

/* The label of an axis: its field, or "loss" if it is for several. */
static const char *label_of_axis(const training_arguments *a, size_t axis)
{
    const char *label = NULL;
    for (size_t i = 0; i < a->field_count; i++)
        if (axis_of(a, a->fields[i]) == axis)
            label = label && strcmp(plot_training_kind_of(label), "loss") == 0 ? "loss, nats a token" : a->fields[i];
    return label;
}

static void plot_training_check_kinds(const training_arguments *a)
{
    for (size_t i = 0; a->o.out && i < a->field_count; i++)
        if (axis_of(a, a->fields[i]) > 1)
            usage_error("--field %s: a third quantity; a figure has two vertical axes", quote(a->fields[i]).text);
}

/* ---- the command line -------------------------------------------------------------------------------------- */

#define ARGUMENTS training_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXTS("field", "NAME", AT(fields), AT(field_count), MAX_FIELDS, "What to plot: loss, val_loss, lr, grad_norm, "
                 "tokens_per_s or any other field of the file; can be repeated, for at most two quantities, each with its own "
                 "axis (default: loss, and val_loss if there is one)", .words = "loss, val_loss, lr, grad_norm, tokens_per_s"),
    OPTION_EITHER("by", "WHAT", AT(by_epoch), "step, epoch", "What the horizontal axis counts: step (default) or epoch"),
    OPTION_FLAG("group", AT(group), "Runs whose recipes differ in the seed alone are one curve: their mean, with a band from the "
                "least to the greatest"),
    OPTION_FLAG("log", AT(log), "Logarithmic vertical axes"),
    OPTION_TABLE(plot_options_rows, AT(o)),
    {0}};

static void plot_training_finish(void *arguments)
{
    training_arguments *a = arguments;
    a->paths = options_operands(&a->path_count);
    plot_options_finish(&a->o);
    plot_training_check_kinds(a);
}

const cli_command plot_training_command = {
    .options = OPTIONS, .operands = "FOLDER|FILE... -o PICTURE",
    .about = "Plot training curves: losses, or other fields of train.jsonl, against steps or epochs.",
    .notes = "A FOLDER is a trained model; its train.jsonl is read. A FILE is such a train.jsonl, or any file whose "
             "lines are JSON objects with a number \"step\". Lines without the field are skipped.",
    .least = 1, .missing = "FOLDER or FILE", .finish = plot_training_finish};

/* ---- reading ----------------------------------------------------------------------------------------------- */

/* The lines of a train.jsonl. */
typedef struct history {
    const char *name; /* name of the training run */
    char *path;       /* path of the file */
    json_t **lines;   /* [count] */
    size_t count;
} history;

static rapt_code plot_training_take_line(history *h, const char *text, size_t size, rapt_error *err)
{
    json_error_t where;
    json_t *o = json_loadb(text, size, 0, &where);
    if (!o)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: %s", h->path, h->count + 1, quote(where.text).text);
    h->lines[h->count++] = o;
    if (!json_is_number(json_object_get(o, "step")))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: no object with a number \"step\"", h->path, h->count);
    return RAPT_OK;
}

static rapt_code read_lines(history *h, rapt_error *err)
{
    struct lines lines = {0};
    rapt_code code = lines_read(h->path, CLI_MAX_TEXT, &lines, err);
    if (!code && lines.count == 0)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is empty", h->path);
    h->lines = calloc(lines.count + 1, sizeof *h->lines);
    if (!code && !h->lines)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu lines", h->path, lines.count);
    for (size_t i = 0; i < lines.count && !code; i++)
        code = plot_training_take_line(h, lines.line[i], lines.length[i], err);
    lines_free(&lines);
    return code;
}

static rapt_code read_history(const char *path, const char *name, history *h, rapt_error *err)
{
    bool folder;
    h->name = name;
    if (file_is_folder(path, &folder, err) != RAPT_OK)
        return err->code;
    h->path = folder ? file_join(path, "train.jsonl") : chars_copy(path);
    return h->path ? read_lines(h, err) : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for its path", path);
}

static void free_history(history *h)
{
    for (size_t i = 0; i < h->count; i++)
        json_decref(h->lines[i]);
    free(h->lines);
    free(h->path);
}

/* ---- curves ------------------------------------------------------------------------------------------------ */

/* The place of a line on the horizontal axis, or NULL if it has none. The logs of version 0.2 count the epochs that have
 * begun. */
static const json_t *place_of(const json_t *line, bool by_epoch)
{
    const json_t *done = json_object_get(line, by_epoch ? "epochs" : "step");
    const json_t *place = done || !by_epoch ? done : json_object_get(line, "epoch");
    return json_is_number(place) ? place : NULL;
}

static rapt_code plot_training_take_points(const training_arguments *a, const history *h, const char *field, plot_series *s,
                                           rapt_error *err)
{
    s->x = malloc((h->count + 1) * sizeof *s->x);
    s->y = malloc((h->count + 1) * sizeof *s->y);
    if (!s->x || !s->y)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a curve", h->path);
    for (size_t i = 0; i < h->count; i++) {
        const json_t *value = json_object_get(h->lines[i], field), *place = place_of(h->lines[i], a->by_epoch);
        if (value && !json_is_number(value))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: \"%s\" is not a number", h->path, i + 1, quote(field).text);
        if (!value)
            continue;
        if (!place)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: --by epoch: no number \"epoch\"", h->path, i + 1);
        s->x[s->count] = json_number_value(place);
        s->y[s->count++] = json_number_value(value);
    }
    return RAPT_OK;
}

/* A field that no line has. */
static rapt_code fail_field(const history *h, const char *field, rapt_error *err)
{
    const char *keys[64], *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach(h->lines[0], key, value)
        if (count < sizeof keys / sizeof *keys)
            keys[count++] = key;
    const char *near = suggest_nearest(field, keys, count);
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: no line has \"%s\"%s%s%s", h->path, quote(field).text,
                     near ? "; did you mean \"" : "", near ? quote(near).text : "", near ? "\"?" : "");
}

/* A name that tells curves apart: the training run if there are several, the field if there are several, or both. */
static char *name_curve(const training_arguments *a, const char *training, bool several, const char *field)
{
    bool both = several && a->field_count > 1;
    const char *what = strcmp(field, "loss") == 0 ? "training" : strcmp(field, "val_loss") == 0 ? "validation" : field;
    return chars_print("%s%s%s", several ? training : "", both ? ", " : "", a->field_count > 1 || !several ? what : "");
}

static rapt_code make_series(const training_arguments *a, const history *h, const char *field, bool optional, plot_series *s,
                             rapt_error *err)
{
    rapt_code code = plot_training_take_points(a, h, field, s, err);
    if (!code && s->count == 0 && !optional)
        code = fail_field(h, field, err);
    s->name = name_curve(a, h->name, a->path_count > 1, field);
    return code || s->name ? code : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a curve", h->path);
}

/* A curve for each training run and field; `optional`: all fields except the first may be absent. */
static rapt_code make_curves(const training_arguments *a, char *const *names, bool optional, plot_series *s, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < a->path_count && !code; i++) {
        history h = {0};
        code = read_history(a->paths[i], names[i], &h, err);
        for (size_t j = 0; j < a->field_count && !code; j++)
            code = make_series(a, &h, a->fields[j], optional && j > 0, s++, err);
        free_history(&h);
    }
    return code;
}

/* ---- what is drawn: runs, or settings of several runs ------------------------------------------------------ */

typedef struct shown_curves {
    char *const *names; /* [count] */
    plot_series *s;     /* [count, fields] */
    size_t count;
} shown_curves;

/* Curves of a training run share a color; if there is only one run, curves of an axis do. */
static size_t group_of(const training_arguments *a, const shown_curves *t, size_t i)
{
    size_t axis = axis_of(a, a->fields[i % a->field_count]);
    return 1 + (t->count == 1 ? axis : i / a->field_count);
}

/* The names of a few, the number of many. */
static const char *plot_training_title(const shown_curves *t, char title[200])
{
    size_t used = 0;
    for (size_t i = 0; i < t->count && used < 150; i++)
        used += (size_t)snprintf(title + used, 200 - used, "%s%.100s", i ? ", " : "", t->names[i]);
    if (t->count > 1 && used >= 150)
        snprintf(title, 200, "%zu training runs", t->count);
    return t->count == 1 ? t->names[0] : title;
}

static rapt_code plot_training_draw(const training_arguments *a, const shown_curves *t, rapt_error *err)
{
    char title[200];
    size_t kept = 0, count = t->count * a->field_count;
    draw_labels labels = {.title = plot_training_title(t, title), .x = a->by_epoch ? "epoch" : "step", .y = label_of_axis(a, 0),
                          .right = label_of_axis(a, 1), .log_y = a->log, .from_zero = true};
    draw_curve *curves = calloc(count, sizeof *curves);
    if (!curves)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu curves", count);
    for (size_t i = 0; i < count; i++)
        if (t->s[i].count > 0)
            curves[kept++] = (draw_curve){.name = t->s[i].name, .count = t->s[i].count, .x = t->s[i].x, .y = t->s[i].y,
                                          .low = t->s[i].low, .high = t->s[i].high, .group = group_of(a, t, i),
                                          .right = axis_of(a, a->fields[i % a->field_count]) == 1};
    rapt_code code = plot_curves(&a->o, curves, kept, labels, err);
    free(curves);
    return code;
}

/* The curve of one field of a setting. */
static rapt_code plot_training_average(const training_arguments *a, const plot_series *of_runs, const plot_settings *by,
                                       size_t setting, size_t field, plot_series *to, rapt_error *err)
{
    size_t count = 0;
    const plot_series **runs = calloc(a->path_count, sizeof *runs);
    rapt_code code = runs ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu runs", a->path_count);
    for (size_t i = 0; runs && i < a->path_count; i++)
        if (by->of[i] == setting)
            runs[count++] = &of_runs[i * a->field_count + field];
    code = code ? code : plot_series_mean(runs, count, to, err);
    to->name = name_curve(a, by->names[setting], by->count > 1, a->fields[field]);
    free(runs);
    return code || to->name ? code : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a curve");
}

static rapt_code plot_training_draw_settings(const training_arguments *a, char *const *names, const plot_series *of_runs,
                                             rapt_error *err)
{
    plot_settings by;
    rapt_code code = plot_settings_find(a->paths, names, a->path_count, &by, err);
    if (code)
        return code;
    shown_curves t = {by.names, calloc(by.count * a->field_count, sizeof *t.s), by.count};
    if (!t.s)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu curves", by.count * a->field_count);
    for (size_t i = 0; i < by.count * a->field_count && !code; i++)
        code = plot_training_average(a, of_runs, &by, i / a->field_count, i % a->field_count, &t.s[i], err);
    code = code ? code : plot_training_draw(a, &t, err);
    for (size_t i = 0; t.s && i < by.count * a->field_count; i++)
        plot_series_free(&t.s[i]);
    free(t.s);
    plot_settings_free(&by);
    return code;
}

static rapt_code run_named(const training_arguments *a, char *const *names, bool losses, rapt_error *err)
{
    size_t count = a->path_count * a->field_count;
    plot_series *s = calloc(count, sizeof *s);
    rapt_code code = s ? make_curves(a, names, losses, s, err)
                       : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu curves", count);
    if (!code)
        code = a->group ? plot_training_draw_settings(a, names, s, err)
                        : plot_training_draw(a, &(shown_curves){names, s, a->path_count}, err);
    for (size_t i = 0; s && i < count; i++)
        plot_series_free(&s[i]);
    free(s);
    return code;
}

static rapt_code plot_training_run(training_arguments *a, rapt_error *err)
{
    bool losses = a->field_count == 0;
    if (losses) {
        a->fields[a->field_count++] = "loss";
        a->fields[a->field_count++] = "val_loss";
    }
    char **names = calloc(a->path_count, sizeof *names);
    if (!names)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu names", a->path_count);
    rapt_code code = plot_name_paths((const char *const *)a->paths, a->path_count, names, err);
    if (!code)
        code = run_named(a, names, losses, err);
    for (size_t i = 0; i < a->path_count; i++)
        free(names[i]);
    free(names);
    return code;
}

rapt_code plot_training_picture(const plot_training_request *q, rapt_error *err)
{
    char *path = (char *)q->folder; /* read only */
    training_arguments a = {.paths = &path, .path_count = 1, .by_epoch = q->by_epoch, .o = {.out = q->out}};
    if (q->book)
        a.fields[a.field_count++] = "loss_book";
    return plot_training_run(&a, err);
}

int plot_training(int argc, char **argv)
{
    training_arguments a = {0};
    rapt_error err = {0};
    options_parse(&plot_training_command, argc, argv, &a);
    return plot_training_run(&a, &err) ? cli_fail(&err) : 0;
}

/* cli/plot/plot_options.c: the options that all pictures share. It defines functions of cmd_plot.h. */
#include "cli/plot/cmd_plot.h"

#include "cli/cli.h"

enum { KEY_TITLE = 512, KEY_X, KEY_Y, KEY_DATA, KEY_LOW, KEY_HIGH, KEY_BAR };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Output:", 10},
    {"out", 'o', "FILE", 0, "The figure to write: PNG or SVG, by its ending; -: a PNG to stdout, -.svg: an SVG", 10},
    {"data", KEY_DATA, NULL, 0, "Draw nothing; print the values, separated by tabs", 10},
    {"title", KEY_TITLE, "TEXT", 0, "Title of the figure", 10},
    {"x", KEY_X, "TEXT", 0, "Label of the horizontal axis", 10},
    {"y", KEY_Y, "TEXT", 0, "Label of the vertical axis", 10},
    {0}};

static const struct argp_option RANGE_OPTIONS[] = {
    {"low", KEY_LOW, "X", 0, "Heat maps: the value of the darkest color (default: the minimum)", 10},
    {"high", KEY_HIGH, "X", 0, "Heat maps: the value of the brightest color (default: the maximum)", 10},
    {"bar", KEY_BAR, "TEXT", 0, "Heat maps: label of the color bar; empty: none", 10},
    {0}};

static void plot_options_check(const plot_options *o, struct argp_state *state)
{
    if (o->out && !*o->out)
        cli_usage_error(state, "-o: the output path is empty");
    if (!o->out == !o->data)
        cli_usage_error(state, o->out ? "-o FILE or --data, not both" : "missing option: -o FILE.png, -o FILE.svg or --data");
}

static error_t parse_shared(int key, char *text, struct argp_state *state)
{
    plot_options *o = state->input;
    switch (key) {
    case 'o': o->out = text; return 0;
    case KEY_DATA: o->data = true; return 0;
    case KEY_TITLE: o->title = text; return 0;
    case KEY_X: o->x = text; return 0;
    case KEY_Y: o->y = text; return 0;
    case ARGP_KEY_END: plot_options_check(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_range(int key, char *text, struct argp_state *state)
{
    plot_options *o = state->input;
    switch (key) {
    case KEY_LOW:
        o->low = cli_number(text, -3e38, 3e38, "low", state);
        o->has_low = true;
        return 0;
    case KEY_HIGH:
        o->high = cli_number(text, -3e38, 3e38, "high", state);
        o->has_high = true;
        return 0;
    case KEY_BAR: o->bar = text; return 0;
    case ARGP_KEY_INIT: state->child_inputs[0] = o; return 0;
    case ARGP_KEY_END:
        if (o->has_low && o->has_high && o->low >= o->high)
            cli_usage_error(state, "--low %g is not below --high %g", o->low, o->high);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp plot_argp = {.options = OPTIONS, .parser = parse_shared};
static const struct argp_child SHARED[] = {{&plot_argp, 0, NULL, 10}, {0}};
const struct argp plot_range_argp = {.options = RANGE_OPTIONS, .parser = parse_range, .children = SHARED};

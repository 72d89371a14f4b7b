/* cli/plot/plot_options.c: the options that all pictures share. It defines functions of cmd_plot.h. */
#include "cli/plot/cmd_plot.h"

#define ARGUMENTS plot_options
const cli_option plot_options_rows[] = {
    OPTION_HEADING("Output:"),
    OPTION_TEXT("out", "FILE", AT(out), "The figure to write: PNG or SVG, by its ending; -: a PNG to stdout, -.svg: an SVG",
                .letter = 'o'),
    OPTION_FLAG("data", AT(data), "Draw nothing; print the values, separated by tabs"),
    OPTION_TEXT("title", "TEXT", AT(title), "Title of the figure"),
    OPTION_TEXT("x", "TEXT", AT(x), "Label of the horizontal axis"),
    OPTION_TEXT("y", "TEXT", AT(y), "Label of the vertical axis"),
    {0}};

const cli_option plot_range_rows[] = {
    OPTION_TABLE(plot_options_rows, 0),
    OPTION_NUMBER("low", "X", AT(low), -3e38, 3e38, "Heat maps: the value of the darkest color (default: the minimum)"),
    OPTION_NUMBER("high", "X", AT(high), -3e38, 3e38, "Heat maps: the value of the brightest color (default: the maximum)"),
    OPTION_TEXT("bar", "TEXT", AT(bar), "Heat maps: label of the color bar; empty: none"),
    {0}};

void plot_options_finish(plot_options *o)
{
    o->has_low = options_given("low");
    o->has_high = options_given("high");
    if (o->has_low && o->has_high && o->low >= o->high)
        usage_error("--low %g is not below --high %g", o->low, o->high);
    if (o->out && !*o->out)
        usage_error("-o: the output path is empty");
    if (!o->out == !o->data)
        usage_error(o->out ? "-o FILE or --data, not both" : "missing option: -o FILE.png, -o FILE.svg or --data");
}

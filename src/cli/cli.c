/* cli/cli.c: values of options, and counts, sizes and times in words; how wide a table may be. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "base/number.h"
#include "nn/weight_types.h"
#include "rapt/recipe.h"
#include "text/utf8.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli_fail(const rapt_error *err)
{
    fprintf(stderr, "rapt: %s\n", err->message[0] ? err->message : rapt_code_name(err->code));
    return 1;
}

/* " from 1 to 64", " of 0 or more", or "" without a limit. An upper limit is also named if a value has exceeded it. */
static void cli_describe_range(const char *low, const char *high, bool is_from, bool is_to, char text[80])
{
    text[0] = '\0';
    if (is_to)
        snprintf(text, 80, " from %s to %s", low, high);
    else if (is_from)
        snprintf(text, 80, " of %s or more", low);
}

long cli_integer(const char *text, long min, long max, const char *option, struct argp_state *state)
{
    char *end, range[80], low[NUMBER_TEXT], high[NUMBER_TEXT];
    errno = 0;
    long value = strtol(text, &end, 10);
    snprintf(low, sizeof low, "%ld", min);
    snprintf(high, sizeof high, "%ld", max);
    cli_describe_range(low, high, min > -CLI_MAX, max < CLI_MAX || errno || value > max, range);
    if (errno || end == text || *end || value < min || value > max)
        cli_usage_error(state, "--%s: '%s' is not a whole number%s", option, text, range);
    return value;
}

double cli_number(const char *text, double min, double max, const char *option, struct argp_state *state)
{
    char *end, range[80], low[NUMBER_TEXT], high[NUMBER_TEXT];
    double value = strtod(text, &end);
    number_write(min, low);
    number_write(max, high);
    cli_describe_range(low, high, min > -CLI_MAX, max < CLI_MAX || value > max, range);
    if (end == text || *end || !(value >= min && value <= max))
        cli_usage_error(state, "--%s: '%s' is not a number%s", option, text, range);
    return value;
}

int cli_threads(const char *text, struct argp_state *state)
{
    return (int)cli_integer(text, 1, 256, "threads", state);
}

long cli_seed(const char *text, struct argp_state *state)
{
    return cli_integer(text, 0, LONG_MAX, "seed", state);
}

const char *cli_assignment(const char *text, struct argp_state *state)
{
    rapt_recipe r;
    rapt_error err = {0};
    rapt_recipe_defaults(&r);
    if (rapt_recipe_set(&r, text, &err))
        cli_usage_error(state, "%s", err.message);
    rapt_recipe_free(&r);
    return text;
}

void cli_check_text(const char *text, const char *file, struct argp_state *state)
{
    if (file)
        cli_usage_error(state, "--text or FILE, not both");
    if (utf8_valid_prefix(text, strlen(text)) < strlen(text))
        cli_usage_error(state, "--text: not valid UTF-8");
    if (strchr(text, '\n'))
        cli_usage_error(state, "--text: one line; several are the lines of FILE, or of standard input");
}

line_stream *cli_open_lines(const char *file, rapt_error *err)
{
    rapt_error why = {0};
    line_stream *in = line_stream_open(file ? file : "-", &why);
    if (!in)
        rapt_fail(err, why.code, "%s%s", why.message, why.code == RAPT_ERR_NOT_FOUND ? "; --text takes a text itself" : "");
    return in;
}

void cli_operand(const char **to, const char *text, const char *takes, struct argp_state *state)
{
    if (*to)
        cli_usage_error(state, "extra operand: takes %s", takes);
    *to = text;
}

static char cli_option_precision[] = "precision", cli_option_weights[] = "weights"; /* known by their addresses */

/* Refuses both options together: they set the same thing, and the last would silently win. A parser that has them uses its hook
 * only for this. */
static void cli_one_type(char *option, struct argp_state *state)
{
    if (state->hook && state->hook != option)
        cli_usage_error(state, "--precision and --weights: one of them");
    state->hook = option;
}

rapt_precision cli_precision(const char *text, struct argp_state *state)
{
    cli_one_type(cli_option_precision, state);
    const bool bf16 = strcmp(text, "bf16") == 0;
    if (!bf16 && strcmp(text, "fp32") != 0)
        cli_usage_error(state, "--precision: '%s' is neither fp32 nor bf16", text);
    return bf16 ? RAPT_PRECISION_BF16 : RAPT_PRECISION_FP32;
}

const char *cli_weights(const char *text, rapt_precision *precision, struct argp_state *state)
{
    rapt_error err = {0};
    cli_one_type(cli_option_weights, state);
    if (weight_types_check(text, precision, &err))
        cli_usage_error(state, "--weights: %s", err.message);
    return text;
}

const char *cli_storage_name(rapt_storage storage)
{
    static const char *const names[] = {"fp32", "bf16", "q8_0"};
    return names[storage];
}

rapt_storage cli_kv_cache(const char *text, struct argp_state *state)
{
    for (rapt_storage s = RAPT_STORAGE_FP32; s <= RAPT_STORAGE_Q8_0; s++)
        if (strcmp(text, cli_storage_name(s)) == 0)
            return s;
    cli_usage_error(state, "--kv-cache: '%s' is neither fp32, bf16 nor q8_0", text);
    return RAPT_STORAGE_FP32;
}

const char *cli_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

const char *cli_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

const char *cli_duration(double seconds, char text[32])
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9) {
        snprintf(text, 32, "-:--");
        return text;
    }
    long s = lround(seconds);
    if (s < 3600)
        snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

size_t cli_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    const long given = columns ? strtol(columns, NULL, 10) : 0;
    if (given > 0)
        return (size_t)given;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void cli_sign(char signature[CLI_SIGNATURE])
{
    const size_t used = strlen(signature);
    snprintf(signature + used, CLI_SIGNATURE - used, "|rapt:%s", rapt_version());
}

/* A switch without a default: the compiler warns if a value is added and has no word. */
const char *cli_positions_word(rapt_positions_kind kind)
{
    switch (kind) {
    case RAPT_POSITIONS_SINUSOIDAL: return "sinusoidal";
    case RAPT_POSITIONS_LEARNED: return "learned";
    case RAPT_POSITIONS_ROTARY: return "rotary";
    case RAPT_POSITIONS_NONE: return "none";
    case RAPT_POSITIONS_RELATIVE: return "relative";
    }
    return "unknown";
}

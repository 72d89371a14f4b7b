/* cli/cli.c: values of some options, and counts, sizes and times in words; how wide a table may be. */
#include "cli/cli.h"

#include "base/terminal.h"
#include "io/config_block.h"
#include "nn/weight_types.h"
#include "rapt/recipe.h"
#include "recipe/recipe_keys.h"
#include "text/utf8.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const rapt_error *err)
{
    fprintf(stderr, "rapt: %s\n", err->message[0] ? err->message : rapt_code_name(err->code));
    return 1;
}

long long cli_seed(const char *text)
{
    return option_integer(text, 0, LLONG_MAX, "seed");
}

void cli_point_to_keys(rapt_error *err)
{
    const size_t size = strlen(err->message);
    if (strstr(err->message, RECIPE_UNKNOWN_KEY) && err->message[size - 1] == '"')
        snprintf(err->message + size, sizeof err->message - size, "; rapt train --help-recipe lists all keys");
}

void cli_check_assignments(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rapt_recipe r;
        rapt_error err = {0};
        rapt_recipe_defaults(&r);
        if (rapt_recipe_set(&r, texts[i], &err)) {
            cli_point_to_keys(&err);
            usage_error("%s", err.message);
        }
        rapt_recipe_free(&r);
    }
}

void cli_check_text(const char *text, const char *file)
{
    if (file)
        usage_error("--text or FILE, not both");
    if (utf8_valid_prefix(text, strlen(text)) < strlen(text))
        usage_error("--text: not valid UTF-8");
    if (strchr(text, '\n'))
        usage_error("--text: one line; several are the lines of FILE, or of standard input");
}

line_stream *cli_open_lines(const char *file, rapt_error *err)
{
    rapt_error why = {0};
    line_stream *in = line_stream_open(file ? file : "-", &why);
    if (!in)
        rapt_fail(err, why.code, "%s%s", why.message, why.code == RAPT_ERR_NOT_FOUND ? "; --text takes a text itself" : "");
    return in;
}

void cli_take_weights(const cli_option *o, void *in, const char *text)
{
    rapt_error err = {0};
    if (weight_types_check(text, (rapt_type *)((char *)in + o->other), &err))
        usage_error("--weights: %s", err.message);
    *(const char **)((char *)in + o->field) = text;
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

const char *cli_batches(size_t bytes, char text[CLI_BATCHES])
{
    char own[32];
    text[0] = '\0';
    if (bytes >= 1000000)
        snprintf(text, CLI_BATCHES, ", batches %s", cli_bytes((double)bytes, own));
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
    const char *columns = getenv("COLUMNS");
    const long given = columns ? strtol(columns, NULL, 10) : 0;
    if (given > 0)
        return (size_t)given;
    const size_t wide = terminal_columns(stdout);
    return wide > 0 ? wide : 80;
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
    case RAPT_POSITIONS_SINUSOIDAL:
    case RAPT_POSITIONS_LEARNED:
    case RAPT_POSITIONS_ROTARY:
    case RAPT_POSITIONS_NONE:
    case RAPT_POSITIONS_ALIBI: return CONFIG_POSITIONS[kind];
    case RAPT_POSITIONS_RELATIVE: return "relative"; /* not a word of config.json */
    }
    return "unknown";
}

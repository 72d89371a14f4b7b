/* cli/cli.c: small things that several commands print or parse. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const rapt_error *err)
{
    fprintf(stderr, "rapt: %s\n", err->message[0] ? err->message : rapt_code_name(err->code));
    return 1;
}

long cli_integer(const char *text, long least, long most, const char *option, struct argp_state *state)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        cli_usage_error(state, "--%s: '%s' is not a whole number from %ld to %ld", option, text, least, most);
    return value;
}

double cli_number(const char *text, double least, double most, const char *option, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        cli_usage_error(state, "--%s: '%s' is not a number from %g to %g", option, text, least, most);
    return value;
}

rapt_precision cli_precision(const char *text, struct argp_state *state)
{
    bool bf16 = strcmp(text, "bf16") == 0;
    if (!bf16 && strcmp(text, "fp32") != 0)
        cli_usage_error(state, "--precision: '%s' is neither fp32 nor bf16", text);
    return bf16 ? RAPT_BF16 : RAPT_FP32;
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

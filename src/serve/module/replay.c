/* serve/module/replay.c: lines for bash. A line has only printable ASCII, as a header field must. */
#include "serve/module/replay.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>

void replay_fingerprint(const served *s, char out[REPLAY_FINGERPRINT])
{
    snprintf(out, REPLAY_FINGERPRINT, "rapt-%s-%s-%s", RAPT_VERSION, s->number_format, s->fingerprint);
}

void replay_headers(exchange *x, const served *s)
{
    exchange_add_header(x, "X-Rapt-Version", RAPT_VERSION);
    exchange_add_header(x, "X-Rapt-Number-Format", s->number_format);
    exchange_add_header(x, "X-Rapt-Fingerprint", s->fingerprint);
}

/* A line that is much too long is not finished, because a request decides how many texts it has, and how long they are. */
enum { MOST_LINE = REPLAY_LINE + 8 * REPLAY_TEXT };

static void replay_put(replay *r, const char *text, size_t size)
{
    r->unfaithful = r->unfaithful || r->line.size > MOST_LINE || !buffer_append(&r->line, text, size);
}

static bool is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '\'' || text[i] == '\\')
            return false;
    return true;
}

/* A word: 'as it is', or $'with escapes'. A NUL is in no argument of a program. */
static void replay_quote(replay *r, const char *text, size_t size)
{
    char escape[8];
    const bool plain = !r->unfaithful && is_plain(text, size);
    r->unfaithful = r->unfaithful || size > MOST_LINE || (size > 0 && memchr(text, '\0', size));
    replay_put(r, plain ? "'" : "$'", plain ? 1 : 2);
    for (size_t i = 0; i < size && !r->unfaithful; i++) {
        const char c = text[i];
        if (c == '\n')
            replay_put(r, "\\n", 2);
        else if (c == '\'' || c == '\\')
            replay_put(r, escape, (size_t)snprintf(escape, sizeof escape, "\\%c", c));
        else if (c < ' ' || c > '~')
            replay_put(r, escape, (size_t)snprintf(escape, sizeof escape, "\\x%02x", (unsigned)(unsigned char)c));
        else
            replay_put(r, &c, 1);
    }
    replay_put(r, "'", 1);
}

/* The name of a model, which usually needs no quotes. Its path is not shown: only the operator should see it. */
static void replay_name(replay *r, const char *name)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+,:@%";
    const size_t size = strlen(name);
    if (*name == '-')
        replay_put(r, "./", 2);
    if (strspn(name, safe) == size)
        replay_put(r, name, size);
    else
        replay_quote(r, name, size);
}

void replay_begin(replay *r, const char *command, const served *s)
{
    replay_words(r, "%srapt %s ", r->line.size ? "; " : "", command);
    replay_name(r, s->name);
    r->unfaithful = r->unfaithful || s->no_replay;
    if (s->options && *s->options)
        replay_words(r, " %s", s->options);
}

void replay_words(replay *r, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (r->unfaithful)
        return;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    r->unfaithful = r->unfaithful || size < 0 || (size_t)size >= sizeof text;
    replay_put(r, text, strlen(text));
}

void replay_value(replay *r, double value)
{
    char text[NUMBER_TEXT];
    number_write(value, text);
    replay_words(r, "%s", text);
}

void replay_number(replay *r, const char *option, double value)
{
    replay_words(r, " %s ", option);
    replay_value(r, value);
}

void replay_text(replay *r, const char *option, const char *text, size_t size)
{
    replay_words(r, " %s ", option);
    replay_quote(r, text, size);
}

/* Adds an option with a text, unless that is too long: then the line is unchanged, and the result false. */
static bool replay_short_text(replay *r, const char *option, const char *text, size_t size)
{
    const size_t before = r->line.size;
    if (size > REPLAY_TEXT)
        return false;
    replay_text(r, option, text, size);
    if (r->line.size <= before + strlen(option) + 2 + REPLAY_TEXT)
        return true;
    r->line.size = before;
    r->line.data[before] = '\0';
    return false;
}

/* Only one command of a line can read standard input. */
static void replay_read_input(replay *r, size_t size)
{
    r->unfaithful = r->unfaithful || r->input > 0;
    r->input = size;
}

void replay_prompt(replay *r, const char *text, size_t size)
{
    if (replay_short_text(r, "--prompt", text, size))
        return;
    replay_words(r, " --prompt-file -");
    replay_read_input(r, size);
}

void replay_lines(replay *r, const char *text, size_t size)
{
    if (!replay_short_text(r, "<<<", text, size))
        replay_read_input(r, size);
}

void replay_end(replay *r, exchange *x)
{
    if (r->input > 0)
        replay_words(r, " # with the %zu bytes of the text on standard input", r->input);
    if (!r->unfaithful && r->line.size > 0 && r->line.size <= REPLAY_LINE)
        exchange_add_result_header(x, "X-Rapt-Replay", r->line.data);
    buffer_free(&r->line);
    *r = (replay){0};
}

/* serve/module/replay.h: how to get a response again: headers with the program, number format and weights that computed it, and
 * the command that prints the same text. */
#ifndef SERVE_MODULE_REPLAY_H
#define SERVE_MODULE_REPLAY_H

#include "base/buffer.h"
#include "serve/module/http_exchange.h"
#include "serve/module/served.h"

#define REPLAY_MAX_SEED 9007199254740992 /* the largest --seed */

/* "rapt-0.3.0-fp32-0123456789abcdef": version, number format and weights. */
enum { REPLAY_FINGERPRINT = 96 };
void replay_fingerprint(const served *s, char out[REPLAY_FINGERPRINT]);
/* Adds X-Rapt-Version, X-Rapt-Number-Format and X-Rapt-Fingerprint. */
void replay_headers(exchange *x, const served *s);

/* A line for bash. A zeroed one has no command yet. */
typedef struct replay {
    buffer line;
    size_t input;   /* bytes of a text that is too long for the line, so that standard input must have it; 0: none */
    bool unfaithful; /* no command prints the same text, or out of memory */
} replay;

enum {
    REPLAY_TEXT = 2048, /* bytes that a quoted text of the line has at most */
    REPLAY_LINE = 3072  /* bytes of a line; a longer one is left out: proxies accept four kilobytes of headers */
};

/* Begins a command, such as "generate", with the model's name in place of its path, which clients should not see, and the options
 * of the server; if the line has a command already, after "; ". There is no line if the server was started with --no-replay. */
void replay_begin(replay *r, const char *command, const served *s);
/* Adds words as they are: "--top-k 0". */
void replay_words(replay *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds an option with a number, or the digits alone. */
void replay_number(replay *r, const char *option, double value);
void replay_value(replay *r, double value);
/* Adds an option with a text, quoted. */
void replay_text(replay *r, const char *option, const char *text, size_t size);
/* Adds the text of a prompt: "--prompt TEXT", or "--prompt-file -" if it is too long. */
void replay_prompt(replay *r, const char *text, size_t size);
/* Gives a command lines on standard input, the last one without its line feed: "<<< TEXT". */
void replay_lines(replay *r, const char *text, size_t size);
/* Adds the header X-Rapt-Replay to a response without an error, if there is a line; frees it. */
void replay_end(replay *r, exchange *x);

#endif

/* text/chat/tool_reader.h: finds the calls of tools in a reply that comes bit by bit. What merely looks like a call stays text: a
 * call has valid JSON, the name of a tool that there is, and an object of arguments. */
#ifndef TEXT_CHAT_TOOL_READER_H
#define TEXT_CHAT_TOOL_READER_H

#include "base/buffer.h"
#include "text/chat/tool_format.h"
#include "text/json_scan.h"

/* TOOL_NAME begins a call, TOOL_ARGUMENTS is the next part of its JSON, as the model wrote it. */
typedef enum tool_piece { TOOL_TEXT, TOOL_NAME, TOOL_ARGUMENTS } tool_piece;

/* Takes `size` > 0 bytes, whole characters. False: it cannot. */
typedef bool tool_piece_fn(void *context, tool_piece kind, const char *text, size_t size);

typedef struct tool_names {
    const char *const *list; /* [count] */
    size_t count;
} tool_names;

/* Set the first members; all others are zero at first. */
typedef struct tool_reader {
    tool_family family;
    tool_names names;
    bool sure;         /* the reply obeys a schema of calls: their parts are handed out as they come, and a call may be cut off */
    bool single;       /* what follows the first call is dropped */
    tool_piece_fn *take;
    void *context;
    size_t calls;      /* so far */
    bool failed;       /* `take` could not, or out of memory */
    /* How far it is. */
    buffer held;       /* what has not been handed out */
    uint8_t state, key;
    bool listed;       /* the call is in a list */
    bool begun;        /* some text or a call has been handed out */
    bool shown;        /* the name of the call in progress has been */
    size_t at;         /* bytes of `held` that have been read */
    size_t key_from, name_from, name_to, args_from, args_to; /* in `held`; *_to 0: not there yet */
    size_t given;      /* the arguments before it have been handed out */
    json_scan scan;
} tool_reader;

/* Takes the next bytes of the reply, whole characters. */
void tool_reader_push(tool_reader *r, const char *text, size_t size);
/* Says that the reply has ended. */
void tool_reader_finish(tool_reader *r);
void tool_reader_free(tool_reader *r);

#endif

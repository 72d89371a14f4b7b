/* text/chat/tool_reader.c: text until a marker, then a call, which is held until it is whole. Each byte is read once: when a call
 * turns out to be none, all that was read of it is text. */
#include "text/chat/tool_reader.h"

enum { IN_REPLY, OPENED, IN_NAME, IN_CALL, AFTER_CALL, IGNORING };
enum { KEY_OTHER, KEY_NAME, KEY_ARGUMENTS };
enum { MAX_BLANKS = 64, MAX_NAME = 64 }; /* spaces before a call that are no text; bytes of a name before [ARGS] */

static const char SPACES[] = " \n\r\t";

static bool is_blank(char c)
{
    return c && strchr(SPACES, c);
}

static void hand_out(tool_reader *r, tool_piece kind, const char *text, size_t size)
{
    if (size > 0 && !r->failed)
        r->failed = !r->take(r->context, kind, text, size);
}

/* Forgets the first bytes. */
static void drop(tool_reader *r, size_t size)
{
    memmove(r->held.data, r->held.data + size, r->held.size - size + 1);
    r->held.size -= size;
    r->at = 0;
}

static void hand_out_text(tool_reader *r, size_t size)
{
    r->begun = r->begun || size > 0;
    hand_out(r, TOOL_TEXT, r->held.data, size);
    drop(r, size);
}

/* What has been read is no call. */
static void no_call(tool_reader *r)
{
    if (r->shown)
        drop(r, r->at);
    else
        hand_out_text(r, r->at);
    r->state = IN_REPLY;
    r->shown = false;
}

static void skip_blanks(tool_reader *r)
{
    while (r->at < r->held.size && is_blank(r->held.data[r->at]))
        r->at++;
}

/* Whether `word` is at `from`: 1, 0, or -1 if the text ends within it. */
static int reply_word_at(const tool_reader *r, size_t from, const char *word)
{
    const size_t size = strlen(word), left = r->held.size - from;
    if (memcmp(r->held.data + from, word, left < size ? left : size) != 0)
        return 0;
    return left < size ? -1 : 1;
}

/* ---- text --------------------------------------------------------------------------------------------------------------- */

/* Where the first marker begins, or what may become one; the text's size: nowhere. */
static size_t find_marker(const tool_reader *r, int *found)
{
    const char *marker = tool_format_marker(r->family);
    *found = 0;
    for (size_t i = 0; i < r->held.size; i++)
        if (r->held.data[i] == *marker && (*found = reply_word_at(r, i, marker)) != 0)
            return i;
    return r->held.size;
}

/* A reply of Llama's may begin with a call without a marker. */
static bool opens_bare(tool_reader *r)
{
    if (r->family != TOOLS_LLAMA || r->begun)
        return false;
    r->at = 0;
    skip_blanks(r);
    return r->at <= MAX_BLANKS && r->at < r->held.size && r->held.data[r->at] == '{';
}

/* Hands out text up to what may be a call, with the spaces before it. False: more is needed. */
static bool read_reply_text(tool_reader *r)
{
    int found = 0;
    if (opens_bare(r)) {
        r->state = OPENED;
        return true;
    }
    size_t end = find_marker(r, &found);
    const size_t marker = end;
    while (end > 0 && marker - end < MAX_BLANKS && is_blank(r->held.data[end - 1]))
        end--;
    hand_out_text(r, end);
    if (found != 1)
        return false;
    r->at = marker - end + strlen(tool_format_marker(r->family));
    r->state = OPENED;
    return true;
}

/* ---- calls -------------------------------------------------------------------------------------------------------------- */

static void begin_call(tool_reader *r)
{
    r->state = IN_CALL;
    r->scan = (json_scan){.depth = 0};
    r->key = KEY_OTHER;
    r->shown = false;
    r->args_from = r->args_to = r->given = 0;
}

static bool read_opened(tool_reader *r)
{
    skip_blanks(r);
    if (r->at == r->held.size)
        return false;
    const char c = r->held.data[r->at];
    r->name_from = r->name_to = 0;
    if (c == '[' && r->family == TOOLS_MISTRAL && !r->listed) {
        r->listed = true;
        r->at++;
    } else if (c == '{' && r->family != TOOLS_MISTRAL_ARGS) {
        begin_call(r);
    } else if (r->family == TOOLS_MISTRAL_ARGS) {
        r->state = IN_NAME;
        r->name_from = r->at;
    } else {
        r->listed = false;
        no_call(r);
    }
    return true;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* name[ARGS] or name[CALL_ID]id[ARGS], up to the arguments. */
static bool read_tool_name(tool_reader *r)
{
    static const char args[] = "[ARGS]", id[] = "[CALL_ID]";
    size_t at = r->name_from;
    while (at < r->held.size && at - r->name_from <= MAX_NAME && is_of_name(r->held.data[at]))
        at++;
    const size_t end = at;
    int found = reply_word_at(r, at, id);
    if (found == 1)
        for (at += strlen(id); at < r->held.size && at - end <= MAX_NAME && is_of_name(r->held.data[at]);)
            at++;
    found = found < 0 ? found : reply_word_at(r, at, args);
    if (found < 0)
        return false;
    r->at = at;
    if (found == 0 || end == r->name_from) {
        no_call(r);
        return true;
    }
    begin_call(r);
    r->name_to = end;
    r->at = at + strlen(args);
    return true;
}

static bool is_tool(const tool_reader *r)
{
    const size_t size = r->name_to - r->name_from;
    for (size_t i = 0; i < r->names.count && size > 0; i++) /* a tool may have no name */
        if (strlen(r->names.list[i]) == size && memcmp(r->names.list[i], r->held.data + r->name_from, size) == 0)
            return true;
    return false;
}

static bool key_is(const tool_reader *r, size_t end, const char *key)
{
    return end - r->key_from == strlen(key) && memcmp(r->held.data + r->key_from, key, end - r->key_from) == 0;
}

/* A key of the call has ended at `end`; false: it came before. */
static bool take_call_key(tool_reader *r, size_t end)
{
    r->key = KEY_OTHER;
    if (key_is(r, end, "name"))
        r->key = KEY_NAME;
    else if (key_is(r, end, tool_format_arguments(r->family)))
        r->key = KEY_ARGUMENTS;
    return !(r->key == KEY_NAME && r->name_to > 0) && !(r->key == KEY_ARGUMENTS && r->args_to > 0);
}

/* A value of the call begins; false: it is of another kind than its key wants. */
static bool take_call_value(tool_reader *r, char c)
{
    if (r->key == KEY_NAME)
        r->name_from = r->at + 1;
    if (r->key == KEY_ARGUMENTS)
        r->args_from = r->given = r->at;
    return (r->key != KEY_NAME || c == '"') && (r->key != KEY_ARGUMENTS || c == '{');
}

/* Reads a byte of a call; false: it is none. */
static bool read_byte(tool_reader *r)
{
    const json_scan before = r->scan;
    const char c = r->held.data[r->at];
    const bool plain = r->family == TOOLS_MISTRAL_ARGS; /* the object is the arguments */
    if (!json_scan_next(&r->scan, (uint8_t)c) || (before.depth == 0 && c == '['))
        return false;
    const bool began = before.phase == JSON_SCAN_VALUE && r->scan.phase != JSON_SCAN_VALUE;
    if (plain && before.depth == 0 && r->scan.depth > 0)
        r->args_from = r->given = r->at;
    if (plain && r->scan.phase == JSON_SCAN_DONE)
        r->args_to = r->at + 1;
    if (plain || before.depth == 0)
        return true;
    if (before.depth == 1 && before.phase != JSON_SCAN_IN_KEY && r->scan.phase == JSON_SCAN_IN_KEY)
        r->key_from = r->at + 1;
    if (before.depth == 1 && before.phase == JSON_SCAN_IN_KEY && r->scan.phase == JSON_SCAN_COLON)
        return take_call_key(r, r->at);
    if (before.depth == 1 && began)
        return take_call_value(r, c);
    if (before.depth == 1 && before.phase == JSON_SCAN_IN_TEXT && r->scan.phase == JSON_SCAN_AFTER && r->key == KEY_NAME)
        r->name_to = r->at;
    if (before.depth == 2 && r->scan.depth == 1 && r->key == KEY_ARGUMENTS)
        r->args_to = r->at + 1;
    return true;
}

/* Hands out the part that has come of a call that is sure. */
static void show_call(tool_reader *r)
{
    const size_t end = r->args_to > 0 ? r->args_to : r->at;
    if (!r->shown) {
        r->calls++;
        hand_out(r, TOOL_NAME, r->held.data + r->name_from, r->name_to - r->name_from);
    }
    r->shown = true;
    hand_out(r, TOOL_ARGUMENTS, r->held.data + r->given, end - r->given);
    r->given = end;
}

static bool read_call(tool_reader *r)
{
    bool fine = true;
    while (r->at < r->held.size && r->scan.phase != JSON_SCAN_DONE && (fine = read_byte(r)))
        r->at++;
    const bool whole = fine && r->scan.phase == JSON_SCAN_DONE, known = r->args_from > 0 && is_tool(r);
    if (known && fine && (whole || r->sure))
        show_call(r);
    if (!fine || (whole && !r->shown)) {
        r->listed = false;
        no_call(r);
        return true;
    }
    if (!whole)
        return false;
    drop(r, r->at);
    r->begun = true;
    r->shown = false;
    r->state = r->single ? IGNORING : AFTER_CALL;
    return true;
}

/* What separates calls and ends them is no text. False: more is needed. */
static bool read_after(tool_reader *r)
{
    const char *closing = tool_format_closing(r->family);
    r->at = 0;
    skip_blanks(r);
    if (r->at == r->held.size)
        return false;
    const char c = r->held.data[r->at];
    const int closes = *closing ? reply_word_at(r, r->at, closing) : 0;
    if (closes < 0)
        return false;
    if (closes > 0) {
        drop(r, r->at + strlen(closing));
        return true;
    }
    if (r->listed && c == ']') {
        drop(r, r->at + 1);
        r->listed = false;
        return true;
    }
    if ((r->listed && c == ',') || (r->family == TOOLS_LLAMA && (c == ';' || c == '{'))) {
        r->at += c != '{';
        r->state = OPENED;
        return true;
    }
    drop(r, r->at); /* the spaces */
    r->listed = false;
    r->state = IN_REPLY;
    return true;
}

/* ---- the reply ---------------------------------------------------------------------------------------------------------- */

static bool read_reply_more(tool_reader *r)
{
    switch (r->state) {
    case IN_REPLY: return read_reply_text(r);
    case OPENED: return read_opened(r);
    case IN_NAME: return read_tool_name(r);
    case IN_CALL: return read_call(r);
    case AFTER_CALL: return read_after(r);
    default: drop(r, r->held.size); return false;
    }
}

void tool_reader_push(tool_reader *r, const char *text, size_t size)
{
    if (!buffer_append(&r->held, text, size))
        r->failed = true;
    while (!r->failed && r->held.size > 0 && read_reply_more(r))
        ;
}

void tool_reader_free(tool_reader *r)
{
    buffer_free(&r->held);
}

void tool_reader_finish(tool_reader *r)
{
    const bool text = r->state == IN_REPLY || (r->state != AFTER_CALL && r->state != IGNORING && !r->sure);
    if (text && !r->failed && r->held.size > 0)
        hand_out_text(r, r->held.size);
    tool_reader_free(r);
}

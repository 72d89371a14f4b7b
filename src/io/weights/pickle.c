/* io/weights/pickle.c: the stack machine of pickles, with the instructions that torch.save writes for tensors. No instruction
 * recurses, and none allocates more than some 60 bytes per byte of its own. It knows nothing about torch. */
#include "io/weights/torch_parts.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 200 };

struct pickle {
    const char *path;
    const unsigned char *bytes;
    size_t size, at, begin; /* begin: start of the current instruction */
    const pickle_caller *caller;
    pickle_value *stack, *memo;
    size_t depth, stack_capacity, memo_count, memo_capacity;
    pickle_items **owned; /* all tuples, lists and dicts */
    size_t owned_count, owned_capacity;
    bool stopped;
    rapt_error *err;
};

/* ---- errors and bytes ------------------------------------------------------------------------------------------------ */

static rapt_code bad_pickle(const pickle *p, const char *reason)
{
    return rapt_fail(p->err, RAPT_ERR_FORMAT, "%s: byte %zu of the pickle: %s", p->path, p->begin, reason);
}

static rapt_code pickle_no_memory(const pickle *p)
{
    return rapt_fail(p->err, RAPT_ERR_MEMORY, "%s: out of memory for its pickle", p->path);
}

static bool has_bytes(const pickle *p, size_t count)
{
    return count <= p->size - p->at;
}

/* Takes an unsigned little-endian number of up to 8 bytes. */
static rapt_code take_number(pickle *p, size_t bytes, uint64_t *x)
{
    *x = 0;
    if (!has_bytes(p, bytes))
        return bad_pickle(p, "it ends within an instruction; is it cut off?");
    for (size_t i = 0; i < bytes; i++)
        *x |= (uint64_t)p->bytes[p->at++] << (8 * i);
    return RAPT_OK;
}

/* ---- stack ----------------------------------------------------------------------------------------------------------- */

static rapt_code push(pickle *p, pickle_value value)
{
    if (!ARRAY_RESERVE(&p->stack, &p->stack_capacity, p->depth + 1))
        return pickle_no_memory(p);
    p->stack[p->depth++] = value;
    return RAPT_OK;
}

static rapt_code push_integer(pickle *p, pickle_kind kind, int64_t integer)
{
    return push(p, (pickle_value){.kind = kind, .integer = integer});
}

/* The value at the top, which stays there; NULL with the error set if there is none. */
static pickle_value *top(const pickle *p)
{
    if (p->depth > 0 && p->stack[p->depth - 1].kind != PICKLE_MARK)
        return &p->stack[p->depth - 1];
    bad_pickle(p, "an instruction lacks its operand");
    return NULL;
}

static rapt_code pickle_pop(pickle *p, pickle_value *value)
{
    const pickle_value *at = top(p);
    if (!at)
        return RAPT_ERR_FORMAT;
    *value = *at;
    p->depth--;
    return RAPT_OK;
}

/* How many values lie above the last mark. */
static rapt_code count_to_mark(const pickle *p, size_t *count)
{
    size_t at = p->depth;
    while (at > 0 && p->stack[at - 1].kind != PICKLE_MARK)
        at--;
    *count = p->depth - at;
    return at > 0 ? RAPT_OK : bad_pickle(p, "a sequence has no beginning");
}

static rapt_code push_items(pickle *p, pickle_kind kind)
{
    pickle_items *items = calloc(1, sizeof *items);
    if (!items || !ARRAY_RESERVE(&p->owned, &p->owned_capacity, p->owned_count + 1)) {
        free(items);
        return pickle_no_memory(p);
    }
    p->owned[p->owned_count++] = items;
    return push(p, (pickle_value){.kind = kind, .items = items});
}

/* Moves the `count` values at the top of the stack to the end of a tuple, list or dict. */
static rapt_code move_items(pickle *p, pickle_items *to, size_t count)
{
    if (count == 0)
        return RAPT_OK;
    if (!ARRAY_RESERVE(&to->values, &to->capacity, to->count + count))
        return pickle_no_memory(p);
    p->depth -= count;
    memcpy(to->values + to->count, p->stack + p->depth, count * sizeof *to->values);
    to->count += count;
    return RAPT_OK;
}

/* ---- instructions: constants ----------------------------------------------------------------------------------------- */

static rapt_code run_proto(pickle *p)
{
    uint64_t version;
    if (take_number(p, 1, &version))
        return RAPT_ERR_FORMAT;
    return version == 2 ? RAPT_OK : bad_pickle(p, "it is not of protocol 2, which torch.save writes");
}

static rapt_code run_none(pickle *p)
{
    return push_integer(p, PICKLE_NONE, 0);
}

static rapt_code run_true(pickle *p)
{
    return push_integer(p, PICKLE_BOOL, 1);
}

static rapt_code run_false(pickle *p)
{
    return push_integer(p, PICKLE_BOOL, 0);
}

static rapt_code run_int1(pickle *p)
{
    uint64_t x;
    rapt_code code = take_number(p, 1, &x);
    return code ? code : push_integer(p, PICKLE_INTEGER, (int64_t)x);
}

static rapt_code run_int2(pickle *p)
{
    uint64_t x;
    rapt_code code = take_number(p, 2, &x);
    return code ? code : push_integer(p, PICKLE_INTEGER, (int64_t)x);
}

static rapt_code run_int4(pickle *p)
{
    uint64_t x;
    rapt_code code = take_number(p, 4, &x);
    return code ? code : push_integer(p, PICKLE_INTEGER, (int32_t)x);
}

/* Up to 8 bytes of two's complement, after their number. */
static rapt_code run_long1(pickle *p)
{
    uint64_t bytes, x = 0;
    rapt_code code = take_number(p, 1, &bytes);
    if (!code && bytes > 8)
        code = bad_pickle(p, "an integer has more than 64 bits");
    if (!code)
        code = take_number(p, bytes, &x);
    if (!code && bytes > 0 && bytes < 8 && x >> (8 * bytes - 1))
        x |= UINT64_MAX << (8 * bytes);
    return code ? code : push_integer(p, PICKLE_INTEGER, (int64_t)x);
}

/* Eight bytes, the highest first. */
static rapt_code run_float(pickle *p)
{
    uint64_t bits = 0;
    double real;
    rapt_code code = take_number(p, 8, &bits);
    bits = __builtin_bswap64(bits);
    memcpy(&real, &bits, sizeof real);
    return code ? code : push(p, (pickle_value){.kind = PICKLE_FLOAT, .real = real});
}

static rapt_code run_text(pickle *p)
{
    uint64_t bytes;
    rapt_code code = take_number(p, 4, &bytes);
    if (code)
        return code;
    if (!has_bytes(p, bytes))
        return bad_pickle(p, "it ends within a text; is it cut off?");
    const char *text = (const char *)p->bytes + p->at;
    if (memchr(text, '\0', bytes) || utf8_valid_prefix(text, bytes) != bytes)
        return bad_pickle(p, "a text is not UTF-8, or has a NUL");
    p->at += bytes;
    return push(p, (pickle_value){.kind = PICKLE_TEXT, .size = (uint32_t)bytes, .text = text});
}

/* ---- instructions: tuples, lists, dicts ------------------------------------------------------------------------------- */

static rapt_code run_mark(pickle *p)
{
    return push_integer(p, PICKLE_MARK, 0);
}

static rapt_code run_empty_tuple(pickle *p)
{
    return push_items(p, PICKLE_TUPLE);
}

static rapt_code run_empty_list(pickle *p)
{
    return push_items(p, PICKLE_LIST);
}

static rapt_code run_empty_dict(pickle *p)
{
    return push_items(p, PICKLE_DICT);
}

/* Makes a tuple of the `count` values at the top, and removes `marks` marks below them. */
static rapt_code make_tuple(pickle *p, size_t count, size_t marks)
{
    rapt_code code = push_items(p, PICKLE_TUPLE);
    if (code)
        return code;
    pickle_value tuple = p->stack[--p->depth];
    code = move_items(p, tuple.items, count);
    if (code)
        return code;
    p->depth -= marks;
    return push(p, tuple);
}

static rapt_code run_tuple(pickle *p)
{
    size_t count;
    rapt_code code = count_to_mark(p, &count);
    return code ? code : make_tuple(p, count, 1);
}

/* TUPLE1, TUPLE2 and TUPLE3 follow each other. */
static rapt_code run_short_tuple(pickle *p)
{
    size_t count = p->bytes[p->begin] - 0x84u;
    for (size_t i = 0; i < count; i++)
        if (p->depth < count || p->stack[p->depth - 1 - i].kind == PICKLE_MARK)
            return bad_pickle(p, "a tuple lacks a value");
    return make_tuple(p, count, 0);
}

/* Moves `count` values to the list or dict below them and below `marks` marks. */
static rapt_code put_into(pickle *p, pickle_kind kind, size_t count, size_t marks)
{
    if (p->depth < count + marks + 1 || p->stack[p->depth - count - marks - 1].kind != kind)
        return bad_pickle(p, kind == PICKLE_LIST ? "values are put into what is no list" : "items are set in what is no dict");
    if (kind == PICKLE_DICT && count % 2 != 0)
        return bad_pickle(p, "a key of a dict has no value");
    rapt_code code = move_items(p, p->stack[p->depth - count - marks - 1].items, count);
    p->depth -= marks;
    return code;
}

static rapt_code run_append(pickle *p)
{
    return top(p) ? put_into(p, PICKLE_LIST, 1, 0) : RAPT_ERR_FORMAT;
}

static rapt_code run_set_item(pickle *p)
{
    bool two = top(p) && (p->depth < 2 || p->stack[p->depth - 2].kind != PICKLE_MARK);
    return two ? put_into(p, PICKLE_DICT, 2, 0) : bad_pickle(p, "a dict lacks a key");
}

static rapt_code run_appends(pickle *p)
{
    size_t count;
    rapt_code code = count_to_mark(p, &count);
    return code ? code : put_into(p, PICKLE_LIST, count, 1);
}

static rapt_code run_set_items(pickle *p)
{
    size_t count;
    rapt_code code = count_to_mark(p, &count);
    return code ? code : put_into(p, PICKLE_DICT, count, 1);
}

/* ---- instructions: the memo ------------------------------------------------------------------------------------------- */

/* Python numbers the memo from 0, so a number is at most the count. */
static rapt_code put_memo(pickle *p, size_t bytes)
{
    uint64_t at;
    rapt_code code = take_number(p, bytes, &at);
    const pickle_value *value = code ? NULL : top(p);
    if (!value)
        return RAPT_ERR_FORMAT;
    if (at > p->memo_count)
        return bad_pickle(p, "its memo has a gap");
    if (!ARRAY_RESERVE(&p->memo, &p->memo_capacity, p->memo_count + 1))
        return pickle_no_memory(p);
    p->memo[at] = *value;
    p->memo_count += at == p->memo_count;
    return RAPT_OK;
}

static rapt_code get_memo(pickle *p, size_t bytes)
{
    uint64_t at;
    rapt_code code = take_number(p, bytes, &at);
    if (!code && at >= p->memo_count)
        code = bad_pickle(p, "it refers to a value that it has not put into its memo");
    return code ? code : push(p, p->memo[at]);
}

static rapt_code run_put1(pickle *p)
{
    return put_memo(p, 1);
}

static rapt_code run_put4(pickle *p)
{
    return put_memo(p, 4);
}

static rapt_code run_get1(pickle *p)
{
    return get_memo(p, 1);
}

static rapt_code run_get4(pickle *p)
{
    return get_memo(p, 4);
}

/* ---- instructions: names and what they build --------------------------------------------------------------------------- */

/* Takes a line without its line feed, and appends it to `name` of MAX_NAME bytes; a longer one is truncated. */
static rapt_code take_line(pickle *p, char *name)
{
    const char *line = (const char *)p->bytes + p->at, *end = memchr(line, '\n', p->size - p->at);
    if (!end)
        return bad_pickle(p, "it ends within a name; is it cut off?");
    size_t used = strlen(name);
    snprintf(name + used, MAX_NAME - used, "%.*s", (int)(end - line < MAX_NAME ? end - line : MAX_NAME), line);
    p->at += (size_t)(end - line) + 1;
    return RAPT_OK;
}

static rapt_code run_global(pickle *p)
{
    char name[MAX_NAME] = "";
    pickle_value value = {.kind = PICKLE_NAME};
    rapt_code code = take_line(p, name);
    size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, ".");
    if (!code)
        code = take_line(p, name);
    if (code)
        return code;
    if (!p->caller->find_name(p->caller->context, name, &value))
        return rapt_fail(p->err, RAPT_ERR_FORMAT, "%s: the pickle calls %s; only tensors are read, and nothing of it is run",
                         p->path, quote(name).text);
    return push(p, value);
}

static rapt_code run_reduce(pickle *p)
{
    pickle_value arguments, name, made = {.kind = PICKLE_NONE};
    rapt_code code = pickle_pop(p, &arguments);
    if (!code)
        code = pickle_pop(p, &name);
    if (!code && (name.kind != PICKLE_NAME || arguments.kind != PICKLE_TUPLE))
        code = bad_pickle(p, "it calls what is no function");
    if (!code)
        code = p->caller->call(p->caller->context, &name, arguments.items, &made, p->err);
    if (code)
        return code;
    return made.kind == PICKLE_DICT ? push_items(p, PICKLE_DICT) : push(p, made);
}

/* Attributes of an ordered dict (torch's _metadata) do not concern tensors. */
static rapt_code run_build(pickle *p)
{
    pickle_value state;
    rapt_code code = pickle_pop(p, &state);
    const pickle_value *object = code ? NULL : top(p);
    if (!object)
        return RAPT_ERR_FORMAT;
    bool fine = object->kind == PICKLE_DICT && state.kind == PICKLE_DICT;
    return fine ? RAPT_OK : bad_pickle(p, "it sets attributes of something other than a dict");
}

static rapt_code run_persistent(pickle *p)
{
    pickle_value id, found = {.kind = PICKLE_NONE};
    rapt_code code = pickle_pop(p, &id);
    if (!code)
        code = p->caller->look_up(p->caller->context, &id, &found, p->err);
    return code ? code : push(p, found);
}

static rapt_code pickle_run_stop(pickle *p)
{
    p->stopped = true;
    return RAPT_OK;
}

/* ---- the machine ------------------------------------------------------------------------------------------------------ */

/* Indexed by the byte of an instruction. pickletools.py has names for them: bytes above 127 are PROTO, TUPLE1 to TUPLE3, NEWTRUE,
 * NEWFALSE and LONG1; Q is BINPERSID, q and r are BINPUT and LONG_BINPUT, h and j BINGET and LONG_BINGET. */
static rapt_code (*const INSTRUCTIONS[256])(pickle *p) = {
    [0x80] = run_proto, ['.'] = pickle_run_stop,
    ['N'] = run_none, [0x88] = run_true, [0x89] = run_false,
    ['K'] = run_int1, ['M'] = run_int2, ['J'] = run_int4, [0x8A] = run_long1, ['G'] = run_float, ['X'] = run_text,
    ['('] = run_mark, [')'] = run_empty_tuple, [']'] = run_empty_list, ['}'] = run_empty_dict,
    ['t'] = run_tuple, [0x85] = run_short_tuple, [0x86] = run_short_tuple, [0x87] = run_short_tuple,
    ['a'] = run_append, ['e'] = run_appends, ['s'] = run_set_item, ['u'] = run_set_items,
    ['q'] = run_put1, ['r'] = run_put4, ['h'] = run_get1, ['j'] = run_get4,
    ['c'] = run_global, ['R'] = run_reduce, ['b'] = run_build, ['Q'] = run_persistent,
};

static rapt_code run_pickle(pickle *p)
{
    while (!p->stopped) {
        p->begin = p->at;
        if (p->at == p->size)
            return bad_pickle(p, "it has no end; is it cut off?");
        const unsigned instruction = p->bytes[p->at++];
        if (!INSTRUCTIONS[instruction])
            return rapt_fail(p->err, RAPT_ERR_FORMAT, "%s: byte %zu of the pickle: instruction %02x is none that describes "
                             "tensors", p->path, p->begin, instruction);
        rapt_code code = INSTRUCTIONS[instruction](p);
        if (code)
            return code;
    }
    return p->depth == 1 ? RAPT_OK : bad_pickle(p, "it leaves other than one value");
}

rapt_code pickle_read(const char *path, const char *bytes, size_t size, size_t *at, const pickle_caller *caller, pickle **out,
                      pickle_value *result, rapt_error *err)
{
    *out = NULL;
    pickle *p = calloc(1, sizeof *p);
    if (!p)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for its pickle", path);
    *p = (pickle){.path = path, .bytes = (const unsigned char *)bytes, .at = *at, .caller = caller, .err = err};
    p->size = size - *at <= PICKLE_MAX ? size : *at + PICKLE_MAX;
    rapt_code code = run_pickle(p);
    if (!code)
        code = pickle_pop(p, result);
    *at = p->at;
    if (code)
        pickle_free(p);
    else
        *out = p;
    return code;
}

void pickle_free(pickle *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->owned_count; i++) {
        free(p->owned[i]->values);
        free(p->owned[i]);
    }
    free(p->owned);
    free(p->stack);
    free(p->memo);
    free(p);
}

const char *pickle_kind_name(pickle_kind kind)
{
    static const char *const names[] = {
        [PICKLE_MARK] = "nothing", [PICKLE_NONE] = "None", [PICKLE_BOOL] = "a bool", [PICKLE_INTEGER] = "an integer",
        [PICKLE_FLOAT] = "a float", [PICKLE_TEXT] = "a text", [PICKLE_TUPLE] = "a tuple", [PICKLE_LIST] = "a list",
        [PICKLE_DICT] = "a dict", [PICKLE_NAME] = "a function", [PICKLE_HANDLE] = "a storage"};
    return names[kind];
}

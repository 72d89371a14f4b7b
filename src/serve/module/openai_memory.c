/* serve/module/openai_memory.c: estimates of memory. The bytes of a token are as in usual texts: if there are more, the response
 * asks again as it grows (exchange_makes). */
#include "serve/module/openai_run.h"

#include "decode/schema/constraint.h"
#include "serve/module/reply.h"

enum {
    TEXT = 6,         /* bytes of a token in a text */
    ENTRY = 50,       /* bytes of a completion's token, with its log-probability, id and offset */
    TOP = 45,         /* bytes of each of the most probable tokens, in two objects */
    CHAT_ENTRY = 100, /* bytes of a chat's token or alternative, with its list of bytes */
    TREE = 2000,      /* bytes of a token's tree while a part is sent */
    CHOICE = 600,
    STREAM = EXCHANGE_UNREAD, /* bytes that a client has not read yet; exchange_write asks for more */
    JOB = 8 << 10,    /* bytes of a choice in the engine, besides its tokens and stop texts */
    STOP = 2 + sizeof(size_t), /* bytes for each byte of a stop text: two copies, and the table for searching it */
    OPEN_TOKENS = 4096 /* tokens that are assumed if the request sets no limit */
};

static size_t entry_bytes(const openai_request *r)
{
    if (!r->has_logprobs)
        return 0;
    return r->shape->opens ? CHAT_ENTRY * (1 + r->top) : ENTRY + TOP * (1 + r->top);
}

/* Tokens that are generated at most. */
static size_t text_tokens_of(const openai_request *r)
{
    const size_t tokens = r->options.o.max_tokens;
    return r->is_open && tokens > OPEN_TOKENS ? OPEN_TOKENS : tokens;
}

/* Bytes of a choice that waits to be sent whole. */
static size_t whole_bytes(const openai_request *r, const openai_prompt *p)
{
    const size_t scored = r->echo && r->has_logprobs ? p->count : 0, tokens = text_tokens_of(r);
    return (scored + tokens) * entry_bytes(r) + tokens * TEXT + (r->echo ? p->size : 0);
}

/* Bytes of a choice in the engine. */
static size_t running_bytes(const openai_request *r, const openai_prompt *p)
{
    size_t bytes = JOB + 16 * (p->count + text_tokens_of(r));
    for (size_t i = 0; i < r->options.o.stop_count; i++)
        bytes += STOP * strlen(r->options.stops[i]);
    if (r->options.constraint)
        bytes += CONSTRAINED_STATES * sizeof(schema_state);
    if (r->options.stream && r->echo && r->has_logprobs)
        bytes += p->count * TREE * (1 + r->top) / 6;
    return bytes;
}

bool openai_memory_ask(exchange *x, const openai_request *r, size_t at_once, request_error *e)
{
    const size_t n = r->options.n, count = r->prompts.count * n;
    size_t bytes = (r->options.stream ? STREAM : 0) + constraint_bytes(r->options.constraint), most = 0;
    for (size_t i = 0; i < r->prompts.count; i++) {
        const openai_prompt *p = &r->prompts.list[i];
        const size_t running = running_bytes(r, p);
        most = running > most ? running : most;
        bytes += p->size + 8 * p->count + n * CHOICE;
        if (!r->options.stream)
            bytes += REPLY_COPIES * n * whole_bytes(r, p);
    }
    bytes += most * (count < at_once ? count : at_once);
    return request_asks(x, ADMISSION_MAKING, bytes, e, "%zu prompt%s with %zu choice%s of up to %zu tokens%s%s", r->prompts.count,
                        r->prompts.count == 1 ? "" : "s", n, n == 1 ? "" : "s", text_tokens_of(r),
                        r->has_logprobs ? " and their log-probabilities" : "", r->echo && r->has_logprobs ? ", and echoes," : "");
}

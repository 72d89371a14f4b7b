/* decode/lookup.h: prompt lookup (Saxena 2023, "Prompt Lookup Decoding"): the last tokens of a text are looked up in the text
 * itself, and the tokens that followed them there are proposed as its next ones. A pass computes the logits of all proposals at
 * once, and tokens are chosen from them as ever, until one is not the proposed one. So proposals change the time that a text
 * takes, and no bit of it: a sampled token depends on seed, sample and position alone. For generators and the engine. */
#ifndef DECODE_LOOKUP_H
#define DECODE_LOOKUP_H

#include "decode/continuation.h"

/* The proposals of one run. */
typedef struct lookup {
    size_t most;     /* tokens in a proposal; 0: there are none */
    size_t width;    /* tokens of the next one: more after a good one, fewer after a bad one */
    size_t pause;    /* passes that are made without one */
    size_t backoff;  /* the pause after the next bad one */
    size_t proposed; /* tokens of the proposal that is being judged, which stand behind the text; 0: there is none */
    size_t taken;    /* of these, were chosen */
} lookup;

/* Begins a run with proposals of `most` tokens at most. */
void lookup_begin(lookup *l, size_t most);
/* Before a pass: writes at most `room` proposed tokens behind the text, whose count stays. Only its last `seen` tokens, which the
 * model sees, are searched: what is older explains less, and a long text would cost more than its passes. Returns how many; 0:
 * there are none worth the time, or it is out of memory for them. */
size_t lookup_propose(lookup *l, text_tokens *text, size_t seen, size_t room);
/* Whether the token that is chosen, and not yet put, is the proposed one, so that the logits behind it hold, too. If not, and
 * after the last one, the proposal is over: `proposed` is 0, and the caller drops the positions behind the text. */
bool lookup_judge(lookup *l, const text_tokens *text, int32_t chosen);

#endif

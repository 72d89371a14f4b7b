/* decode/lookup.c: finds proposals in a text, and how many tokens they are worth. For generator.c and the engine. */
#include "decode/lookup.h"

#include "base/min.h"

#define SHORTEST ((size_t)3)  /* tokens that must have occurred: fewer recur by chance */
#define LONGEST ((size_t)16)  /* a longer match says no more */
#define NARROW ((size_t)3)    /* tokens in a run's first proposal */
#define FIRST_PAUSE ((size_t)4)
#define LAST_PAUSE ((size_t)64) /* a bad proposal may cost half a pass, and so 1 % of the time */

void lookup_begin(lookup *l, size_t most)
{
    *l = (lookup){.most = most, .width = MIN(NARROW, most), .backoff = FIRST_PAUSE};
}

/* How many tokens before `at`, from `first` on, equal the last ones, LONGEST at most. */
static size_t lookup_match(const text_tokens *text, size_t first, size_t at)
{
    const size_t most = MIN(at - first, LONGEST);
    size_t n = 0;
    while (n < most && text->ids[at - 1 - n] == text->ids[text->count - 1 - n])
        n++;
    return n;
}

/* Where the text continues after the longest match among its last `seen` tokens, the latest one of these; the end of the text:
 * there is no match. */
static size_t lookup_find(const text_tokens *text, size_t seen)
{
    const size_t first = text->count - seen;
    size_t best = SHORTEST - 1, found = text->count;
    for (size_t at = text->count - 1; at >= first + SHORTEST && best < LONGEST; at--) {
        const size_t n = lookup_match(text, first, at);
        if (n > best) {
            best = n;
            found = at;
        }
    }
    return found;
}

size_t lookup_propose(lookup *l, text_tokens *text, size_t seen, size_t room)
{
    const size_t want = MIN(l->width, room);
    if (l->pause > 0) {
        l->pause--;
        return 0;
    }
    if (want == 0 || seen <= SHORTEST || !ARRAY_RESERVE(&text->ids, &text->capacity, text->count + want))
        return 0;
    const size_t from = lookup_find(text, seen);
    if (from == text->count)
        return 0;
    for (size_t i = 0; i < want; i++) /* a text that repeats itself is read on among the proposals */
        text->ids[text->count + i] = text->ids[from + i];
    l->proposed = want;
    l->taken = 0;
    return want;
}

/* The next proposal is wide after one that held, and later after one that did not. */
static void lookup_learn(lookup *l)
{
    if (l->taken == l->proposed)
        l->width = MIN(2 * l->width, l->most);
    else
        l->width = MIN(l->taken + 1, l->most);
    if (2 * l->taken >= l->proposed) {
        l->backoff = FIRST_PAUSE;
    } else {
        l->pause = l->backoff;
        l->backoff = MIN(2 * l->backoff, LAST_PAUSE);
    }
}

bool lookup_judge(lookup *l, const text_tokens *text, int32_t chosen)
{
    if (l->proposed == 0)
        return false;
    if (l->taken < l->proposed && chosen == text->ids[text->count]) {
        l->taken++;
        return true;
    }
    lookup_learn(l);
    l->proposed = 0;
    return false;
}

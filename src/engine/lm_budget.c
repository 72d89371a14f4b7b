/* engine/lm_budget.c: measures steps and derives the budget. Times are running means, so that one slow step does not matter. */
#include "engine/lm_budget.h"

#define FIRST 32         /* prompt tokens in a step while nothing is measured */
#define LARGEST 512      /* max prompt tokens in a step: matrix products are not faster with more, and a cancel waits for at most
                            one step */
#define LONGEST 0.25     /* seconds that a step without running texts may take */
#define SHARE 0.8        /* the time that prompts may add to a step, relative to a step without prompts */
#define SMOOTHING 0.2    /* weight of the newest time */

static double blend(double mean, double value)
{
    return mean == 0 ? value : mean + SMOOTHING * (value - mean);
}

static size_t clamp(double tokens)
{
    return tokens < 1 ? 1 : tokens > LARGEST ? LARGEST : (size_t)tokens;
}

size_t lm_budget_tokens(const lm_budget *b, size_t running)
{
    if (b->fixed > 0)
        return b->fixed;
    if (b->token == 0 || (running > 0 && b->decode == 0))
        return FIRST;
    return clamp((running > 0 ? SHARE * b->decode : LONGEST) / b->token);
}

void lm_budget_measured(lm_budget *b, size_t running, size_t tokens, double seconds)
{
    if (tokens == 0)
        b->decode = blend(b->decode, seconds);
    else if (running == 0)
        b->token = blend(b->token, seconds / (double)tokens);
    else if (b->decode > 0 && seconds > b->decode)
        b->token = blend(b->token, (seconds - b->decode) / (double)tokens);
}

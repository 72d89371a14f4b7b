/* engine/lm_budget.c: see lm_budget.h. Times are running means, so that one slow step does not matter. */
#include "engine/lm_budget.h"

#define FIRST 32         /* tokens, while nothing is measured */
#define LARGEST 512      /* of a step: products are as fast as they get, and a cancel waits for one step at most */
#define LONGEST 0.25     /* seconds that a step without running texts may take */
#define SHARE 0.8        /* of the time of a step without a prompt: what a prompt may add to it */
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

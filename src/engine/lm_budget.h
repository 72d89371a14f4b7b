/* engine/lm_budget.h: the number of prompt tokens that a step computes together with the texts that are being generated (chunked
 * prefill: Agrawal et al. 2024, "Sarathi-Serve", section 4.2). It follows measured times: chunks change no bit, so they may
 * depend on the clock. */
#ifndef ENGINE_LM_BUDGET_H
#define ENGINE_LM_BUDGET_H

#include <stddef.h>

typedef struct lm_budget {
    size_t fixed;     /* tokens, always; 0: by time */
    double decode;    /* seconds of a step without a prompt; 0: not measured yet */
    double token;     /* seconds of a token of a prompt; 0: not measured yet */
} lm_budget;

/* Tokens of prompts for the next step; `running`: texts that get a token in it. At least 1. */
size_t lm_budget_tokens(const lm_budget *b, size_t running);
/* A step took `seconds` for `running` texts and `tokens` of prompts. */
void lm_budget_measured(lm_budget *b, size_t running, size_t tokens, double seconds);

#endif

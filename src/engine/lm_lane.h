/* engine/lm_lane.h: the structs of a language model's lane, for the files that share them: slots and their prefixes (lm_slot.c),
 * steps (lm_lane.c), the budget of prompt tokens in a step (lm_budget.c). */
#ifndef ENGINE_LM_LANE_H
#define ENGINE_LM_LANE_H

#include "decode/model_tapes.h"
#include "engine/lm_budget.h"
#include "engine/lm_job.h"
#include "nn/lm_step.h"

/* A slot of the KV cache. When its text is done, it keeps its contents as a cached prefix for later texts. */
typedef struct lm_slot {
    lm_job *job;      /* NULL: free */
    text_tokens held; /* tokens whose keys and values it holds, from position 0 on */
    size_t first;     /* tokens of the job's text before position 0 (rapt_lm_visible) */
    uint64_t used;    /* the step that used it last */
    uint64_t order;   /* rank of its job's admission */
} lm_slot;

typedef struct lm_lane {
    rapt_engine_model *served;
    const rapt_model *model;   /* of it */
    model_tapes tapes;         /* one, for all threads */
    rapt_kv_cache *kv;         /* row i: of slots[i] */
    lm_slot *slots;            /* [slot_count] */
    size_t slot_count;
    bool no_prefix_cache;
    size_t positions;          /* that running texts and cached prefixes may hold together */
    queue waiting;
    lm_budget budget;
    lm_piece *pieces;          /* [slot_count] of a step */
    size_t piece_count;
    size_t *rest;              /* [slot_count] tokens that the text of each slot lacks; 0: the slot is free */
    lm_slot **prompts;         /* [slot_count] whose prompts are read in a step */
    lm_job **choosing;         /* [slot_count] texts that choose a token in a step, from these logits [vocab] */
    const rapt_real **logits;
    size_t choosing_count;
    arena *scratch;            /* [threads] */
    uint64_t admitted;         /* jobs so far */
    rapt_engine_counts counts;
} lm_lane;

/* Gives a waiting job a slot, with the longest prefix that is held somewhere. False: no slot is free, or the KV memory has no
 * room. */
bool lm_slot_admit(lm_lane *l, lm_job *job);
/* Prepares the slot for what its job sees of its text: drops its contents if the window has moved, and copies from another slot
 * that holds more of the text. Returns the number of tokens still to be computed, at least 1. */
size_t lm_slot_rest(lm_lane *l, lm_slot *s);
/* Whether another text, whose prompt is being computed, will soon hold more of this one's than it has. */
bool lm_slot_follows(const lm_lane *l, const lm_slot *s);
/* Records that `count` more tokens were computed. False: out of memory; the slot is then empty. */
bool lm_slot_extend(lm_lane *l, lm_slot *s, size_t count);
/* Ends the job's proposal: drops the positions behind its text. */
void lm_slot_trim(lm_lane *l, lm_slot *s);
/* The job has left. */
void lm_slot_release(lm_lane *l, lm_slot *s);

#endif

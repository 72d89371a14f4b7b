/* engine/translation_job.h: lines to translate, from the request to its end. For translation_lane.c. */
#ifndef ENGINE_TRANSLATION_JOB_H
#define ENGINE_TRANSLATION_JOB_H

#include "decode/translate.h"
#include "engine/engine_core.h"

typedef struct translation_job {
    rapt_engine_job job;
    void (*on_done)(void *context, rapt_code code, const char *message, const rapt_translation *out);
    void *context;
    char *memory;            /* holds the lines */
    const char **lines;
    translate_text text;
    size_t next;             /* the first item that no batch has taken */
    atomic_bool interrupted; /* it was to stop before it was done */
} translation_job;

/* Copies and encodes the lines. NULL with `err` set. */
translation_job *translation_job_new(const rapt_translator *t, const rapt_engine_translation *request, rapt_error *err);

/* Items that no batch has taken; that batches have. */
size_t translation_job_waiting(const translation_job *j);
size_t translation_job_running(const translation_job *j);
/* Checks whether the job is cancelled or has failed; if so, no batch takes the rest of its items. */
void translation_job_check(translation_job *j);
/* Call it when no item is left. Calls on_done and ends the job, which must not be touched afterwards. */
void translation_job_end(translation_job *j);

#endif

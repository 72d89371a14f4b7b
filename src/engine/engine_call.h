/* engine/engine_call.h: jobs that call a caller's function between two steps. */
#ifndef ENGINE_ENGINE_CALL_H
#define ENGINE_ENGINE_CALL_H

#include "engine/engine_core.h"

/* Calls the function, and ends the job. */
void engine_call_run(rapt_engine_job *job, int threads);

#endif

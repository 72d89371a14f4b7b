/* engine.h: jobs of an engine: requests whose results its thread hands over to a Python function. */
#ifndef RAPT_PYTHON_ENGINE_H
#define RAPT_PYTHON_ENGINE_H

#include "generate.h"

#include "rapt/engine.h"

/* A job with two references, the caller's and the engine's, which on_done takes. deliver(result, exception) is called once, by
 * the engine's thread; one of the two is None. `o`: of a translation. */
PyObject *engine_job_new(const ext_state *s, PyObject *deliver, const rapt_translate_options *o);
/* How many lines a translation has; and its documents, which are moved to the job. */
void engine_job_count(PyObject *job, size_t lines);
void engine_job_keep(PyObject *job, documents *d);
/* Frees a job that was not queued. */
void engine_job_drop(PyObject *job);
/* Whether the calling thread hands over a result. */
bool engine_job_in_callback(void);

/* Callbacks of the library, whose context is the job. */
void engine_job_generated(void *job, const rapt_engine_generated *end);
void engine_job_translated(void *job, rapt_code code, const char *message, const rapt_translation *out);
bool engine_job_stops(void *job);

#endif

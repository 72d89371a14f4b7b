/* tests/loading.h: rapt_model_load with the options that tests give it. */
#ifndef TESTS_LOADING_H
#define TESTS_LOADING_H

#include "rapt/io.h"

/* With adapters, unless that is NULL. */
static inline rapt_model *load_adapted(const char *path, const char *adapters, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    o.adapter = adapters;
    return rapt_model_load(path, &o, err);
}

/* A model of any task, for inference or not. */
static inline rapt_model *load_for(const char *path, bool inference, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    o.inference = inference;
    return rapt_model_load(path, &o, err);
}

static inline rapt_model *load_task(const char *path, rapt_task task, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    o.task = task;
    return rapt_model_load(path, &o, err);
}

static inline rapt_model *load_inference(const char *path, rapt_task task, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    o.task = task;
    o.inference = true;
    return rapt_model_load(path, &o, err);
}

#endif

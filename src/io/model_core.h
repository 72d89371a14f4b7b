/* io/model_core.h: the struct of a model. For all that load, train, run, save and describe models; programs outside have the
 * functions of rapt/io.h. */
#ifndef IO_MODEL_CORE_H
#define IO_MODEL_CORE_H

#include "rapt/io.h"

struct rapt_model {
    rapt_task task;
    rapt_params *params;        /* the parameters of the task's net, which owns them */
    uint64_t run;               /* id of the training run that made the model; 0: unknown */
    bool sealed;                /* when it was loaded, its files were bound to each other by checksums */
    const char *family;         /* "model_type" of a Hugging Face folder, NULL for a model of rapt. Must not be freed */
    rapt_search_policy search;  /* how it is decoded by default; zeroed: with rapt's own search */
    struct weights *files;      /* files from which matrices are read when they are needed, or NULL */
    struct hub_origin *origin;  /* what is needed to save a Hugging Face folder that was not loaded for inference, or NULL */
    char *chat_template;        /* a language model of rapt: the text of its chat template, which is saved with it, or NULL */
    struct lora_setup *lora;    /* adapters, which alone are trained and saved (rapt_model_add_lora), or NULL */
    struct adapter *adapter;    /* the adapter that was added to the matrices, or NULL */
    struct safetensors *stored; /* the file from which matrices of fewer bits are read, or NULL */
    const char *stored_type;    /* a model of rapt: the numeric type of fewest bits that its file has ("Q8_0", "BF16"); NULL: all
                                   are fp32. Must not be freed */
    struct model_view *view;    /* a model with heads switched off: it borrows all of the above from another one, its modules are
                                   here (model_heads.c); else NULL */
    rapt_translation_model translation; /* zeroed for another task */
    rapt_language_model language;       /* zeroed for another task */
    rapt_encoder_model encoder;         /* zeroed for another task */
};

#endif

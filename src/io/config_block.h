/* io/config_block.h: blocks and positions, which the configurations of both kinds of model share. For config_lm.c and
 * config_translation.c, whose tables name the members. */
#ifndef IO_CONFIG_BLOCK_H
#define IO_CONFIG_BLOCK_H

#include "rapt/lm.h"

/* The words of config.json, in the order of their enums; NULL ends them. */
extern const char *const CONFIG_NORM_PLACES[], *const CONFIG_NORM_KINDS[], *const CONFIG_FFN_KINDS[], *const CONFIG_POSITIONS[],
    *const CONFIG_INITS[];

/* A model of such blocks, as far as checks of its sizes need it. Defaults are in place. */
typedef struct config_stack {
    const rapt_block_config *block;
    size_t layers, attentions; /* attentions of each layer */
    size_t ffns;               /* feed-forward networks of each layer */
    size_t rows;               /* rows of embeddings, output and positions in the parameter file */
    rapt_positions_kind positions;
    size_t longest;            /* positions */
    const char *longest_name;  /* "a context" */
} config_stack;

/* The stack of a language model; defaults must be in place. */
config_stack config_lm_stack(const rapt_lm_config *c);

/* Bytes of the weight matrices in fp32, a lower bound of the size of the parameter file. */
double config_block_min_bytes(const config_stack *s);
/* Whether heads and positions fit: RAPT_ERR_FORMAT. `path` is for messages. */
rapt_code config_block_check(const config_stack *s, const char *path, rapt_error *err);
/* Fails with RAPT_ERR_VALUE: rapt's config.json has no member for `member` of a configuration. */
rapt_code config_block_refuse(const char *member, const char *path, rapt_error *err);
/* Refuses a block that the members of rapt's config.json cannot describe, such as a Hugging Face model's. */
rapt_code config_block_check_ours(const rapt_block_config *c, const char *path, rapt_error *err);

#endif

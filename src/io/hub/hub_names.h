/* io/hub/hub_names.h: the tensor of a Hugging Face model that holds a parameter: its name, its shape, and the part that is the
 * parameter. For code that reads tensors into parameters, and writes parameters as tensors. */
#ifndef IO_HUB_HUB_NAMES_H
#define IO_HUB_HUB_NAMES_H

#include "io/hub/hub_family.h"
#include "io/hub/hub_slice.h"

enum { HUB_NAME = 256 };

/* A model of a family. */
typedef struct hub_naming {
    const hub_family *family;
    const rapt_params *params;
    const rapt_block_config *block; /* with defaults in place; it decides the rows of a joint matrix */
    const hub_layout *layout; /* names in place of the family's, without its prefix; NULL: the family's */
} hub_naming;

/* The values of "#" and "@" in a pattern. */
typedef struct hub_match {
    char layer[16];
    const char *last; /* "weight" or "bias" */
} hub_match;

/* The row after `last` (NULL: the first one) for a parameter; NULL: there is no other. */
const hub_name *hub_names_next(const hub_naming *of, const hub_name *last, const char *ours, hub_match *m);
/* The name of a row's tensor: `bare`, as files of a model without head have it, and `whole`, with the prefix. */
void hub_names_of(const hub_naming *of, const hub_name *n, const hub_match *m, char bare[HUB_NAME], char whole[HUB_NAME]);
/* Whether a tensor of this name holds no parameters. */
bool hub_names_unused(const hub_naming *of, const char *name);

/* The shape of the tensor that a row says to hold a parameter of the shape of `ours`; the number of dimensions. */
int hub_names_shape(const hub_naming *of, const hub_name *n, const rapt_tensor *ours, size_t shape[2]);
/* The part of that tensor that is the parameter. The caller sets `w` and `t`. */
hub_slice hub_names_slice(const hub_naming *of, const hub_name *n, const rapt_tensor *ours);

#endif

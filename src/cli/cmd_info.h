/* cli/cmd_info.h: what `rapt info` is asked for: the machine, a model, or one of its tensors. */
#ifndef CLI_CMD_INFO_H
#define CLI_CMD_INFO_H

#include <jansson.h>
#include <stdbool.h>

typedef struct info_arguments {
    const char *model;  /* NULL: the machine */
    const char *tensor; /* the parameter or buffer to print, or NULL */
    bool json, tensors, seal;
    bool full, table; /* of the tensor */
} info_arguments;

/* What a model is. Returns the exit status. */
int info_model(const info_arguments *a);
/* One tensor of a model, as PyTorch prints it, as a table, or as JSON. Returns the exit status. */
int info_tensor(const info_arguments *a);

/* Prints an object and frees it; NULL: out of memory. Returns the exit status. */
int info_print_json(json_t *o);

#endif

/* cli/cmd_info.h: the two halves of `rapt info`: the machine, and a model. */
#ifndef CLI_CMD_INFO_H
#define CLI_CMD_INFO_H

#include <jansson.h>
#include <stdbool.h>

/* Returns the exit status. */
int info_model(const char *folder, bool json, bool tensors);

/* Prints an object and frees it; NULL: out of memory. Returns the exit status. */
int info_print_json(json_t *o);

#endif

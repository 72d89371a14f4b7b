/* cli/cmd_info.h: what `rapt info` is asked for: the machine, a recipe, a model, or one of its tensors. */
#ifndef CLI_CMD_INFO_H
#define CLI_CMD_INFO_H

#include "rapt/text.h"
#include "rapt/train.h"

#include <jansson.h>
#include <stdbool.h>

#define INFO_ASSIGNMENTS 64

typedef struct info_arguments {
    const char *model;  /* a model folder or a recipe; NULL: the machine */
    bool is_foreign;    /* it is a Hugging Face folder, or a file of tensors */
    bool is_adapter;    /* it is a folder of low-rank adapters alone */
    bool is_recipe;     /* it is another file */
    const char *tensor; /* the parameter or buffer to print, or NULL */
    bool json, tensors, seal;
    bool full, table; /* how the tensor is printed */
    double network, flops; /* --cluster: bits a second; floating-point operations a second, 0: measure it */
    const char *assignments[INFO_ASSIGNMENTS]; /* to keys of the recipe */
    size_t assignment_count;
    int threads;
} info_arguments;

/* Prints what a run of a recipe, or of a model folder's recipe, would train, and the time and memory it would take. Returns the
 * exit status. */
int info_recipe(const info_arguments *a);

/* Describes a model. Returns the exit status. */
int info_model(const info_arguments *a);
/* One tensor of a model, as PyTorch prints it, as a table, or as JSON. Returns the exit status. */
int info_tensor(const info_arguments *a);

/* Whether `path` is a Hugging Face folder or a file of tensors; prints what its files hold. The second returns the exit
 * status. */
bool info_weights_is_foreign(const char *path);
int info_weights(const info_arguments *a);

/* Whether `path` is a folder with only low-rank adapters; prints for which model they are. The second returns the exit status. */
bool info_adapter_is(const char *path);
int info_adapter(const info_arguments *a);

/* "words", "pipeline", ... */
const char *info_tokenizer_kind(const rapt_tokenizer *k);

/* Prints an object and frees it; NULL: out of memory. Returns the exit status. */
int info_print_json(json_t *o);

/* ---- info_libraries.c: the libraries that the program runs with, and their versions. */

/* {"jansson": "2.14", ...}; NULL: out of memory. */
json_t *info_libraries_json(void);
void info_show_libraries(void); /* a line */

/* ---- info_cluster.c: the table of `rapt info RECIPE --cluster`. */

/* Prints the time, traffic and memory of a training step on 1 to 1,024 machines, as text or JSON. Returns the exit status. */
int info_cluster(const info_arguments *a, const rapt_recipe *k, const rapt_memory_plan *plan);

#endif

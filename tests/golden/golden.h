/* tests/golden/golden.h: golden files (made by tools/make_golden.py, whose first lines say what is in them): cases,
 * their inputs and parameters on a tape, and the comparison with what PyTorch computed.
 * For tests/golden/test_*.c; a failure ends the test through cmocka.
 *
 *     golden *g = golden_open("linear");
 *     while (golden_next(g)) {
 *         rapt_linear_init(&m, g->set, "", ...);
 *         golden_load(g);
 *         golden_finish(g, rapt_linear_forward(g->tape, &m, golden_input(g, "x")));
 *     }
 *     golden_close(g);
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "rapt/nn.h"

#include "io/safetensors.h"

/* Outputs may differ by OUTPUT x max(1, largest |output|); gradients by GRADIENT x the largest entry of that gradient,
 * and where that is zero by mathematics, by the rounding errors of sums that cancel: ZERO x the largest entry of any
 * gradient of the case. In the double build only the files' own rounding to float32 is left, 2^-24 of a number. */
#ifdef RAPT_DOUBLE
#define GOLDEN_OUTPUT 6e-8
#define GOLDEN_GRADIENT 6e-8
#define GOLDEN_ZERO 1e-14
#else
#define GOLDEN_OUTPUT 1e-6
#define GOLDEN_GRADIENT 1e-5
#define GOLDEN_ZERO 1e-6
#endif

#define GOLDEN_MAX_CASES 32
#define GOLDEN_MAX_INPUTS 8

typedef struct golden {
    const char *file;
    safetensors *tensors;
    bool *used;
    char cases[GOLDEN_MAX_CASES][64];
    size_t case_count, next_case;
    const char *name; /* of the case */
    rapt_tape *tape;
    rapt_params *set;
    rapt_tensor *inputs[GOLDEN_MAX_INPUTS];
    const char *input_names[GOLDEN_MAX_INPUTS];
    size_t input_count;
    double worst_output, worst_gradient; /* relative, so far */
} golden;

golden *golden_open(const char *file);
/* Fails where a tensor of the file was never asked for. Reports the worst differences. */
void golden_close(golden *g);

/* Goes on to the next case of the file: a new pass that records and trains, and a new set of parameters. */
bool golden_next(golden *g);
/* Starts the same case once more; `record` false: inference. */
void golden_again(golden *g, bool record);

/* Tensors of this case, by "kind/name"; the entry is NULL, or the test fails, where there is none. */
const safetensors_entry *golden_find(golden *g, const char *name);
const safetensors_entry *golden_get(golden *g, const char *name);
double golden_at(const safetensors_entry *e, size_t i);
double golden_number(golden *g, const char *name, double otherwise); /* config/name */
size_t golden_size(golden *g, const char *name);                     /* config/name, which must be there */

/* in/name on the tape, collecting a gradient that golden_gradients checks. */
rapt_tensor *golden_input(golden *g, const char *name);
const int32_t *golden_ints(golden *g, const char *name); /* in/name or NULL */
rapt_tokens golden_tokens(golden *g, const char *name);
/* A copy of "kind/name" as the library's numbers; the caller frees it. */
rapt_real *golden_reals(golden *g, const char *name);
/* The mask of the case's valid_lens, keep, causal and past. */
rapt_mask golden_mask(golden *g);
/* The sizes in config/... */
rapt_block_config golden_block_config(golden *g);
rapt_transformer_config golden_transformer_config(golden *g);

/* Gives the set the values param/NAME; the set and the file must have exactly the same parameters. */
void golden_load(golden *g);
void golden_load_set(golden *g, rapt_params *set); /* another set than g's own */

/* Compares y with out/name. */
void golden_output(golden *g, const char *name, const rapt_tensor *y);
/* Runs back from `loss`; then compares the gradients of all inputs and parameters. */
void golden_gradients(golden *g, rapt_tensor *loss);
/* Both, with the loss sum(y * weights). */
void golden_finish(golden *g, rapt_tensor *y);
/* Compares n numbers with out/name; they may differ by bound x max(1, largest). Gives the worst difference as a part
 * of max(1, largest). */
double golden_compare(golden *g, const char *name, const rapt_real *ours, size_t n, double bound);

#endif

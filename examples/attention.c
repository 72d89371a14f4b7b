/* examples/attention.c: what three random vectors attend to, in a layer of two heads before any training. */
#include <rapt.h>
#include <stdio.h>

int main(void)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err); /* 1 is the seed */
    rapt_tape *t = rapt_tape_new(NULL, &err);
    if (!set || !t)
        return fprintf(stderr, "%s\n", err.message), 1;

    rapt_multi_head_attention layer;
    rapt_attention_options options = {.hidden = 4, .heads = 2};
    rapt_multi_head_attention_init(&layer, set, "demo.", &options);
    rapt_param *data = rapt_params_add(set, "x", 3, (size_t[]){1, 3, 4}, (rapt_init){RAPT_INIT_NORMAL, 1});

    rapt_mask causal = {.causal = true};
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tape_begin(t, (rapt_pass){.record = true});
    rapt_tensor *x = &data->value; /* [batch 1, time 3, feature 4] */
    rapt_tensor *y = rapt_multi_head_attention_forward(t, &layer, x, x, x, &causal);
    rapt_tensor *w = rapt_tape_attention(t, "demo"); /* [batch 1, head 2, query 3, key 3] */
    if (rapt_backward(t, rapt_op_sum(t, y), &err) != RAPT_OK) /* the backward pass: gradients of x and all weights */
        return fprintf(stderr, "%s\n", err.message), 1;

    for (size_t row = 0; row < rapt_tensor_rows(w); row++)
        printf("head %zu, query %zu: %.3f %.3f %.3f\n", row / 3, row % 3, (double)w->data[3 * row],
               (double)w->data[3 * row + 1], (double)w->data[3 * row + 2]);
    printf("d sum(y) / d x[0] = %.3f\n", (double)x->grad[0]);
    rapt_tape_free(t);
    rapt_params_free(set);
    return 0;
}

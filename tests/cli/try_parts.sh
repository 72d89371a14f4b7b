# tests/cli/try_parts.sh: the suggestions of chapters 0 to 9, for check_try.sh, which has the functions.

suggestion 00 1 'you write "the" once only'
change 00_tokens 's/"the cat sat in the hat and the rat ate"/"cat sat in the hat and rat ate"/'
fails 'as on paper: at, he, the'
says 'merge 2: no pair occurs twice'
says 'merge 1: token 256 is \|at\|'

suggestion 00 2 'Encode "hate" by hand'
change 00_tokens 's/show_tokens\(k, "that"\) == 3/show_tokens(k, "hate") == 3/'
holds
says '^  104 256 101$'

suggestion 00 3 'Cut without spaces in mind'
change 00_tokens 's/(o.vocab_size = BYTES \+ merges;)/\1 o.pattern = "[\\\\s\\\\S]+";/'
fails 'then no pair occurs twice'
says 'merge 2: token 257 is \|at \|'

suggestion 01 1 'Change the seed'
change 01_embedding 's/rapt_params_new\(1,/rapt_params_new(7,/'
holds
check "$name: other numbers" sh -c '! cmp -s out "$1"' - <("$BUILD/examples/01_embedding")

suggestion 01 2 '.padding_idx = 1'
change 01_embedding 's/"pair.", 5, 3, NULL/"pair.", 5, 3, \&(rapt_embedding_options){.embed = {.has_padding = true, .padding_idx = 1}}/'
fails 'its rows count the words'
zeros_in_row_1() { grep -m1 -A2 "^$1 =" out | tail -1 | tr -d ' []' | grep -Eqx '(-?0\.(0*),?)+'; }
check "$name: row 1 starts as zeros" zeros_in_row_1 weight
check "$name: and gets no gradient" zeros_in_row_1 'gradient of weight'
change 01_embedding 's/10000, 512, NULL/10000, 512, \&(rapt_embedding_options){.std = 0.1}/'
says 'mean length of a vector: 2\.2[56]'
change 01_embedding 's/10000, 512, NULL/10000, 512, \&(rapt_embedding_options){.embed = {.max_norm = 1}}/'
says 'mean length of a vector: 1\.00'

suggestion 01 3 'Make an id too large'
change 01_embedding 's/\{2, 5, 1\}/{2, 50, 1}/'
says 'is 50, the vocabulary has 10'

suggestion 01 4 'plot embedding MODEL'
draws embedding "$TRANSLATION" bird sea train

suggestion 02 1 'plot positions --curves'
draws positions --curves
draws similarity

suggestion 02 2 'number of features in `print_table`'
change 02_positions 's/"picture.", 32, 32, NULL/"picture.", 32, 16, NULL/' 's/show_table\(32, 32/show_table(32, 16/'
table
is '32 places of 16 features' 'exit !(R == 32 && C == 16)'

suggestion 02 3 'Swap the vectors of two words'
program <<'C'
#include "show.h"
/* Words a and b at places 0 and 1; swapped before and after the sum. */
static void swap(rapt_tape *t, rapt_params *set)
{
    rapt_positions m;
    rapt_positions_init(&m, set, "p.", 2, 4, NULL);
    rapt_real ab[8] = {1, 2, 3, 4, 5, 6, 7, 8}, ba[8] = {5, 6, 7, 8, 1, 2, 3, 4};
    const rapt_tensor *y = rapt_positions_forward(t, &m, rapt_tape_input(t, 3, (size_t[]){1, 2, 4}, ab, false), 0);
    const rapt_tensor *z = rapt_positions_forward(t, &m, rapt_tape_input(t, 3, (size_t[]){1, 2, 4}, ba, false), 0);
    if (!show_ready(t, set))
        return;
    rapt_real after[8];
    for (int i = 0; i < 8; i++)
        after[i] = y->data[(i + 4) % 8]; /* the same two vectors, listed the other way round */
    show_check("swapped after: the same set of vectors", show_difference(4, after, y->data + 4) == 0);
    show_check("swapped before: other vectors", show_difference(4, z->data, y->data + 4) > 0.1 &&
                                                    show_difference(4, z->data, y->data) > 0.1);
}
int main(int argc, char **argv) { return show_run(argc, argv, swap, swap); }
C
holds

suggestion 03 1 'Take the position out of `input_sales`'
change 03_queries_keys_values 's/return preprocess\(t, set, "sales.", input_sales_tokens\(set\)[^;]*;/rapt_embedding m;\n    rapt_embedding_init(\&m, set, "sales.embedding.", SALES_VOCABULARY, SALES_FEATURES, NULL);\n    return rapt_embedding_forward(t, \&m, input_sales_tokens(set));/'
table
is 'both rows "to" are equal now' 'for (j = 1; j <= C; j++) if (x[4, j] != x[14, j]) exit 1'
"$BUILD/examples/03_queries_keys_values" --table >table
is 'before they were not' 'for (j = 1; j <= C; j++) if (x[4, j] != x[14, j]) exit 0; exit 1'

suggestion 03 2 'Leave the biases out'
change 03_queries_keys_values 's/full, d, d, &\(rapt_linear_options\)\{/&.no_bias = true, /'
holds
check "$name: no bias of a map" sh -c '! grep -q "bias of each map" out'

suggestion 03 3 'Let keys and values come from other vectors'
change 03_queries_keys_values 's/rapt_linear_forward\(t, &m\.k, x\)/rapt_linear_forward(t, \&m.k, rapt_op_scale(t, x, 2))/'
fails 'feature 0 of Q, of K and of V'

suggestion 04 1 'Ask for 5 heads of 64 features'
change 04_heads 's/SALES_HEADS = 4/SALES_HEADS = 5/'
says '5 heads'

suggestion 04 2 'Split x itself in place of Q'
change 04_heads 's/s\.q = rapt_op_split_heads\(t, p\.q, heads\)/s.q = rapt_op_split_heads(t, x, heads)/'
fails 'feature j of head h'

suggestion 04 3 '`.kv_heads = 2` with 4 heads'
change 04_heads 's/\.heads = heads, \.bias/.heads = heads, .kv_heads = heads \/ 2, .bias/' 's/\(t, p\.k, heads\)/(t, p.k, heads \/ 2)/' \
    's/\(t, p\.v, heads\)/(t, p.v, heads \/ 2)/'
holds
says 'K by heads: \[2, 2, 5, 4\]'

suggestion 05 1 'Score x with itself'
change 05_scores 's/SALES_HEADS = 4/SALES_HEADS = 1/' 's/rapt_linear_forward\(t, &m\.[qk], x\)/x/g'
fails 'scores are not symmetric'
table
is 'symmetric, and the diagonal wins' 'for (i = 1; i <= R; i++) for (j = 1; j <= C; j++) if (x[i, j] > x[i, i] || (x[i, j] - x[j, i]) ^ 2 > 1e-8) exit 1'

suggestion 05 2 'Leave `rapt_op_scale` out'
change 06_softmax 's/rapt_op_scale\(t, rapt_op_matmul\(t, q, k, true\), 1 \/ sqrt\(\(double\)\(d \/ heads\)\)\)/rapt_op_matmul(t, q, k, true)/'
fails 'the fused attention has the same weights'

suggestion 05 3 'Hide in `hide_later_keys`'
change 05_scores 's/if \(n % time > n \/ time % time\)\n/if (n % time > n \/ time % time || n % time + 3 < n \/ time % time)\n/'
fails 'later keys are -inf'

# The largest weight of the last word.
largest() { awk -F'\t' 'END { for (i = 2; i <= NF; i++) if ($i > m) m = $i; print m }' table; }
suggestion 06 1 'Multiply the scores by 10'
"$BUILD/examples/06_softmax" --table >table
plain=$(largest)
change 06_softmax 's/, 1 \/ sqrt/, 10 \/ sqrt/'
table
winner=$(largest)
change 06_softmax 's/, 1 \/ sqrt/, 0.1 \/ sqrt/'
table
even=$(largest)
check "$name: a winner ($winner), then even shares ($even)" awk "BEGIN { exit !($winner > 2 * $plain && $even < 0.07) }"

suggestion 06 2 '`.keep_per_query = true`'
change 06_softmax 's/static weights sales_weights/static uint8_t keep[4 * 16 * 16];\n\n&/' \
    's/return attend\(t, set, "sales.attention", input_sales\(t, set\), SALES_HEADS, &\(rapt_mask\)\{\.causal = true\}\)/for (int i = 0; i < 4 * 16 * 16; i++)\n        keep[i] = i % 2 == 0;\n    return attend(t, set, "sales.attention", input_sales(t, set), SALES_HEADS, \&(rapt_mask){.keep = keep, .keep_per_query = true})/'
table
is 'every second word is hidden' 'for (i = 1; i <= R; i++) for (j = 1; j <= C; j++) if ((x[i, j] == 0) != (j % 2 == 0)) exit 1'

suggestion 06 3 'hide every key'
program <<'C'
#include "show.h"
static void hidden(rapt_tape *t, rapt_params *set)
{
    rapt_tape_begin(t, (rapt_pass){.record = true, .keep_gradients = true});
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 2, 3}, (rapt_real[]){1, 2, 3, 4, 5, 6}, true);
    rapt_tensor *y = rapt_op_masked_softmax(t, x, &(rapt_mask){.valid_lens = (int32_t[]){0}});
    rapt_backward(t, rapt_op_sum(t, y), NULL);
    if (show_ready(t, set))
        show_check("the gradient is zeros", show_difference(6, x->grad, (rapt_real[6]){0}) == 0);
}
int main(int argc, char **argv) { return show_run(argc, argv, hidden, hidden); }
C
holds

suggestion 06 4 'plot attention MODEL'
draws attention "$TRANSLATION" 'I see the sea.'

suggestion 07 1 'Give `attend` a mask of `NULL`'
change 07_weighted_sum 's/SALES_HEADS, &causal\)/SALES_HEADS, NULL)/' 's/rapt_mask causal = \{\.causal = true\};//'
fails 'the first word sees itself alone'

# Rows of outputs (right) that are within 0.2 of a row of values (left).
copies='for (i = 1; i <= R; i++) { near = 0; for (k = 1; k <= R; k++) { far = 0; for (j = 1; j <= C / 2; j++) { d = x[i, j + C / 2] - x[k, j]; if (d < 0) d = -d; if (d > far) far = d } if (far < 0.2) near = 1 } n += near }'
suggestion 07 2 'Multiply the scores by 20'
change 07_weighted_sum 's/, 1 \/ sqrt/, 20 \/ sqrt/'
table
is 'half of the rows on the right are copies of rows on the left' "$copies exit !(n >= R / 2)"
"$BUILD/examples/07_weighted_sum" --table >table
is 'before, few were' "$copies exit !(n < R / 4)"

suggestion 07 3 'Replace the weights by 1/16'
change 07_weighted_sum 's/a\.values = rapt_op_split/for (size_t i = 0; i < rapt_tensor_size(a.weights); i++)\n        a.weights->data[i] = 1 \/ (rapt_real)rapt_tensor_features(a.weights);\n    &/'
table
is 'all rows on the right are the same' 'for (i = 2; i <= R; i++) for (j = C / 2 + 1; j <= C; j++) if (x[i, j] != x[1, j]) exit 1'

suggestion 08 1 'Set the columns of W_o to 0'
change 08_concat_projection 's/    r\.projected = /    size_t d = rapt_tensor_features(r.concat);\n    for (size_t i = 0; i < d * d; i++)\n        m->o.weight->value.data[i] *= i % d < d \/ m->heads;\n&/' \
    's/    r\.projected = rapt_linear_forward\(t, &m->o, r\.concat\);/&\n    rapt_tensor *one = rapt_tape_input(t, 3, r.concat->shape, r.concat->data, false);\n    for (size_t i = 0; i < rapt_tensor_size(one); i++)\n        one->data[i] *= i % d < d \/ m->heads;\n    one = rapt_linear_forward(t, \&m->o, one);\n    show_check("head 0 alone gives this", show_difference(rapt_tensor_size(one), one->data, r.projected->data) < 1e-6);/'
holds
says '\[ok\] *head 0 alone gives this'

suggestion 08 2 'Leave W_o out'
change 08_concat_projection 's/r\.projected = rapt_linear_forward\(t, &m->o, r\.concat\)/r.projected = r.concat/'
fails 'rapt_multi_head_attention_forward gives the same'

suggestion 08 3 '3 positions in place of 5'
change 08_concat_projection 's/"pair.q", 3, shape/"pair.q", 3, (size_t[]){2, 3, 16}/'
says 'output: \[2, 3, 16\]'
holds

suggestion 09 1 'Put `input_batch(t, set)` into the network'
change 09_ffn 's/return attend\(t, set, "attention.", input_batch\(t, set\), HEADS, NULL\)/return input_batch(t, set)/'
holds
table
check "$name: another picture" sh -c '! cmp -s table "$1"' - <("$BUILD/examples/09_ffn" --table)

suggestion 09 2 'Leave the ReLU out'
change 09_ffn 's/\*active = rapt_op_relu\(t, hidden\)/*active = hidden/'
fails 'some hidden numbers pass the ReLU'
program <<'C'
#include "show.h"
/* Without the ReLU, W2 (W1 x + b1) + b2 is W x + b with W = W2 W1, b = W2 b1 + b2. */
static void one_matrix(rapt_tape *t, rapt_params *set)
{
    rapt_linear a, b, both;
    rapt_linear_init(&a, set, "a.", 4, 8, NULL);
    rapt_linear_init(&b, set, "b.", 8, 4, NULL);
    rapt_linear_init(&both, set, "both.", 4, 4, NULL);
    for (int i = 0; i < 4; i++) {
        both.bias->value.data[i] = b.bias->value.data[i];
        for (int k = 0; k < 8; k++)
            both.bias->value.data[i] += b.weight->value.data[i * 8 + k] * a.bias->value.data[k];
        for (int j = 0; j < 4; j++) {
            both.weight->value.data[i * 4 + j] = 0;
            for (int k = 0; k < 8; k++)
                both.weight->value.data[i * 4 + j] += b.weight->value.data[i * 8 + k] * a.weight->value.data[k * 4 + j];
        }
    }
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 4}, (rapt_real[]){1, -2, 3, 0.5f}, false);
    const rapt_tensor *y = rapt_linear_forward(t, &b, rapt_linear_forward(t, &a, x)), *z = rapt_linear_forward(t, &both, x);
    if (show_ready(t, set))
        show_check("one matrix does what both do", show_difference(4, y->data, z->data) < 1e-5);
}
int main(int argc, char **argv) { return show_run(argc, argv, one_matrix, one_matrix); }
C
holds

suggestion 09 3 'makes networks of other kinds'
change 09_ffn 's/rapt_op_relu\(t, hidden\)/rapt_op_activate(t, hidden, RAPT_ACTIVATION_GELU)/'
says 'made 0\.[0-9] % of the hidden numbers 0'

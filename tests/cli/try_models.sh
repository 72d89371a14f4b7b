# tests/cli/try_models.sh: the suggestions of chapters 10 to 18, for check_try.sh, which has the functions.

suggestion 10 1 '"norm1.weight", set it to 2'
change 10_add_norm 's/(init_block\(&m, set, prefix, [^;]*;)/\1\n    rapt_param *w = rapt_params_find(set, "norm1.weight");\n    for (size_t i = 0; w \&\& i < rapt_tensor_size(\&w->value); i++)\n        w->value.data[i] = 2;/'
fails 'mean 0 and variance 1 at every position, after both norms'
check "$name: no other check fails" test "$(grep -c FAILED out)" = 1

suggestion 10 2 'Stack ten blocks without norms'
program <<'C'
#include "input.h"
#include "show.h"
#include <stdio.h>
static double variance(const rapt_tensor *x)
{
    double sum = 0, squares = 0, n = (double)rapt_tensor_size(x);
    for (size_t i = 0; i < rapt_tensor_size(x); i++) {
        sum += (double)x->data[i];
        squares += (double)x->data[i] * (double)x->data[i];
    }
    return squares / n - sum * sum / n / n;
}
static void stack(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *x = input_sales(t, set);
    double before = variance(x), last = before;
    bool grows = true;
    for (int i = 0; i < 10; i++) {
        char name[32];
        rapt_multi_head_attention a;
        rapt_ffn f;
        snprintf(name, sizeof name, "a%d.", i);
        rapt_multi_head_attention_init(&a, set, name, &(rapt_attention_options){.hidden = 64, .heads = 4, .init = RAPT_WEIGHT_INIT_XAVIER});
        snprintf(name, sizeof name, "f%d.", i);
        rapt_ffn_init(&f, set, name, 64, 256, 64, &(rapt_ffn_options){.init = RAPT_WEIGHT_INIT_XAVIER});
        x = rapt_op_add(t, x, rapt_multi_head_attention_forward(t, &a, x, x, x, &(rapt_mask){.causal = true}));
        x = rapt_op_add(t, x, rapt_ffn_forward(t, &f, x));
        if (!show_ready(t, set))
            return;
        printf("block %d: variance %.3f\n", i, variance(x));
        grows = grows && variance(x) > last;
        last = variance(x);
    }
    show_check("the variance grows with every block", grows && last > 10 * before);
}
int main(int argc, char **argv) { return show_run(argc, argv, stack, stack); }
C
holds

suggestion 10 3 '.kind = RAPT_NORM_KIND_RMS'
change 10_add_norm 's/&m->norm1, set, name, 1, &d, NULL/\&m->norm1, set, name, 1, \&d, \&(rapt_add_norm_options){.norm.kind = RAPT_NORM_KIND_RMS}/'
says 'position 0 of norm 1: mean 0\.4442'
fails 'mean 0 and variance 1 at every position, after both norms'

# The mean of the largest weights of the seven tokens that count.
sharpness() { awk -F'\t' 'NR > 1 && NR <= 8 { m = 0; for (i = 2; i <= NF; i++) if ($i > m) m = $i; s += m } END { print s / 7 }' table; }
suggestion 11 1 '.embedding_std = 1'
change 11_encoder 's/1 \/ sqrt\(\(double\)block\.d_model\)/1/'
table
check "$name: most weights are nearly 0 or 1" awk "BEGIN { exit !($(sharpness) > 0.9) }"
"$BUILD/examples/11_encoder" --table >table
check "$name: before, they were not" awk "BEGIN { exit !($(sharpness) < 0.6) }"

suggestion 11 2 'Set `valid_lens` to `NULL`'
change 11_encoder 's/y = rapt_encoder_forward\(t, m, tokens, lens\)/y = rapt_encoder_forward(t, m, tokens, NULL)/'
fails 'block by block gives the same, to the bit'

suggestion 11 3 'Write 8 in place of 2'
change 11_encoder 's/\.layers = 2/.layers = 8/'
holds

suggestion 11 4 '--kind self'
draws attention "$TRANSLATION" 'I see the sea.' --kind self

suggestion 12 1 'Turn the causal mask off in `on_paper`'
change 12_decoder 's/causal = \{\.causal = true\}, valid/causal = {.causal = false}, valid/'
fails 'means of one, two, three words'
check "$name: the first row becomes 2 2" sh -c 'grep -A1 "^looking back" out | tail -1 | grep -Eq "\[\[ *2\.(0+)?, +2\.(0+)?\]"'

suggestion 12 2 'two words a step'
change 12_decoder 's/for \(size_t i = 0; i < TIME; i\+\+\) \{\n        int32_t word\[BATCH\];/for (size_t i = 0; i < TIME; i += 2) {\n        int32_t word[2 * BATCH];/' \
    's/for \(size_t b = 0; b < BATCH; b\+\+\)\n            word\[b\] = p->target\[b \* TIME \+ i\];/for (size_t b = 0; b < 2 * BATCH; b++)\n            word[b] = p->target[b \/ 2 * TIME + i + b % 2];/' \
    's/\{word, BATCH, 1, NULL\}/{word, BATCH, 2, NULL}/' 's/step->data \+ b \* TARGET_WORDS/step->data + b * 2 * TARGET_WORDS/' \
    's/TARGET_WORDS \* sizeof \*whole\) == 0/2 * TARGET_WORDS * sizeof *whole) == 0/'
holds
says 'logits of a step: \[64, 2, 201\]'

suggestion 12 3 'Decode another word at step 3'
change 12_decoder 's/word\[b\] = p->target\[b \* TIME \+ i\];/word[b] = i == 3 ? 17 : p->target[b * TIME + i];/' \
    's/same = same && matches\(logits, whole, i\);/printf("%zu:%d ", i, matches(logits, whole, i));/'
check "$name: from step 3 on" test "$(grep -o '[0-9]:[01] ' out | tr -d '\n')" = '0:1 1:1 2:1 3:0 4:0 5:0 6:0 7:0 8:0 9:0 '

suggestion 12 4 'plot attention MODEL'
draws attention "$TRANSLATION" 'They hear a bird.'

suggestion 13 1 'Train it'
check "$name: explain prints the steps of a model" sh -c '"$1" explain "$2" "the king" >out' - "$RAPT" "$LANGUAGE"
says 'attention'
check "$name: the recipe is there" test -s "$SOURCE/recipes/sales-textbook-seed.yaml"

suggestion 13 2 'Give it a text of your own'
ranks=${RAPT_SHARED:-$SOURCE/../shared}/data/tokenizers/cl100k_base.tiktoken
if [ -s "$ranks" ]; then
    for i in {1..40}; do echo 'The king sang of seven stones and of a nightingale.'; done >own.txt
    check "$name: all checks hold" sh -c '"$1" own.txt "$2" >out' - "$BUILD/examples/13_sales_textbook" "$ranks"
    says ' king'
else
    skip "$name: the ranks are not here"
fi

suggestion 13 3 'Print the most probable token at all 16 places'
change 13_sales_textbook 's/    printf\("\\n-- the rest of the block, and the output --\\n"\);/    int right = 0;\n    for (size_t i = 0; i < BATCH * CONTEXT; i++)\n        right += most_probable(s->logits->data + i * words, words) == (size_t)batch->labels.ids[i];\n    printf("right: %d of %d\\n", right, BATCH * CONTEXT);\n&/'
says '^right: 0 of 64'

suggestion 13 4 'Why are ids all that the loss'
program <<'C'
#include "show.h"
#include <math.h>
/* The loss needs the place of the label among the logits: -ln p[label] = ln sum exp - x[label]. */
static void loss(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 1, 3}, (rapt_real[]){0.5f, 1, -2}, false);
    rapt_tokens label = {.ids = (int32_t[]){1}, .batch = 1, .time = 1};
    const rapt_tensor *y = rapt_op_cross_entropy(t, x, label, NULL, NULL);
    if (show_ready(t, set))
        show_check("from the id alone", fabs((double)y->data[0] - (log(exp(0.5) + exp(1) + exp(-2)) - 1)) < 1e-6);
}
int main(int argc, char **argv) { return show_run(argc, argv, loss, loss); }
C
holds

last_loss() { grep '^step 60' out | sed 's/.*loss //; s/,.*//'; }
suggestion 14 1 'Set the learning rate to 0.3'
change 14_training 's/0\.003/0.3/g'
fails 'the loss falls below a tenth'
says '^step 10: loss 6\.8[5-9]'
says '^step 60: loss 0\.77'
says '49 after'
change 14_training 's/0\.003/0.00003/g'
check "$name: with 0.00003 the loss stays near ln 53" awk "BEGIN { exit !($(last_loss) > 3.7) }"
says '^step 60: loss 3\.93'

suggestion 14 2 'Leave the bias correction out'
change 14_training 's/ \/ \(1 - pow\(0\.9, step\)\)\)/)/' 's/sqrt\(s->v \/ \(1 - pow\(0\.999, step\)\)\)/sqrt(s->v)/'
fails "all numbers are those of the paper's algorithm"

suggestion 14 3 'a dropout of 0.1'
change 14_training 's/config\.vocab = s\.vocabulary;/&\n    config.block.dropout = 0.1;/'
holds
says '63 after'
check "$name: the loss at step 60 is higher" awk "BEGIN { exit !($(last_loss) > 0.045) }"
says '^step 60: loss 0\.0584'

suggestion 14 4 'In `row_sums` begin the pass without'
change 14_training 's/\.training = training, \.step = 1\}\);\n    rapt_tape_capture/.step = 1});\n    rapt_tape_capture/'
says 'training, behind dropout:  1\.0000 1\.0000 1\.0000 1\.0000 1\.0000'

suggestion 14 5 'Freeze the embedding'
change 14_training 's/    rapt_adam \*adam = m \? /    if (m)\n        rapt_params_freeze(m->params, "embedding.*");\n&/'
holds
check "$name: the loss falls nearly as fast" awk "BEGIN { exit !($(last_loss) < 0.05) }"
says '^step 60: loss 0\.0379'

suggestion 15 1 'Set the temperature of "temperature 2" to 10'
change 15_prediction 's|"temperature 2", 2,|"temperature 2", 10,|'
check "$name: nearly all goes to others" awk '/^temperature 2/ && !n++ { exit !($7 > 0.97) }' out

suggestion 15 2 'Set `STEPS` to 60'
change 15_prediction 's/STEPS = 150/STEPS = 60/'
fails 'it is reached within 0.005'
fails 'each way gives what it gives'
says 'probability [0-9.]+: we drink tea with milk'
says 'probability [0-9.]+: we drink water from the spring'

suggestion 15 3 'Let milk come 7 times'
change 15_prediction 's/\{3, "we drink tea with milk/{7, "we drink tea with milk/' 's/\{1, "we drink tea with ginger/{0, "we drink tea with ginger/' \
    's/\{2, "we drink tea with/{1, "we drink tea with/g'
check "$name: both searches find tea with milk" test "$(grep -c '^probability 0.3[0-9]*: we drink tea with milk' out)" = 2

suggestion 15 4 '--at -1 --top 10'
check "$name: prints ten" sh -c '"$1" generate "$2" "the king" --at -1 --top 10 >out 2>/dev/null && [ "$(grep -c "0\.[0-9]" out)" = 10 ]' - "$RAPT" "$LANGUAGE"

suggestion 15 5 '--greedy` twice'
sample() { "$RAPT" generate "$LANGUAGE" 'the king' --quiet --max-tokens 40 "$@"; }
check "$name: greedy twice gives one text" test "$(sample --greedy)" = "$(sample --greedy)"
check "$name: two seeds give two" test "$(sample --seed 1)" != "$(sample --seed 2)"

after() { grep 'steps of Adam' out | sed "s/.*to \([0-9.]*\) ($1).*/\1/"; }
suggestion 16 1 'Train with a learning rate of 0.0003'
before=$("$BUILD/examples/16_gpt" | grep 'steps of Adam')
change 16_gpt 's/m, s, 0\.003\)/m, s, 0.0003)/'
post_before=$(sed 's/.*to \([0-9.]*\) (post).*/\1/' <<<"$before") pre_before=$(sed 's/.*to \([0-9.]*\) (pre).*/\1/' <<<"$before")
check "$name: post-norm learns better, pre-norm less" \
    awk "BEGIN { exit !($(after post) < $post_before / 2 && $(after pre) > $pre_before) }"

suggestion 16 2 'Set `BLOCKS` to 3'
change 16_gpt 's/BLOCKS = 12/BLOCKS = 3/'
says '\[ok\] *about the root of the number of blocks'
check "$name: post-norm learns" awk "BEGIN { exit !($(after post) < 0.1) }"

suggestion 16 3 'In `gpt2` count a larger one'
change 16_gpt 's/    printf\("\\n-- GPT-2, the smallest/    c.layers = 48, c.block.d_model = 1600, c.block.heads = 25, c.block.ffn = 6400;\n&/'
says '^with an output matrix of its own +1638022400$'

suggestion 16 4 'Give the model of `residual_init` post-norm'
change 16_gpt 's/c\.block\.std = 0\.125;/c.block.norm_place = RAPT_NORM_PLACE_POST;\n        &/'
says '^std +0\.72( +1\.00){12}$'
says '^std / sqrt\(24\) +0\.72( +1\.00){12}$'

loss_on_others() { awk -v name="$1" 'index($0, name) == 1 && /parameters, loss/ { sub(/.*loss /, ""); print $1 + 0 }' out | tail -1; }
suggestion 17-since-2017 1 'In `sizes` put `RAPT_POSITIONS_LEARNED`'
change 17_since_2017 's/RAPT_POSITIONS_ROTARY/RAPT_POSITIONS_LEARNED/'
check "$name: nearly the same loss on the windows" awk '/^all four/ && !n++ { exit !($6 < 0.04) }' out
fails 'all four: fewer parameters and a smaller loss'
check "$name: a part of the gain is left" awk "BEGIN { exit !($(loss_on_others 'chapter 16') > $(loss_on_others 'all four') + 0.02 && $(loss_on_others 'all four') > 1.55) }"

suggestion 17-since-2017 2 'model.ffn_kind=swiglu'
check "$name: trains a step" "$RAPT" train "$SOURCE/recipes/quickstart.yaml" --set model.norm_kind=rms --set model.ffn_kind=swiglu \
    --set model.kv_heads=1 --max-steps 1 --out modern --quiet
check "$name: three matrices, no bias of a norm" sh -c '"$1" info modern --tensors >out && grep -q "encoder\.0\.ffn\.gate\.weight" out &&
    ! grep -q "norm1\.bias" out' - "$RAPT"

suggestion 17-rotary 1 'Set the base in `scores`'
change 17_rotary 's/PLACES, d, 10000\)/PLACES, d, 100)/'
fails 'all scores are those of the formula'
says '\[ok\] *turned: the distance decides'

suggestion 17-rotary 2 'no positions at all'
change 17_rotary 's/\{RAPT_POSITIONS_LEARNED,/{RAPT_POSITIONS_NONE,/'
check "$name: the worst within 32 places, and no cliff" awk '/^learned/ { exit !($2 > 1.9 && $2 < 2.2 && $3 < $2 + 0.5 && $4 < $2 + 0.5) }' out

suggestion 17-rms-norm 1 'make the rows 1001 1007'
change 17_rms_norm 's/1, 7, 101, 107,/1, 7, 1001, 1007,/'
says '-1\.0 +1\.0 +0\.9970[0-9]* +1\.0029'

suggestion 17-rms-norm 2 'Set eps to 25'
change 17_rms_norm 's/NULL, NULL, 1e-9/NULL, NULL, 25/' 's/x, NULL, 1e-9/x, NULL, 25/'
says '0\.1414[0-9]* +0\.9899'
fails '(1, 7) has root mean square 5'
fails 'RMS norm: scaled the same, shifted not'

suggestion 17-swiglu 1 'hidden features of SwiGLU to 256'
before=$(awk '/^SwiGLU/ { sub(/.*loss /, ""); print $1 + 0 }' <("$BUILD/examples/17_swiglu"))
change 17_swiglu 's/RAPT_FFN_SWIGLU, 171\}/RAPT_FFN_SWIGLU, 256}/'
fails 'equally many parameters'
check "$name: the loss falls a little more" awk "BEGIN { exit !($(loss_on_others SwiGLU) < $before) }"

suggestion 17-swiglu 2 'Put `RAPT_FFN_GEGLU_TANH`'
change 17_swiglu 's/RAPT_FFN_SWIGLU, 171\}/RAPT_FFN_GEGLU_TANH, 171}/'
holds
check "$name: the same within a few hundredths" awk "BEGIN { d = $(loss_on_others SwiGLU) - $before; exit !(d < 0.05 && d > -0.05) }"

suggestion 17-grouped-queries 1 'one key-value head'
change 17_grouped_queries 's/"grouped\.", 2\)/"grouped.", 1)/' 's/k\.weight, 2\)/k.weight, 1)/' 's/v\.weight, 2\)/v.weight, 1)/'
holds
says 'W_k: \[16, 64\]'

suggestion 17-grouped-queries 2 'Give it 3'
change 17_grouped_queries 's/"grouped\.", 2\)/"grouped.", 3)/'
says '3 key'
check "$name: it ends with 1" test "$status" = 1

suggestion 17-grouped-queries 3 '--set model.kv_heads=1'
check "$name: trains a step" "$RAPT" train "$SOURCE/recipes/quickstart.yaml" --set model.kv_heads=1 --max-steps 1 --out mqa --quiet
check "$name: narrow keys" sh -c '"$1" info mqa --tensors | grep -Eq "encoder\.0\.attention\.k\.weight +\[32, 128\]"' - "$RAPT"

suggestion 18 1 '--html watched.html --checkpoints'
check "$name: a model with its checkpoints" "$RAPT" train "$SOURCE/recipes/quickstart.yaml" --set train.keep_untrained=true \
    --set train.checkpoint_every=1 --max-steps 2 --out watched --quiet
check "$name: a page of them" sh -c '"$1" explain watched "Where are my keys?" --html watched.html --checkpoints >/dev/null &&
    grep -q "type=.\?range" watched.html' - "$RAPT"

suggestion 18 2 'Set `LETTERS` to 8'
change 18_during_training 's/LETTERS = [0-9]+/LETTERS = 8/'
holds

suggestion 18 3 'Set `.heads` to 4'
change 18_during_training 's/\.heads = [0-9]+/.heads = 4/'
check "$name: one check fails" test "$(grep -c FAILED out)" = 1

suggestion 18 4 'explain models/watched/untrained'
check "$name: explains the untrained model" sh -c '"$1" explain watched/untrained "Where are my keys?" "Où sont mes clés ?" \
    --train --only loss --only "*.weights" >out' - "$RAPT"
check "$name: the loss of the first row" grep -q "^loss $(awk '/^\| untrained/ { print $4 }' "$(page 18)")," out
says '^decoder\.1\.cross_attention\.weights'

#!/bin/bash
# tests/cli/check_plot.sh: `rapt plot`: pictures are pictures, the numbers in them equal sums made here from the model's own file,
# and an error is one line, with no file written. How pictures look is tested in tests/view.
# labels: each-level not-emulated sanitized-late
. "$(dirname "$0")/lib.sh"

# ---- models --------------------------------------------------------------------------------------------------------
make_inputs
make_text >text.txt
train pairs --set model.layers=2 || { echo "cannot train the translation model"; exit 1; }
model() { # NAME TOKENIZER SETTING...
    make_text_recipe "$2" >"$1.yaml"
    "$RAPT" train "$1.yaml" --quiet --out "$1" "${@:3}" || { echo "cannot train $1"; exit 1; }
}
train turned --set model.positions=rotary --set train.steps=2 && train learned --set model.positions=learned --set train.steps=2 ||
    { echo "cannot train translation models with other positions"; exit 1; }
model characters characters
model bpe bpe --set train.steps=2
model rotary characters --set model.positions=rotary --set train.steps=2
model sinusoidal characters --set model.positions=sinusoidal --set train.steps=2
plot() { "$RAPT" plot "$@"; }
sentence='You like the moon.' # as five tokens and <eos>
before=$(listing pairs; listing characters)

# numbers FOLDER TENSOR: its values, one a line.
numbers() { tensor "$1/model.safetensors" "$2" | od -An -v -t f4 -w4; }
# matrix FOLDER TENSOR COLUMNS: the same with rows as lines.
matrix() { numbers "$1" "$2" | awk -v n="$3" '{ printf "%s%s", $1, NR % n ? "\t" : "\n" }'; }
# cells: a printed table without its names.
cells() { tail -n +2 | cut -f2-; }
# near LIMIT A B: two files of numbers agree, line by line and field by field, and there is one at least.
near() {
    [ -s "$2" ] && [ "$(wc -lw <"$2")" = "$(wc -lw <"$3")" ] && paste -d'\n' "$2" "$3" | awk -v limit="$1" '
        NR % 2 { n = split($0, a); next }
        { if (split($0, b) != n) exit bad = 1
          for (i = 1; i <= n; i++)
              if (!(a[i] - b[i] <= limit && b[i] - a[i] <= limit)) { print NR / 2, i, a[i], b[i]; exit bad = 1 } }
        END { exit bad }'
}

# ---- numbers: positions --------------------------------------------------------------------------------------------
sinusoids() { # LENGTH D
    awk -v length_="$1" -v d="$2" 'BEGIN {
        for (i = 0; i < length_; i++)
            for (j = 0; j < d; j++) {
                angle = i / 10000 ^ (2 * int(j / 2) / d)
                printf "%.9f%s", j % 2 ? cos(angle) : sin(angle), j < d - 1 ? "\t" : "\n"
            }
    }'
}
plot positions --data >table.out
check 'positions: 60 of them by default, and names' test "$(wc -l <table.out)" = 61 -a "$(cut -f1 table.out | tail -1)" = 59
sinusoids 60 32 >want
cells <table.out >got
check 'positions: sines and cosines' near 1e-6 want got
sinusoids 7 9 >want
plot positions --length 7 --d-model 9 --kind sinusoidal --data | cells >got
check 'positions: of another size' near 1e-6 want got
sinusoids 60 32 | awk '{ for (i = 0; i < 2; i++) print i ? "20" : "3", NR - 1, $(i ? 21 : 4) }' | sort -n -s -k1,1 >want
plot positions --dims 3,20 --data | tail -n +2 | sed 's/dimension //' >got
check 'positions: curves of chosen dimensions' near 1e-6 want got
check 'positions: four curves by default' test "$(plot positions --curves --data | cut -f1 | sort -u | grep -c dimension)" = 4
curves() { plot positions --curves --data "$@" | sed 1d | cut -f1 | uniq | sed 's/dimension //' | tr '\n' ' '; }
check 'positions: the book.s four' test "$(curves)" = '6 7 8 9 '
check 'positions: the last ones of fewer' test "$(curves --d-model 8) $(curves --d-model 3)" = '4 5 6 7  0 1 2 '
matrix characters positions.weight 16 >want
plot positions characters --data | cells >got
check 'positions: learned ones are those of the model' near 1e-6 want got
check 'positions: as many as it has' test "$(wc -l <got)" = 12
sinusoids 12 16 >want
plot positions sinusoidal --data | cells >got
check 'positions: sinusoidal ones of a model' near 1e-6 want got
sinusoids 40 16 >want
plot positions pairs --data | cells >got
check 'positions: of a translation model' near 1e-6 want got
awk 'BEGIN { for (i = 0; i < 5; i++) for (j = 0; j < 8; j++) {
    angle = i / 10000 ^ (2 * (j % 4) / 8); printf "%.9f%s", j < 4 ? cos(angle) : sin(angle), j < 7 ? "\t" : "\n" } }' >want
plot positions rotary --length 5 --data | cells >got
check 'positions: rotary ones' near 1e-6 want got
plot positions turned --length 5 --data | cells >got
check 'positions: rotary ones of a translation model' near 1e-6 want got
plot positions --kind rotary --d-model 8 --length 5 --data | cells >got
check 'positions: rotary ones without a model' near 1e-6 want got
matrix learned encoder.positions.weight 16 | head -n 7 >want
plot positions learned --length 7 --data | cells >got
check 'positions: learned ones of a translation model' near 1e-6 want got

# sin a sin b + cos a cos b = cos(a - b): d/2 such sums, and encodings of length sqrt(d/2).
awk 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 20; j++) {
    sum = 0; for (k = 0; k < 12; k++) sum += cos((i - j) / 10000 ^ (2 * k / 24))
    printf "%.9f%s", sum / 12, j < 19 ? "\t" : "\n" } }' >want
plot similarity --length 20 --d-model 24 --data | cells >got
check 'similarity: cosines' near 1e-6 want got
matrix characters positions.weight 16 | awk '{ for (j = 1; j <= NF; j++) x[NR, j] = $j } END {
    for (i = 1; i <= NR; i++) { n[i] = 0; for (j = 1; j <= NF; j++) n[i] += x[i, j] ^ 2 }
    for (i = 1; i <= NR; i++) for (k = 1; k <= NR; k++) {
        sum = 0; for (j = 1; j <= NF; j++) sum += x[i, j] * x[k, j]
        printf "%.9f%s", sum / sqrt(n[i] * n[k]), k < NR ? "\t" : "\n" } }' >want
plot similarity characters --data | cells >got
check 'similarity: of learned positions' near 1e-5 want got

# ---- numbers: attention --------------------------------------------------------------------------------------------
# attention FOLDER EMBEDDING POSITIONS NORM ATTENTION CAUSAL ID...: head 1 of the first block's attention, from tensors of
# these names: sqrt(16) embedding + position, layer norm where there is one before, two projections, softmax.
attention() {
    local folder=$1 causal=$6 place name
    {
        for place in "emb $2" "pos $3" "gamma $4.weight" "beta $4.bias" "qw $5.q.weight" "qb $5.q.bias" "kw $5.k.weight" \
            "kb $5.k.bias"; do
            name=${place#* }
            tensor_names "$folder" | grep -Fqxe "$name" || continue
            echo "tensor ${place% *}"
            numbers "$folder" "$name"
        done
        echo "ids ${*:7}"
    } | awk -v d=16 -v from=8 -v to=16 -v causal="$causal" '
        $1 == "tensor" { name = $2; n = 0; there[name] = 1; next }
        $1 != "ids" { w[name, n++] = $1; next }
        function project(which, i, r,   sum, c) {
            sum = w[which "b", r]
            for (c = 0; c < d; c++) sum += w[which "w", r * d + c] * x[i, c]
            return sum
        }
        function normalise(i,   mean, var, c) {
            for (c = 0; c < d; c++) mean += x[i, c] / d
            for (c = 0; c < d; c++) var += (x[i, c] - mean) ^ 2 / d
            for (c = 0; c < d; c++) x[i, c] = (x[i, c] - mean) / sqrt(var + 1e-5) * w["gamma", c] + w["beta", c]
        }
        {
            for (i = 0; i < NF - 1; i++) {
                for (c = 0; c < d; c++) x[i, c] = sqrt(d) * w["emb", $(i + 2) * d + c] + w["pos", i * d + c]
                if ("gamma" in there) normalise(i)
                for (r = from; r < to; r++) { q[i, r] = project("q", i, r); k[i, r] = project("k", i, r) }
            }
            for (i = 0; i < NF - 1; i++) {
                sum = 0
                for (j = 0; j < NF - 1; j++) {
                    score = 0
                    for (r = from; r < to; r++) score += q[i, r] * k[j, r]
                    sum += e[j] = causal && j > i ? 0 : exp(score / sqrt(to - from))
                }
                for (j = 0; j < NF - 1; j++) printf "%.9f%s", e[j] / sum, j < NF - 2 ? "\t" : "\n"
            }
        }'
}
ids() { printf %s "$2" | "$RAPT" tokenizer encode "$1"; }
attention characters embedding.weight positions.weight blocks.0.norm1 blocks.0.attention 1 \
    $(ids characters/tokenizer.json 'the café') >want
plot attention characters 'the café' --block 0 --head 1 --data >table.out
cells <table.out >got
check 'attention: weights are what embedding, norm, q, k and softmax make' near 2e-5 want got
check 'attention: rows differ' test "$(sort -u got | wc -l)" = 8
check 'attention: tokens name the columns' test "$(head -1 table.out)" = $'\tt\th\te\t␣\tc\ta\tf\té'
check 'attention: and the rows' test "$(tail -n +2 table.out | cut -f1 | tr '\n' ' ')" = 't h e ␣ c a f é '

# sums FILE: rows of every table in it sum to 1.
sums() { awk -F'\t' '/^#|^\t|^$/ { next } { sum = 0; for (i = 2; i <= NF; i++) sum += $i; n++
    if (sum < 0.99999 || sum > 1.00001) { print NR ": " sum; exit bad = 1 } } END { exit bad || !n }' "$1"; }
for kind in self causal cross; do
    plot attention pairs "$sentence" --kind $kind --data >$kind.out
    check "attention --kind $kind: rows sum to 1" sums $kind.out
    check "attention --kind $kind: two blocks of two heads" test "$(grep '^#' $kind.out | tr '\n' ' ')" = \
        '# block 0, head 0 # block 0, head 1 # block 1, head 0 # block 1, head 1 '
done
check 'attention: cross is the default of a translation model' cmp cross.out <(plot attention pairs "$sentence" --data)
source_names=$'\tyou\tlike\tthe\tmoon\t.\t<eos>'
check 'attention --kind cross: columns are the source' test "$(sed -n 2p cross.out)" = "$source_names"
check 'attention --kind self: rows are the source, too' test "$(sed 1,2d self.out | head -6 | cut -f1 | tr '\n' ' ')" = \
    'you like the moon . <eos> '
translation=$(echo "$sentence" | "$RAPT" translate pairs)
check 'attention: the translation is one' test "$(echo "$translation" | wc -w)" -ge 3
plot attention pairs "$sentence" --head 1 --block 1 --data >one.out
check 'attention: rows are <bos> and the greedy translation' test "<bos> $translation" = \
    "$(tail -n +2 one.out | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
attention pairs encoder.embedding.weight encoder.positions.table - encoder.0.attention 0 \
    $(ids pairs/source.tokenizer.json "$sentence") 3 >want
plot attention pairs "$sentence" --kind self --block 0 --head 1 --data | cells >got
check 'attention --kind self: what the first block of the encoder makes' near 2e-5 want got
attention pairs decoder.embedding.weight decoder.positions.table - decoder.0.self_attention 1 \
    2 $(ids pairs/target.tokenizer.json "$translation") >want
plot attention pairs "$sentence" --kind causal --block 0 --head 1 --data | cells >got
check 'attention --kind causal: what the first block of the decoder makes' near 2e-5 want got
# The same target after another source: only attention to the source changes.
looks() { plot attention pairs "$1" --target 'je vois un train' --kind "$2" --block 0 --head 0 --data | cells; }
check 'attention --kind causal: does not depend on the source' cmp <(looks 'you see.' causal) <(looks 'we see.' causal)
check 'attention --kind cross: does' test "$(looks 'you see.' cross)" != "$(looks 'we see.' cross)"
check 'attention --block --head: that map of all' cmp <(sed -n '/block 1, head 1/,$p' cross.out | tail -n +2) one.out
plot attention pairs "$sentence" --kind causal --head 0 --block 0 --data >causal.out
check 'attention --kind causal: columns are its rows' test "$(head -1 causal.out)" = \
    "$(printf '\t<bos>'; echo " $translation" | tr ' ' '\t')"
above() { awk -F'\t' 'NR > 1 { for (i = NR + 1; i <= NF; i++) if ($i != 0) exit bad = 1 } END { exit bad }' "$1"; }
below() { awk -F'\t' 'NR > 1 { for (i = 2; i <= NR; i++) if ($i == 0) exit bad = 1 } END { exit bad }' "$1"; }
check 'attention --kind causal: nothing above the diagonal' above causal.out
plot attention bpe 'the king' --block 0 --head 1 --data >table.out
check 'attention: a language model looks at all before' below table.out
check 'attention: and at nothing after' above table.out
check 'attention: a head only, of each block' test \
    "$(plot attention pairs "$sentence" --head 1 --data | grep -c '^#.*head 1')" = 2
check 'attention --target: what the decoder reads' test \
    "$(plot attention pairs "$sentence" --target 'Je vois un train.' --block 0 --head 0 --data | cut -f1 | tr '\n' ' ')" = \
    ' <bos> je vois un train . '
check 'attention --target: the translation changes nothing' cmp cross.out \
    <(plot attention pairs "$sentence" --target "$translation" --data)
plot attention bpe $'a\tnaïve 日\n' --block 0 --head 0 --data >table.out
check 'attention: bytes, controls and spaces as escapes' grep -Fq '\x' table.out
check 'attention: one line for each token, whatever is in it' test "$(wc -l <table.out)" = \
    "$(head -1 table.out | tr '\t' '\n' | wc -l)"
check 'attention: valid UTF-8' iconv -f UTF-8 -t UTF-8 table.out
for threads in 1 2 3; do
    check "attention --threads $threads: the same" cmp cross.out <(plot attention pairs "$sentence" --threads $threads --data)
done
for isa in $(levels); do
    check "attention, RAPT_ISA=$isa: the same" cmp cross.out <(RAPT_ISA=$isa plot attention pairs "$sentence" --data)
done

# ---- numbers: embedding --------------------------------------------------------------------------------------------
# Three points lie in a plane: distances on the map are those between the rows of the matrix.
distances() { awk -F'\t' '{ for (j = 1; j <= NF; j++) x[NR, j] = $j } END {
    for (i = 1; i < NR; i++) for (k = i + 1; k <= NR; k++) {
        sum = 0; for (j = 1; j <= NF; j++) sum += (x[i, j] - x[k, j]) ^ 2; printf "%.9f\n", sqrt(sum) } }'; }
rows_of() { # FOLDER TENSOR TOKENIZER WORD...
    matrix "$1" "$2" 16 >all
    for word in "${@:4}"; do
        sed -n "$(($(printf %s "$word" | "$RAPT" tokenizer encode "$3") + 1))p" all
    done
}
rows_of pairs encoder.embedding.weight pairs/source.tokenizer.json moon dog call | distances >want
plot embedding pairs moon dog call --data >table.out
tail -n +2 table.out | cut -f2,3 | distances >got
check 'embedding: distances of three words' near 1e-5 want got
check 'embedding: their names' test "$(tail -n +2 table.out | cut -f1 | tr '\n' ' ')" = 'moon dog call '
check 'embedding: the first one is on the positive sides' awk -F'\t' 'NR == 2 { exit !($2 > 0 && $3 > 0) }' table.out
rows_of pairs decoder.embedding.weight pairs/target.tokenizer.json lune chien appelle | distances >want
plot embedding pairs --target lune chien appelle --data | tail -n +2 | cut -f2,3 | distances >got
check 'embedding --target: of the decoder' near 1e-5 want got
rows_of characters embedding.weight characters/tokenizer.json é a ' ' | distances >want
plot embedding characters é a ' ' --data | tail -n +2 | cut -f2,3 | distances >got
check 'embedding: characters' near 1e-5 want got
check 'embedding: the words as they stand, else after a space' test \
    "$(plot embedding bpe s the ' s' --data | tail -n +2 | cut -f1 | tr '\n' ' ')" = 's the ␣s '
check 'embedding: a word that is a token after a space only' test \
    "$(plot embedding bpe again s --data | sed -n 2p | cut -f1)" = '␣again'
check 'embedding: special tokens' test "$(plot embedding pairs '<bos>' '<unk>' --data | sed 1d | cut -f1 | tr '\n' ' ')" = \
    '<bos> <unk> '

# ---- numbers: training ---------------------------------------------------------------------------------------------
field() { sed -n "s/.*\"step\": \([0-9]*\).*\"$2\": \([-0-9.e+]*\).*/$3\t\1\t\2/p" "$1/train.jsonl"; }
{ field pairs loss training; field pairs val_loss validation; } >want
plot training pairs --data | tail -n +2 >got
check 'training: loss and val_loss of each report' diff \
    <(awk '{ print $1, $2, $3 + 0 }' want) <(awk '{ print $1, $2, $3 + 0 }' got)
check 'training: of a file, too' cmp <(plot training pairs --data) <(plot training pairs/train.jsonl --data)
{ field pairs lr pairs; field characters lr characters; } | awk '{ print $1, $2, $3 + 0 }' >want
plot training pairs characters --field lr --data | tail -n +2 | awk '{ print $1, $2, $3 + 0 }' >got
check 'training --field lr: of two' diff want got
check 'training: several of several' test "$(plot training pairs characters --data | sed 1d | cut -f1 | uniq | tr '\n' ';')" = \
    'pairs, training;pairs, validation;characters, training;characters, validation;'
printf '{"step": 1, "loss": 2}\n{"step": 2, "val_loss": 3}\n' >few.jsonl
check 'training: lines without a field are passed over' test "$(plot training few.jsonl --field val_loss --data | wc -l)" = 2
grep -v val_loss few.jsonl >none.jsonl
for run in pairs characters; do # a fraction: 7.5 in the middle of the eighth epoch
    plot training $run --by epoch --field loss --data | sed 1d | cut -f2 >got
    sed 's/.*"epochs": \([0-9.]*\).*/\1/' $run/train.jsonl | awk '{ printf "%.12g\n", $1 }' >want
    check "training --by epoch: $run" near 1e-9 want got
done
# 240 pairs, of which the validation set takes a share; batches of 16, reports every 20 steps, the last one may be smaller.
batches=$(((240 - $(wc -l <pairs/validation.tsv) + 15) / 16))
awk -v n=$batches 'BEGIN { for (i = 20; i <= 120; i += 20) printf "%.9g\n", i / n }' >want
plot training pairs --by epoch --field loss --data | sed 1d | cut -f2 >got
check 'training: epochs are steps by the batches of an epoch' near 1e-6 want got
check 'training --by epoch: of an older log' test "$(sed 's/"epochs": [0-9.]*, //' pairs/train.jsonl >older.jsonl
    plot training older.jsonl --by epoch --field loss --data | sed 1d | cut -f2 | tr '\n' ' ')" = \
    "$(sed 's/.*"epoch": \([0-9]*\).*/\1/' pairs/train.jsonl | tr '\n' ' ')"
refused 2 "--by: 'hour' is none of step, epoch" 'training: --by something else' "$RAPT" plot training pairs --by hour --data
refused 1 'few-steps.jsonl:1: --by epoch: no number "epoch"' 'training: a file without epochs' \
    sh -c 'echo "{\"step\": 1, \"loss\": 2}" >few-steps.jsonl; exec "$0" plot training few-steps.jsonl --by epoch --data' "$RAPT"
# Two settings, with three seeds and one, by hand; one run has no line for the last step.
for run in pre-1 pre-2 pre-10 post-1; do
    mkdir -p seeds/$run
    printf 'task: translation\nseed: %s\ndata:\n  pairs: x.tsv\nmodel:\n  norm_place: %s\n' ${run#*-} ${run%-*} >seeds/$run/recipe.yaml
done
for step in 10 20; do
    echo "{\"step\": $step, \"loss\": 1}" >>seeds/pre-1/train.jsonl
    echo "{\"step\": $step, \"loss\": 2}" >>seeds/pre-2/train.jsonl
    echo "{\"step\": $step, \"loss\": 6}" >>seeds/pre-10/train.jsonl
    echo "{\"step\": $step, \"loss\": $((step * step))}" >>seeds/post-1/train.jsonl
done
echo '{"step": 30, "loss": 1}' | tee -a seeds/pre-1/train.jsonl >>seeds/pre-10/train.jsonl
check 'training --group: the mean of the seeds, the least and the greatest' test \
    "$(plot training seeds/pre-1 seeds/post-1 seeds/pre-2 seeds/pre-10 --group --field loss --data | tr '\t\n' ' ;')" = \
    'name step loss low high;pre (3 runs) 10 3 1 6;pre (3 runs) 20 3 1 6;post-1 10 100 100 100;post-1 20 400 400 400;'
refused 1 '--group: few.jsonl is no folder of a run' 'training --group: a file' "$RAPT" plot training few.jsonl --group --data
check 'training: without val_loss the loss alone' test \
    "$(plot training none.jsonl --data | cut -f1 | tr '\n' ' ')" = 'name training '

refused 2 '--plot draws what --max-steps 0 does not have' 'train --plot: no steps' \
    "$RAPT" train tiny.yaml --out none --max-steps 0 --plot live.svg
refused 2 "--plot: 'live.gif' ends in neither .png nor .svg" 'train --plot: another ending' \
    "$RAPT" train tiny.yaml --out gif --plot live.gif
mkdir lone && cp "$RAPT" lone/rapt
lone/rapt train tiny.yaml --quiet --out plain --set train.steps=40 --plot plain.png 2>err
check 'train --plot: a program that cannot draw trains' test $? = 0 -a "$(wc -l <err)" = 1 \
    -a -s plain/model.safetensors -a ! -e plain.png
check 'train --plot: and says so' grep -q '^rapt: warning: --plot: cannot draw plain.png: this rapt cannot draw a PNG' err

# ---- numbers: table ------------------------------------------------------------------------------------------------
printf '\ta\tb c\t日\nr\t1\t-2.5\t3e-05\nfoo\t0.25\tnan\tinf\n' >table.tsv
check 'table --names: comes back as it was' cmp table.tsv <(plot table table.tsv --names --data)
cells <table.tsv >bare.tsv
check 'table: without names, from a pipe' cmp bare.tsv <(plot table - --data <bare.tsv | cells)
check 'table: names are numbers then' test "$(plot table bare.tsv --data | cut -f1 | tr '\n' ' ')" = ' 0 1 '
check 'table: reads what another part prints' cmp one.out <(plot attention pairs "$sentence" --block 1 --head 1 --data |
    plot table - --names --data)
printf '\xef\xbb\xbf1\t2\r\n3\t4' >windows.tsv
check 'table: CRLF, byte order mark, no newline at the end' test \
    "$(plot table windows.tsv --data | cells | tr '\t\n' '  ')" = '1 2 3 4 '

# ---- pictures ------------------------------------------------------------------------------------------------------
plot table bare.tsv -o probe.png 2>.err
if grep -q 'cannot draw' .err; then
    skip 'pictures (rapt was built without pango and cairo)'
else
    # picture NAME OPTIONS...: a PNG of 100 to 6000 pixels a side, and an SVG that is whole; both the same again.
    picture() {
        local name=$1 side
        shift
        rm -f a.png b.png a.svg b.svg
        plot "$@" -o a.png >.out 2>&1 && plot "$@" --out a.svg >>.out 2>&1 && plot "$@" -o b.png && plot "$@" -o b.svg
        check "$name: PNG and SVG, and not a word" test -s a.png -a -s a.svg -a ! -s .out
        check "$name: a PNG's first bytes" test 89504e470d0a1a0a0000000d49484452 = \
            "$(head -c 16 a.png | od -An -tx1 | tr -d ' \n')"
        for side in 16 20; do
            check "$name: of a sane size" awk '{ n = (($1 * 256 + $2) * 256 + $3) * 256 + $4
                exit !(n >= 100 && n <= 6000) }' <(od -An -tu1 -j $side -N 4 a.png)
        done
        check "$name: an SVG to its end" test "$(head -c 5 a.svg)$(tail -c 7 a.svg)" = '<?xml</svg>'
        check "$name: the same bytes again" cmp a.svg b.svg
        check "$name: and of the PNG" cmp a.png b.png
    }
    # Cells; and letters that are written, as text.
    areas() { grep -Ec '^<rect x=[^>]* fill="#' a.svg; }
    texts() { sed -n 's/^<text [^>]*>\(.*\)<\/text>$/\1/p' "${1:-a.svg}"; }
    glyphs() { texts | tr -d '\n' | wc -m; }
    picture 'a table' table bare.tsv
    few=$(areas)
    awk 'BEGIN { for (i = 0; i < 5; i++) for (j = 0; j < 7; j++) printf "%d%s", i * j * j, j < 6 ? "\t" : "\n" }' >larger.tsv
    picture 'a larger table' table larger.tsv
    check 'a cell for each number' test $(($(areas) - few)) = $((5 * 7 - 2 * 3))
    check 'and no text but numbers' test "$(glyphs)" -ge 12
    picture 'a table with names' table table.tsv --names --title 'Zahlen, 数' --x across --y down --low -3 --high 2
    check 'letters of names, title and axes' test "$(glyphs)" -ge 28
    for text in 'Zahlen, 数' across down a 'b c' 日 r foo −3 2; do
        check "an SVG can be searched for $text" grep -Fqx -- "$text" <(texts)
    done
    plot table table.tsv --names --title 'Zahlen, 数' --x across --y down --low -3 --high 4 -o c.svg
    check 'another range, other colours' test "$(cmp -s a.svg c.svg; echo $?)" = 1
    plot table table.tsv --names -o c.svg
    plot table table.tsv --names --low -2.5 --high 1 -o d.svg
    check 'the range of the numbers is the default' cmp c.svg d.svg
    plot table table.tsv --names --low -2.5 -o d.svg
    check 'or the other end of it' cmp c.svg d.svg
    picture 'attention' attention pairs "$sentence"
    check 'attention: more letters than its tokens have' test "$(glyphs)" -ge 50
    plot attention pairs "$sentence" --threads 3 -o c.png
    check 'attention: the same with other threads' cmp a.png c.png
    picture 'attention, one head' attention pairs "$sentence" --block 0 --head 1 --kind self
    one=$(areas)
    picture 'attention, a block' attention pairs "$sentence" --block 0 --kind self
    check 'attention: two heads, twice the cells' test $(($(areas) - one)) = 36
    plot attention pairs "$sentence" --kind causal --block 0 --head 1 -o c.svg
    check 'attention: the default title is whole' test \
        "$(texts c.svg | tail -2 | tr '\n' ' ' | grep -o 'decoder.*')" = \
        "decoder self-attention (causal), block 0, head 1: $sentence "
    check 'attention: the color bar says what it is' test "$(texts c.svg | grep -cx 'attention weight')" = 1
    plot attention pairs "$sentence" --map-title '第{block}块，第{head}头 {x}' --title '注意力' --bar '权重' -o d.svg
    check 'attention --map-title: maps in the language of the title' test "$(texts d.svg | grep -c '^第[01]块，第[01]头 {x}$')" = 4
    plot attention pairs $'You\tlike the moon.' --kind self -o d.svg
    check 'attention: control characters of a text stand in no title' test "$(texts d.svg | grep -c 'You?like')" = 1
    numbers_of() { texts "$1" | grep -Ex '[0-9]+\.[0-9]+' | sort | sed -n '1p;$p' | tr '\n' ' '; }
    check 'attention: colours are of 0 to 1 in every picture' test "$(numbers_of c.svg)" = '0.0 1.0 '
    plot attention pairs "$sentence" --kind self --block 0 --head 1 --scale fixed -o d.svg
    plot attention pairs "$sentence" --kind self --block 0 --head 1 -o e.svg
    check 'attention --scale fixed is the default' cmp d.svg e.svg
    plot attention pairs "$sentence" --kind self --block 0 --head 1 --scale all -o d.svg
    plot attention pairs "$sentence" --kind self --block 0 --head 1 --data | cells | plot table - -o f.svg
    check 'attention --scale all: from the least to the greatest' test "$(numbers_of d.svg)" = "$(numbers_of f.svg)"
    plot attention bpe 'an old man' --head 0 --scale all -o d.svg
    plot attention bpe 'an old man' --head 0 -o e.svg
    check 'which is another scale' test "$(cmp -s d.svg e.svg; echo $?)" = 1
    plot attention pairs "$sentence" --kind causal --block 0 --head 1 --scale row -o d.svg
    check 'attention --scale row: a brightest cell in each row' test "$(grep -c '^<rect .*fill="#fde725"' d.svg)" -ge 3
    check 'attention: grey is what comes later' test "$(grep -c '^<rect .*fill="#c0c0c0"' c.svg)" = \
        $((($(plot attention pairs "$sentence" --kind causal --block 0 --head 1 --data | wc -l) - 1) *
            ($(plot attention pairs "$sentence" --kind causal --block 0 --head 1 --data | wc -l) - 2) / 2))
    check 'attention --scale row: the numbers are the weights' cmp <(plot attention pairs "$sentence" --scale row --data) \
        <(plot attention pairs "$sentence" --data)
    picture 'attention of a language model' attention bpe 'an old man 日本' --head 0
    picture 'attention of one token' attention characters t
    picture 'positions' positions
    picture 'curves of positions' positions --curves
    picture 'positions of a model' positions characters
    picture 'similarity' similarity characters --title ''
    picture 'a map of words' embedding pairs moon dog cat sea house bird train
    check 'a map of words: their letters' test "$(glyphs)" -ge 27
    picture 'a map of a word and itself' embedding pairs moon moon
    # The label of the color bar, in Chinese as well, and a font that is not there.
    plot attention pairs "$sentence" --kind self --block 0 --head 0 --bar 'share of a row' -o a.svg
    check '--bar: the label of the color bar' test "$(texts | grep -cx 'share of a row')" = 1
    plot attention pairs "$sentence" --kind self --block 0 --head 0 --bar '' -o b.svg
    check 'without it the numbers stand where they stood' diff <(grep -v 'share of a row' a.svg | grep -c '<text') \
        <(grep -c '<text' b.svg)
    latin=$(fc-list 2>/dev/null | sed -n 's|\(/.*\)/DejaVuSans.ttf:.*|\1|p' | head -1)
    if [ -n "$latin" ]; then
        mkdir latin && cp "$latin"/DejaVu*.ttf latin/
        echo "<fontconfig><dir>$PWD/latin</dir><cachedir>$PWD/latin</cachedir></fontconfig>" >fonts.conf
        printf '1\t2\n3\t4\n' >map.tsv
        export FONTCONFIG_FILE=$PWD/fonts.conf
        refused 1 'cannot draw no.png: no font here has "注" .U\+6CE8.; a font is in Debian.s package fonts-noto-cjk,' \
            'a Chinese title without a font' "$RAPT" plot table map.tsv -o no.png --title '注意力权重'
        refused 1 'no font here has "한".*fonts-noto-cjk' 'a Korean label' "$RAPT" plot table map.tsv -o no.png --bar '한국어'
        refused 1 'no font here has "ꦲ".*fonts-noto-core' 'a name in Javanese' "$RAPT" plot table map.tsv -o no.png --x 'ꦲ'
        check 'nothing is left' test ! -e no.png
        check 'an SVG needs none here' "$RAPT" plot table map.tsv -o chinese.svg --title '注意力权重'
        check 'Latin, Greek and signs are there' "$RAPT" plot table map.tsv -o latin.png --title 'naïve αβγ → ␤'
        unset FONTCONFIG_FILE
    else
        skip 'a font that is missing (DejaVu is not here)'
    fi

    picture 'training' training pairs characters
    picture 'training of one report' training few.jsonl
    plot training seeds/pre-1 seeds/pre-2 seeds/pre-10 seeds/post-1 --group --field loss -o a.svg
    check 'training --group: the settings in title and legend' test "$(texts | grep -c '^pre (3 runs)')" = 2
    check 'training: steps begin at 0' test "$(texts | grep -cx 0)" -ge 1
    check 'training --group: one color a setting, lines and bands' test \
        "$(grep -o 'fill="#[^"]*" fill-opacity="0.18"' a.svg | sort -u | wc -l)" = 2
    printf '{"step": 1, "loss": 1}\n{"step": 2, "loss": 0}\n{"step": 3, "loss": 10000}\n' >powers.jsonl
    plot training powers.jsonl --log -o b.svg
    printf '{"step": 1, "loss": 3}\n{"step": 2, "loss": 30}\n{"step": 3, "loss": 300}\n' >ratios.jsonl
    plot training ratios.jsonl --log -o d.svg
    check 'training --log: equal ratios are equal distances' awk '
        /stroke="#0072b2"/ && !n { n = split($0, part, /[ML]/); for (i = 2; i <= 4; i++) { split(part[i], at, " "); y[i] = at[2] + 0 } }
        END { d = (y[2] - y[3]) - (y[3] - y[4]); exit !(y[2] > y[3] && y[3] > y[4] && d < 0.03 && d > -0.03) }' d.svg
    check 'training --log: powers of ten' test "$(texts b.svg | grep -cx '1\|10\|100\|1000\|10000')" -ge 5
    picture 'training by epoch' training pairs --by epoch

    # While it trains: at the end there is the picture of the whole run, and the model equals the model of a run without pictures.
    check 'train --plot' train live --set model.layers=2 --plot live.svg
    check 'train --plot: it is that of the whole run' cmp live.svg <(plot training live -o a.svg && cat a.svg)
    check 'train --plot: the model is the same' same_model pairs live
    check 'train --plot: of epochs and the loss of the book' train book --set train.steps=0 --set train.epochs=3 \
        --set train.reduction=book --plot book.PNG
    check 'train --plot: it is that of the log' cmp book.PNG \
        <(plot training book --by epoch --field loss_book -o a.png && cat a.png)
    "$RAPT" train tiny.yaml --quiet --out long --set train.steps=1000000 --set train.report_every=10 --plot long.svg 2>/dev/null &
    trainer=$!
    for ((i = 0; i < 600; i++)); do [ -s long.svg ] && break; sleep 0.05; done
    check 'train --plot: it is there while the run trains' sh -c 'test -s long.svg && kill -0 "$0" && tail -c 20 long.svg | grep -q "</svg>"' \
        $trainer
    kill -TERM $trainer; wait $trainer 2>/dev/null # not -INT, which the shell has a job ignore
    "$RAPT" train tiny.yaml --quiet --out nowhere --set train.steps=40 --plot missing/live.svg 2>err
    check 'train --plot: what cannot be written is a warning, once' test $? = 0 -a "$(wc -l <err)" = 1 -a -s nowhere/model.safetensors
    check 'train --plot: which says why' grep -q '^rapt: warning: --plot: .*missing/live.svg.*; nothing more is drawn$' err
    mkdir -p runs/of/last/week/far/far/away/from/here
    cp -r pairs characters runs/of/last/week/far/far/away/from/here
    plot training ./runs/of/last/week/far/far/away/from/here/{pairs,characters/train.jsonl} -o a.svg
    for run in pairs characters; do
        check "training: $run, without the folders of all" grep -Fqx "$run, validation" <(texts)
    done
    plot training "$PWD"/runs/of/last/week/far/far/away/from/here/pairs/ -o a.svg
    check 'training: the title is the name of the run' grep -Fqx pairs <(texts)
    plot training pairs --field lr --field grad_norm -o a.svg
    check 'training: two kinds of numbers, two axes' test "$(texts | grep -cx 'lr\|grad_norm')" = 4
    check 'training: --data takes more' plot training pairs --field lr --field loss --field grad_norm --data
fi
for ending in png svg; do
    name=$([ $ending = png ] && echo - || echo -.svg)
    "$RAPT" plot positions -o "to.$ending"
    "$RAPT" plot positions -o "$name" >"printed.$ending"
    check "-o $name: the same figure to stdout" cmp "to.$ending" "printed.$ending"
    check 'and to no file' test ! -e ./"$name"
done
"$RAPT" plot positions -o - >/dev/full 2>.err
check 'to a full disk: it says so' test $? = 1 -a "$(grep -c 'No space left' .err)" = 1
check 'nobody wrote to the models' test "$before" = "$(listing pairs; listing characters)"
finish

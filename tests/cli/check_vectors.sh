#!/bin/bash
# tests/cli/check_vectors.sh: `rapt train` with pretrained word vectors: the embeddings start from the file's numbers, frozen ones
# stay there, and a run is resumed only with the vectors that it began with. How files are read is tested in tests/text.
. "$(dirname "$0")/lib.sh"
make_inputs
D=16
# A vector for each word of one side but "moon" and "lune"; numbers that a float holds exactly.
vectors_of() {
    cut -f"$1" pairs.tsv | tr A-Z a-z | sed 's/[.]/ ./g' | tr ' ' '\n' | sort -u | grep -vx -e '' -e moon -e lune |
        awk -v d=$D -v shift="$1" '{ printf "%s", $1; for (j = 0; j < d; j++) printf " %g", (NR * 7 + j * 3 + shift) % 64 / 64 - 0.5; print "" }'
}
vectors_of 1 >english.txt
vectors_of 2 >french.txt
make_text >text.txt
make_text_recipe bpe >lm.yaml
both=(--set train.vectors=english.txt --set train.target_vectors=french.txt)

# starts_from FOLDER SIDE FILE: each word that the file has is a row of that side's embedding; prints how many.
starts_from() {
    python3 - "$@" <<'PYTHON'
import json, struct, sys
folder, side, file = sys.argv[1:]
data = open(folder + '/model.safetensors', 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
entry = json.loads(data[8:8 + size])[{'source': 'encoder', 'target': 'decoder'}[side] + '.embedding.weight']
at, (rows, d) = 8 + size + entry['data_offsets'][0], entry['shape']
words = json.load(open(folder + '/' + side + '.tokenizer.json'))['tokens']
want = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in open(file)}
count = 0
for i, word in enumerate(words):
    word = word if isinstance(word, str) else word[0]
    if word in want:
        assert list(struct.unpack_from('<%df' % d, data, at + i * d * 4)) == want[word], word
        count += 1
print(count)
PYTHON
}

"$RAPT" train tiny.yaml --out new --max-steps 0 "${both[@]}" 2>err || { cat err; exit 1; }
check 'the source embedding is that of the file' test "$(starts_from new source english.txt)" = "$(wc -l <english.txt)"
check 'the target embedding, too' test "$(starts_from new target french.txt)" = "$(wc -l <french.txt)"
check 'how many tokens have none is said, of each file' test "$(grep -c 'warning: .*has vectors for [0-9]* of the [0-9]* tokens' err)" = 2
tokens=$(($(wc -l <english.txt) + 5)) # with moon, <unk> <pad> <bos> <eos>
check 'with both numbers' grep -q "english.txt has vectors for $(wc -l <english.txt) of the $tokens tokens; the others keep" err
train plain --max-steps 0
for name in $(tensor_names new | grep -v embedding); do
    check "all else starts as without them: $name" \
        cmp <(tensor new/model.safetensors "$name") <(tensor plain/model.safetensors "$name")
done

# ---- training -----------------------------------------------------------------------------------------------------------------
train tuned "${both[@]}" 2>/dev/null
check 'they are trained' sh -c '! cmp -s "$0" "$1"' <(tensor new/model.safetensors encoder.embedding.weight) \
    <(tensor tuned/model.safetensors encoder.embedding.weight)
train frozen "${both[@]}" --set train.freeze_vectors=true 2>/dev/null
for side in encoder decoder; do
    check "frozen, they stay: $side" cmp <(tensor new/model.safetensors $side.embedding.weight) \
        <(tensor frozen/model.safetensors $side.embedding.weight)
done
train half --set train.vectors=english.txt --set train.freeze_vectors=true 2>/dev/null
check 'only what has a file is frozen' sh -c '! cmp -s "$0" "$1"' <(tensor new/model.safetensors decoder.embedding.weight) \
    <(tensor half/model.safetensors decoder.embedding.weight)

# ---- resuming -----------------------------------------------------------------------------------------------------------------
mkdir elsewhere
train parts --max-steps 50 "${both[@]}" 2>/dev/null
check 'a run is resumed with the recipe of its folder' sh -c 'cd elsewhere && "$0" train --quiet --out ../parts --resume' "$RAPT"
check 'to the same model' same_model tuned parts
train other --max-steps 50 "${both[@]}" 2>/dev/null
sed -i 's/^dog \([^ ]*\)/dog 0.125/' english.txt
"$RAPT" train --out other --resume --quiet 2>err
check 'with other numbers it is another run' test $? = 1 -a "$(grep -c 'the checkpoint of step 50 belongs to another' err)" = 1
sed -i '$d' french.txt
check 'a file that lost a word is used for a new run' "$RAPT" train tiny.yaml --quiet --out less --max-steps 0 "${both[@]}"

# ---- what is wrong --------------------------------------------------------------------------------------------------------------
no() { refused 1 "$1" "$2" "$RAPT" train "${3:-tiny.yaml}" --quiet --out no "${@:4}"; }
no 'cannot read none.txt: No such file' 'no file' tiny.yaml --set train.vectors=none.txt
no 'english.txt: its vectors have 16 numbers, the embedding has 32' 'another size' tiny.yaml --set train.vectors=english.txt \
    --set model.d_model=32
no 'text.txt: ' 'a file of something else' tiny.yaml --set train.vectors=text.txt
no 'train.freeze_vectors is true; it needs train.vectors' 'nothing to freeze' tiny.yaml --set train.freeze_vectors=true
no 'train.target_vectors is .*; that is for task translation' 'the target of a language model' lm.yaml \
    --set train.target_vectors=french.txt
no 'train.vectors is for a new model' 'with another model to start from' tiny.yaml --init tuned --set train.vectors=english.txt
no 'with model.tied there is one embedding' 'two files for one embedding' tiny.yaml --set model.tied=true \
    --set tokenizer.shared=true --set tokenizer.type=bpe --set train.target_vectors=french.txt
check 'nothing is left' test ! -e no

# ---- a language model -------------------------------------------------------------------------------------------------------------
printf 'the %s\nking %s\n' "$(seq -s ' ' 1 16)" "$(seq -s ' ' 17 32)" >few.txt
check 'a language model' "$RAPT" train lm.yaml --quiet --out lm --set train.vectors=few.txt --set train.freeze_vectors=true
check 'has them in its embedding' sh -c '[ "$(od -An -v -t f4 -w64 "$0" | grep -Ec "^ +1 +2 +3 .* 16$")" -ge 1 ]' \
    <(tensor lm/model.safetensors embedding.weight)
finish

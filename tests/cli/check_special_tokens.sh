#!/usr/bin/env bash
# tests/cli/check_special_tokens.sh: special tokens in texts that are trained on and evaluated are tokens, as transformers reads a
# file; and the end of text between the files of one text, as nanoGPT has it behind each document.
. "$(dirname "$0")/lib.sh"
HUB=$SOURCE/tests/golden/hub/gpt2 # 256 bytes, then <|begin|> <|end|> <|turn|>; its end of text is <|end|>

# ids FILE: the ids of a token file, on one line.
ids() {
    python3 - "$1" <<'PYTHON'
import struct, sys
bytes_of = open(sys.argv[1], 'rb').read()
width, count = struct.unpack_from('<HxxxxQ', bytes_of, 10)
print(*struct.unpack_from(f'<{count}{"H" if width == 2 else "I"}', bytes_of, 64))
PYTHON
}

# recipe TEXT: a short run.
recipe() {
    printf 'task: language_model\ndata:\n  text: %s\n  validation_fraction: 0\nmodel:\n  context: 8\ntrain:\n  steps: 2\n  batch: 2\n' "$1"
}

# ---- a model of another program --------------------------------------------------------------------------------------------
for i in $(seq 200); do printf 'One.<|end|>Two.<|end|>'; done >texts.txt
recipe texts.txt >texts.yaml
check 'fine-tuning on a text with special tokens' "$RAPT" train texts.yaml --init "$HUB" --out fine --quiet
one='46 77 68 13' two='51 86 78 13' # its letters are GPT-2's: "!" is 0
check 'its tokens are those of a whole text' diff <("$RAPT" tokenizer encode --specials "$HUB" texts.txt) <(ids fine/text.tokens)
check 'a special token is one id' diff <(echo "$one 257 $two 257" | xargs) <(ids fine/text.tokens | cut -d' ' -f1-10)
tokens() { python3 -c 'import json, sys; print(json.load(sys.stdin)["tokens"])'; }
check 'evaluation has the same tokens' diff <(echo 1999) <("$RAPT" eval "$HUB" texts.txt --json | tokens)
"$RAPT" train texts.yaml --init "$HUB" --out plain --quiet --set data.special_tokens=false
check 'data.special_tokens: false: text like any other' diff <("$RAPT" tokenizer encode "$HUB" texts.txt) <(ids plain/text.tokens)
mkdir again
cp plain/text.tokens again
"$RAPT" train texts.yaml --init "$HUB" --out again --quiet
check 'tokens that were made otherwise are made again' cmp again/text.tokens fine/text.tokens

# ---- long texts on threads -------------------------------------------------------------------------------------------------
for i in $(seq 9000); do printf 'Document %s of many: a line, and a few words more.\n<|end|>' $i; done >long.txt
recipe long.txt >long.yaml
for threads in 1 3; do
    "$RAPT" train long.yaml --init "$HUB" --out long-$threads --quiet --threads $threads --max-steps 1
    check "$threads threads: the ids of a whole text" \
        diff <("$RAPT" tokenizer encode --specials "$HUB" long.txt) <(ids long-$threads/text.tokens)
done

# ---- several files ---------------------------------------------------------------------------------------------------------
mkdir files
printf 'first file' >files/a
printf 'second\n' >files/b
: >files/empty
recipe files >files.yaml
"$RAPT" train files.yaml --init "$HUB" --out several --quiet
check 'the end of text follows each file' cmp several/text.txt <(printf 'first file<|end|>second\n<|end|>')
check 'and is a token' diff <(echo 2) <(ids several/text.tokens | tr ' ' '\n' | grep -c '^257$')
"$RAPT" train files.yaml --init "$HUB" --out joined --quiet --set data.special_tokens=false
check 'data.special_tokens: false: nothing between files' cmp joined/text.txt <(printf 'first filesecond\n')

# ---- own models ------------------------------------------------------------------------------------------------------------
for i in $(seq 60); do printf 'the end of the text %s' $i >files/$i; done
"$RAPT" train files.yaml --out own --quiet
end=$("$RAPT" tokenizer info own/tokenizer.json | awk '$1 == "special" && $3 == "<|endoftext|>" {print $2}')
check 'own BPE: <|endoftext|> follows each file' diff <(echo 62) <(ids own/text.tokens | tr ' ' '\n' | grep -c "^$end\$")
check 'own BPE: nothing is learned from it' test "$("$RAPT" tokenizer encode own/tokenizer.json <(printf '<|endoftext|>') | wc -w)" -gt 1
cat own/text.txt >one.txt
recipe one.txt >one.yaml
"$RAPT" train one.yaml --out one --quiet
check 'a separator in one file is the same' cmp <(ids own/text.tokens) <(ids one/text.tokens)
"$RAPT" train files.yaml --out letters --quiet --set tokenizer.type=characters
check 'characters have no such token' diff <(echo 0) <(grep -c endoftext letters/text.txt)
finish

#!/bin/bash
# tests/cli/check_hub.sh: Hugging Face folders where commands take a model. tests/io/test_hub.c compares what such models compute;
# tools/make_hub.py made the folders.
. "$(dirname "$0")/lib.sh"
HUB=$SOURCE/tests/golden/hub
number() { sed -nE "s/.*\"$1\": ?([0-9]+).*/\1/p" <<<"$2"; } # NAME JSON

for model in gpt2 llama3 qwen2 qwen3 granite; do
    generate() { "$RAPT" generate "$HUB/$model" 'Once upon a time' --max-tokens 24 "$@"; }
    generate --threads 1 >one 2>err
    check "$model: a text goes on" test "$(head -c 16 one)" = 'Once upon a time' -a "$(wc -c <one)" -gt 20
    check "$model: nothing is said of a seal" sh -c '! grep -q bind err'
    generate --threads 3 >three 2>/dev/null
    check "$model: the same with three threads" cmp one three
    check "$model: rapt info says that it runs" sh -c "'$RAPT' info '$HUB/$model' | grep -q '^model .*: rapt generate runs such models$'"
    check "$model: rapt eval" sh -c "'$RAPT' eval '$HUB/$model' '$SOURCE/data/try.en' --json | grep -q perplexity"
    check "$model: rapt explain" sh -c "'$RAPT' explain '$HUB/$model' 'Once upon' | grep -q 'language model'"
done

# memory MODEL NUMBERS_NOT_HELD KEY_AND_VALUE_BYTES: rows of an embedding that is not tied are read as they are needed.
memory() {
    "$RAPT" info "$HUB/$1" --json | tr -d ' \n' >info
    check "$1: memory of the weights" test "$(number fp32 "$(cat info)")" = $((4 * ($(number parameters "$(cat info)") - $2)))
    check "$1: memory of the KV cache" test "$(number kv_bytes_per_token "$(cat info)")" = "$3"
    check "$1: in bf16" test "$(number kv_bytes_per_token_bf16 "$(cat info)")" = $(($3 / 2))
    check "$1: in q8_0" test "$(number kv_bytes_per_token_q8_0 "$(cat info)")" = "$4"
}
memory gpt2 0 $((2 * 2 * 48 * 4)) $((2 * 2 * 3 * (16 + 2)))         # layers, features, bytes; heads of 16 features with a scale
memory qwen2 0 $((2 * 2 * 2 * 8 * 4)) $((2 * 2 * 2 * (8 + 2)))      # layers, key-value heads, features of each, bytes
memory llama3 $((48 * $(number vocab_size "$(cat "$HUB/llama3/config.json")"))) $((2 * 2 * 2 * 8 * 4)) $((2 * 2 * 2 * (8 + 2)))
check 'rapt info prints it' sh -c "'$RAPT' info '$HUB/gpt2' | grep -Eq '^ +KV cache 768.0 kB \(384.0 kB in bf16, 216.0 kB in q8_0\) per 1,000 tokens'"

# What rapt info says of a model, against its config.json, which tools/make_hub.py has chosen.
says() { # FOLDER LINE...
    local folder=$1
    shift
    "$RAPT" info "$folder" >said
    for line; do check "rapt info $(basename "$folder"): $line" grep -Fqx "$line" said; done
}
says "$HUB/llama" 'blocks        2, norms pre (rms)' 'd_model       48, 6 heads of 8 features, 2 of keys and values, ffn 80 (swiglu)' \
    'vocabulary    259, embedding and output tied' 'context       96 tokens, rotary positions' 'tokenizer     byte_bpe, 259 tokens' \
    'special ids   end of text 257 <|end|>' \
    'differs       rapt generate samples, where generate() takes the most probable token: --greedy'
says "$HUB/gemma3" 'blocks        2, norms sandwich (rms)' 'window        9 tokens, in 1 of the blocks'
says "$SOURCE/tests/golden/hub_encoder/bert" 'blocks        3 encoder, norms post (layer)' \
    'd_model       12, 3 heads of 4 features, 3 of keys and values, ffn 20 (gelu)' 'texts         up to 40 tokens, mean pooling'
check 'rapt info --tensor of an encoder' sh -c "'$RAPT' info '$SOURCE/tests/golden/hub_encoder/bert' --tensor encoder.0.norm1.bias | grep -Fq ' (encoder.layer.0.attention.output.LayerNorm.bias)  [12]'"
says "$HUB/phi3_long" '              the context ends at 90 tokens, where its positions would change'
says "$SOURCE/tests/golden/hub_translation/marian" 'blocks        2 encoder, 1 decoder, norms post (layer)' 'decoder       2 heads, ffn 28' \
    'sentences     up to 64 tokens, sinusoidal positions' 'tokenizer     sentencepiece, 524 source tokens, 524 target tokens' \
    'special ids   unknown 1 <unk>, padding 523 <pad>, start 523 <pad>, end 0 </s>' 'differs       in nothing that is known'
"$RAPT" info "$SOURCE/tests/golden/hub_translation/m2m_100" --json | tr -d ' \n' >json
check 'rapt info --json: special ids' grep -Fq '"pad_token_id":[1],"decoder_start_token_id":[2],"eos_token_id":[2],"source_begin":[260]' json
check 'rapt info --json: the network' grep -Fq '"heads":3,"head_features":4,"kv_heads":3,"ffn":20,"ffn_kind":"relu","norm_place":"pre","norm_kind":"layer","layers":2,"decoder_layers":1' json
cp -r "$HUB/llama" likeliest && sed 's/{/{"do_sample": false,/' "$HUB/llama/generation_config.json" >likeliest/generation_config.json
says likeliest 'differs       in nothing that is known'

PAIRS=$SOURCE/tests/golden/hub_translation
printf '%s\n' '>>deu<< I want to buy a horse on Saturday.' 'The cat' '' 'Tom asked Mary why.' >lines
for model in marian marian_4; do
    "$RAPT" translate "$PAIRS/$model" lines --threads 1 --batch 1 >one 2>err
    check "$model: lines are translated" test "$(wc -l <one)" = 4
    check "$model: nothing is said of a seal" sh -c '! grep -q bind err'
    "$RAPT" translate "$PAIRS/$model" lines --threads 3 >three 2>/dev/null
    check "$model: the same with three threads, in one batch" cmp one three
    check "$model: rapt info says what runs it" sh -c "'$RAPT' info '$PAIRS/$model' | grep -q ': rapt translate runs such models$'"
    check "$model: rapt explain" sh -c "'$RAPT' explain '$PAIRS/$model' 'The cat' | grep -q 'translation model of'"
    for kind in self cross causal; do
        check "$model: rapt plot attention --kind $kind" "$RAPT" plot attention "$PAIRS/$model" 'The cat' --kind "$kind" -o a.svg
    done
    paste lines one | sed "/^\t/d" >pairs.tsv
    check "$model: rapt eval" sh -c "'$RAPT' eval '$PAIRS/$model' pairs.tsv --json | grep -q bleu"
done

refused 1 '99 hypotheses \(--n-best\) need a beam \(--beam\) of as many or more, not [0-9]+' 'more than the beams of a folder' \
    "$RAPT" translate "$PAIRS/m2m_100" lines --n-best 99
refused 1 'a prefix of 79 tokens after the forced one; the model has 80 positions' 'a prefix that leaves no position' \
    "$RAPT" translate "$PAIRS/m2m_100" lines --prefix "$(printf 'a %.0s' {1..40})"

"$RAPT" translate "$PAIRS/marian" lines --beam 1 2>/dev/null >folder # "no_repeat_ngram_size": 2
"$RAPT" translate "$PAIRS/marian" lines --beam 1 --no-repeat-ngram 2 2>/dev/null >twice
"$RAPT" translate "$PAIRS/marian" lines --beam 1 --no-repeat-ngram 0 2>/dev/null >plain
check 'a folder can forbid repeats' cmp folder twice
check '--no-repeat-ngram 0 allows them' sh -c '! cmp -s folder plain'

printf 'The cat\nThe \342\230\203 cat\n' >snow
"$RAPT" translate "$PAIRS/marian" snow >out 2>err
check 'a word with an unknown piece is warned about' grep -q "snow:2: warning: 1 of 3 words is unknown: \"$(printf '\342\230\203')\"" err
check 'and translated' test "$(wc -l <out)" = 2
refused 1 ':1: 1 of 3 words is unknown' '--strict refuses it' "$RAPT" translate "$PAIRS/marian" <(tail -1 snow) --strict
{ echo 'The cat'; printf 'word %.0s' {1..50}; echo; } >long
"$RAPT" translate "$PAIRS/bart" long >out 2>err
check 'a line that is too long is warned about' grep -Fqx 'rapt: long:2: warning: longer than the 80 tokens that the model takes; translated in parts' err
check 'and translated' test "$(wc -l <out)" = 2
refused 1 'line 2 is longer than the 80 tokens that the model takes' '--strict refuses it' "$RAPT" translate "$PAIRS/bart" long --strict
"$RAPT" translate "$PAIRS/bart" long --strict --split long >asked 2>err
check 'but not where --split asks for it' cmp out asked
check 'nothing is said then' test ! -s err
"$RAPT" translate "$PAIRS/t5" long --strict >out 2>err
check 'T5 takes it as it is' test "$(wc -l <out)" = 2 -a ! -s err
printf 'hello </s> world\n' | "$RAPT" translate "$PAIRS/marian" --strict >out 2>err
check 'a special token is no unknown word' test "$(wc -l <out)" = 1 -a ! -s err
"$RAPT" translate "$PAIRS/bart" lines 2>/dev/null >out
check 'the bytes of a translation are UTF-8' iconv -f UTF-8 -t UTF-8 -o /dev/null out
printf '>>xyz<< The cat\n' >xyz
refused 1 'the model has no language "xyz": it has deu, fra' 'an unknown language' "$RAPT" translate "$PAIRS/marian" xyz --quiet

"$RAPT" generate "$HUB/gpt2" 'Once upon' --beam 4 --max-tokens 12 --json --quiet >beam
check 'beam search has a score' grep -q '"score": -' beam
mkdir beams && cp "$HUB"/gpt2/* beams
echo '{"num_beams": 4, "length_penalty": 0.6}' >beams/generation_config.json
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet >folder
check 'a folder can ask for it' grep -q '"score": -' folder
check 'with another penalty' sh -c '! cmp -s beam folder'
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet --greedy >greedy
check 'an option asks for another search' sh -c '! grep -q score greedy'
echo '{"do_sample": true, "top_p": 0}' >beams/generation_config.json
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet >nucleus
check 'a top_p of 0 leaves the most probable token' cmp nucleus greedy
echo '{"do_sample": true, "min_p": 1, "top_k": 0, "temperature": 9}' >beams/generation_config.json
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet >nucleus
check 'a min_p of 1 leaves the most probable token' cmp nucleus greedy
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet --min-p 0 >all
check '--min-p 0 turns it off' sh -c '! cmp -s all greedy'
echo '{"do_sample": true, "top_k": 0, "typical_p": 0.2}' >beams/generation_config.json
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet >typical
check 'a folder can ask for typical_p' cmp typical <("$RAPT" generate "$HUB/gpt2" 'Once upon' --max-tokens 12 --json --quiet \
    --temperature 1 --top-k 0 --typical-p 0.2)
"$RAPT" generate beams 'Once upon' --max-tokens 12 --json --quiet --typical-p 0 >all
check '--typical-p 0 turns it off' sh -c '! cmp -s all typical'
echo '{"bad_words_ids": [[44]]}' >beams/generation_config.json
"$RAPT" generate beams 'Once upon' --max-tokens 200 --json --quiet >without
check 'bad words do not come' sh -c '! grep -q M without'
echo '{"num_beams": 4, "num_beam_groups": 2}' >beams/generation_config.json
refused 1 'beams/generation_config.json: "num_beam_groups" is 2: rapt does not support this way of decoding' 'another search' "$RAPT" generate beams x
refused 2 'beam does not sample' 'sampled beams' "$RAPT" generate beams x --beam 2 --top-k 5
refused 1 "beam search continues texts of up to the model's context, 64 tokens" 'a long prompt, in one line' \
    "$RAPT" generate "$HUB/gpt2" "$(printf 'a b %.0s' {1..99})" --beam 2
refused 2 'repetition-window is not for --beam' 'a window beside beams' "$RAPT" generate beams x --beam 2 --repetition-window 5
"$RAPT" generate "$HUB/gpt2" 'Once' --beam 1024 --max-tokens 200 --json --random-seed >int.out 2>int.err &
pid=$!
for _ in {1..500}; do [ -s int.err ] && break; sleep 0.02; done
sleep 0.05
kill -INT $pid
wait $pid
check 'Ctrl-C ends a beam search: status 130' test $? = 130
check 'before it has found a text' grep -q '"tokens": 0, "end": "interrupted"' int.out

generate() { "$RAPT" generate "$@" 'Once upon a time' --max-tokens 12 --greedy --quiet; }
(cd "$SOURCE" && generate tests/golden/adapters/qwen2) >alone 2>err
generate "$HUB/qwen2" --adapter "$SOURCE/tests/golden/adapters/qwen2" >with
generate "$HUB/qwen2" >without
check 'an adapter stands for its model' cmp alone with
check 'and changes the text' sh -c '! cmp -s with without'
refused 1 'its adapters are for the model "tests/golden/hub/qwen2", and no such folder is here.*--adapter' 'an adapter alone' \
    "$RAPT" generate "$SOURCE/tests/golden/adapters/qwen2" x
refused 1 'the model has no linear layer "model.layers' "another model's adapter" \
    "$RAPT" generate "$HUB/gpt2" x --adapter "$SOURCE/tests/golden/adapters/qwen2"
refused 1 'runs it' 'an adapter for another task' "$RAPT" translate "$HUB/qwen2" --adapter "$SOURCE/tests/golden/adapters/qwen2"
make_text >text.txt
make_text_recipe characters >lm.yaml
refused 1 'rapt generate runs it' 'another task' "$RAPT" translate "$HUB/gpt2" text.txt
refused 1 'tokenizer.type is characters; the model in .*gpt2 has file, which fine-tuning keeps' 'training with another tokenizer' \
    "$RAPT" train lm.yaml --init "$HUB/gpt2" --out m
make_pairs >pairs.tsv
make_recipe >pairs.yaml
refused 1 'bart is a Hugging Face folder of type bart, which rapt runs, but does not train; it trains gpt2, ' 'training another type' \
    "$RAPT" train pairs.yaml --init "$PAIRS/bart" --out m
refused 1 'rapt translate runs it' 'generating with a translator' "$RAPT" generate "$PAIRS/marian" x
check 'nothing is written' test ! -e m
for file in config tokenizer; do
    refused 1 "$file.json: not a recipe, but JSON; .rapt info. takes the folder of a model" "$file.json for its folder" \
        "$RAPT" info "$HUB/llama/$file.json"
done
mkdir bad && cp "$HUB"/llama/* bad
sed -i 's/"model_type": "llama"/"model_type": "mamba"/' bad/config.json
refused 1 'bad/config.json: a model of type "mamba"; rapt runs gpt2, ' 'another type' "$RAPT" generate bad x
check 'rapt info says why' sh -c "'$RAPT' info bad | grep -q '^not run .*\"mamba\"'"
cp "$HUB/llama/config.json" bad
echo '{"num_beam_groups": 2}' >bad/generation_config.json
check 'also of a search' sh -c "'$RAPT' info bad | grep -q '^not run .*generation_config.json: \"num_beam_groups\" is 2'"
rm bad/generation_config.json bad/tokenizer.json
check 'and of a tokenizer that is missing' sh -c "'$RAPT' info bad | grep -q '^not run .*tokenizer.json'"
cp "$HUB/llama/tokenizer.json" bad
sed -i 's/"num_hidden_layers": 2/"num_hidden_layers": 1/' bad/config.json
check 'of a tensor that is left over' sh -c "'$RAPT' info bad | grep -q '^not run .*model.layers.1.*does not belong to a model of type llama'"
sed 's/"intermediate_size": 80/"intermediate_size": 81/' "$HUB/llama/config.json" >bad/config.json
check 'and of one of another shape' sh -c "'$RAPT' info bad | grep -q '^not run .*the shape .80, 48.; config.json asks for .81, 48.'"
cp "$HUB/llama/config.json" bad
head -c 50000 "$HUB/llama/model.safetensors" >bad/model.safetensors
refused 1 'bad/model.safetensors' 'a file that is cut off' "$RAPT" generate bad x
rm bad/model.safetensors
refused 1 'bad' 'no tensors' "$RAPT" generate bad x

# A folder with a SentencePiece model: its pieces and 100 more tokens; tests/text/test_layout.c has their ids.
mkdir pieces && cp "$PAIRS"/t5/{config,generation_config}.json "$PAIRS/t5/model.safetensors" pieces
cp "$SOURCE/tests/text/layout/t5.model" pieces/spiece.model
sed -i 's/"vocab_size": 266/"vocab_size": 400/; s/"eos_token_id": 2/"eos_token_id": 1/; s/_token_id": 1,$/_token_id": 0,/' pieces/*.json
sed -i 's/"eos_token_id": 0/"eos_token_id": 1/' pieces/*.json
check 'a SentencePiece model is a tokenizer' sh -c "'$RAPT' info pieces | grep -q '^not run .*config.json asks for .400, 12.'"
sed -i 's/"vocab_size": 400/"vocab_size": 399/' pieces/config.json
check 'unless it has more tokens than the model' sh -c "'$RAPT' info pieces | grep -q '^not run .*400 tokens; the model has 399'"
echo '{"tokenizer_class": "AlbertTokenizer"}' >pieces/tokenizer_config.json
check 'or a class of unknown ids' sh -c "'$RAPT' info pieces | grep -q '^not run .*\"tokenizer_class\" that says which ids'"
finish

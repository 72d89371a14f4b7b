#!/bin/bash
# tests/cli/check_info_weights.sh: `rapt info` of Hugging Face folders and of files of tensors. tools/make_weights.py made the
# files, with PyTorch and safetensors; config.json and README.md are made here.
. "$(dirname "$0")/lib.sh"
GOLDEN=$SOURCE/tests/golden/weights

mkdir folder && cp "$GOLDEN/pytorch_model.bin" folder
printf '{"model_type": "mamba", "architectures": ["MambaForCausalLM"], "d_model": 8}' >folder/config.json
printf -- '---\nlanguage:\n- en\n- de\nlicense: cc-by-4.0\ntags:\n- license\n---\n# A model\nlicense: none\n' >folder/README.md
cat >wanted.txt <<'TEXT'
model         mamba (MambaForCausalLM)
not run       config.json: a model of type "mamba"; rapt runs TYPES
license       cc-by-4.0
files         pytorch_model.bin (SIZE)
tensors       25
TEXT
"$RAPT" info folder | sed '2s/runs .*/runs TYPES/; 4s/(.*)/(SIZE)/' >got.txt
check 'a folder' cmp wanted.txt <(head -5 got.txt)
check 'parameters: tied matrices once' test "$(sed -n 's/^parameters  *//p' got.txt)" = $((169 + 24 + 12 + 12 + 6 + 24 + 3))
check 'bytes of an element type' grep -q '^elements .*I64 in 1 tensor (16 B)' got.txt
check 'bytes of F16' grep -q '^elements .*F16 in 4 tensors (134 B)' got.txt
check 'no tensors without --tensors' sh -c "! grep -q view.transposed got.txt"
check 'tensors' sh -c "'$RAPT' info folder --tensors | grep -Eq '^view.transposed +F32 +\[6, 4\]$'"
check 'a scalar' sh -c "'$RAPT' info folder --tensors | grep -Eq '^scalar +F16 +\[\]$'"
check 'JSON' sh -c "'$RAPT' info folder --json | tr -d ' \n' | grep -q '\"runs\":false,\"model_type\":\"mamba\",\"architecture\":\"MambaForCausalLM\",\"refused\":\"config.json:amodeloftype[^,]*,[^}]*\"license\":\"cc-by-4.0\"'"
check 'JSON of types' sh -c "'$RAPT' info folder --json | tr -d ' \n' | grep -q '\"I64\":{\"tensors\":1,\"bytes\":16}'"
check 'JSON of tensors' sh -c "'$RAPT' info folder --tensors --json | tr -d ' \n' | grep -q '{\"name\":\"view.transposed\",\"dtype\":\"F32\",\"shape\":\[6,4\]}'"

# A model card for people.
license_of() { "$RAPT" info folder | sed -n 's/^license  *//p'; }
card() { # NAME WANTED TEXT
    printf -- "$3" >folder/README.md
    check "license: $1" test "$(license_of)" = "$2"
}
card 'a list' 'mit, apache-2.0' '---\nlicense:\n- mit\n- apache-2.0\n---\n'
card 'another' 'other, llama3.2' '---\nlicense_name: llama3.2\nlicense: other\n---\n'
card 'no head' 'not stated in README.md' '# A model\nlicense: mit\n'
card 'a head without an end' 'not stated in README.md' '---\nlicense: mit\n'
card 'no YAML' 'not stated in README.md' '---\n{[\n---\n'
card 'within something else' 'not stated in README.md' '---\nmodel:\n  license: mit\n---\n'
card 'what a terminal must not get' 'mit?[31m' '---\nlicense: "mit\\e[31m"\n---\n'
rm folder/README.md
check 'no model card' test "$(license_of)" = 'not stated in README.md'

# Both kinds, single files, shards.
cp "$GOLDEN/model.safetensors" folder
check 'safetensors are preferred' sh -c "'$RAPT' info folder | grep -q '^files  *model.safetensors ('"
for file in model.safetensors pytorch_model.bin before_1_6.bin values.safetensors; do
    check "$file" sh -c "'$RAPT' info '$GOLDEN/$file' --tensors | grep -Eq '^float32.matrix +F32 +\[7, 5\]$'"
    check "$file: a file says nothing of a model" sh -c "! '$RAPT' info '$GOLDEN/$file' | grep -E '^(model|license)'"
done
cp -r "$GOLDEN/shards" sharded
printf '{"model_type": "gpt2"}' >sharded/config.json
check 'shards' test "$("$RAPT" info sharded | grep -c '^\(files\|     \)  *model-0')" = "$(ls sharded/model-*.safetensors | wc -l)"
check 'an index' sh -c "'$RAPT' info sharded/model.safetensors.index.json | grep -q '^tensors  *11$'"
check 'nothing on stderr' test -z "$("$RAPT" info sharded 2>&1 >/dev/null)"
sed -i 's/"total_size": [0-9]*/"total_size": 1/' sharded/model.safetensors.index.json
check 'a wrong total_size' sh -c "'$RAPT' info sharded 2>&1 >/dev/null | grep -q '^rapt: note: sharded/model.safetensors.index.json: total_size is 1, but'"

# What cannot be read.
mkdir bare && printf '{"model_type": "mamba"}' >bare/config.json
refused 1 'bare: it has none of model.safetensors, ' 'a folder without tensors' "$RAPT" info bare
for name in command checkpoint; do
    refused 1 "$name.bin: (the pickle calls posix.system|\"epoch\" is an integer)" "refused: $name" "$RAPT" info "$GOLDEN/refused/$name.bin"
done
check 'nothing was run' test -z "$("$RAPT" info "$GOLDEN/refused/command.bin" 2>/dev/null | grep never)"
head -c 500 "$GOLDEN/model.safetensors" >cut.safetensors
refused 1 'cut.safetensors: byte 500: the file ends' 'a file that is cut off' "$RAPT" info cut.safetensors
printf '{"weight_map": {"a": "../cut.safetensors"}}' >bare/model.safetensors.index.json
refused 1 'which is no name of a file in this folder' 'an index that leads elsewhere' "$RAPT" info bare
refused 2 'are for models of rapt' 'a seal' "$RAPT" info folder --seal
refused 1 'a model of type "mamba"; rapt runs' 'one tensor of a model that is not run' "$RAPT" info folder --tensor x
refused 2 'are for models of rapt' 'its seal' "$RAPT" info folder --seal
refused 2 'is for a recipe' '--set' "$RAPT" info folder --set train.lr=1
refused 1 'folder/config.json' 'translating with it' "$RAPT" translate folder /dev/null
finish

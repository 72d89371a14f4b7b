#!/bin/bash
# tests/cli/check_heads.sh: `--without-head`: explain, translate, generate and eval agree on what a model does without some of its
# heads, say which heads are off, and refuse heads that are not there.
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
train pairs || { echo "cannot train the translation model"; exit 1; }
make_text_recipe characters >characters.yaml
"$RAPT" train characters.yaml --quiet --out letters || { echo "cannot train the language model"; exit 1; }
sentence='the dog see the sea.'
printf '%s\tle chien aime la mer.\n' "$sentence" >one.tsv
loss() { "$RAPT" eval "$@" --loss-only --json | grep -o '"loss": [0-9.e-]*' | cut -c9-; }
close() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-4 && d > -1e-4) }'; }
differ() { test -n "$1" -a -n "$2" -a "$1" != "$2"; }

off=decoder.0.cross_attention.1
"$RAPT" explain pairs "$sentence" --without-head "$off" --without-head 'encoder.*.attention.0' >text
check 'explain names them' grep -q "^heads that are off: encoder.0.attention.0, .*$off\$" text
check 'and says so of the step' grep -q '^decoder.0.cross_attention.heads = weights V, 0 for heads that are off$' text
"$RAPT" explain pairs "$sentence" --without-head "$off" --json >explained
check 'in JSON' grep -q "\"heads_off\": \[\"$off\"\]" explained
"$RAPT" explain pairs "$sentence" --without-head "$off" --html page.html
check 'on the page' grep -q "\"heads_off\":\[\"$off\"\]" page.html
"$RAPT" explain pairs "$sentence" >whole
check 'not if all are on' test -z "$(grep 'heads that are off' whole)"
check 'explain and translate write the same' grep -qF "the translation: $("$RAPT" translate pairs --text "$sentence" --without-head "$off")" \
    <("$RAPT" explain pairs "$sentence" --without-head "$off")
check 'a head less is another loss' differ "$(loss pairs one.tsv)" "$(loss pairs one.tsv --without-head "$off")"
check 'eval and its --each agree' close "$(loss pairs one.tsv --without-head "$off")" \
    "$("$RAPT" eval pairs one.tsv --each --without-head "$off" | awk -F'\t' '{ print -$2 }')"
check 'a language model' differ "$(loss letters text.txt)" "$(loss letters text.txt --without-head '*')"
check 'its text' differ "$("$RAPT" generate letters --prompt 'the ' --greedy --max-tokens 20)" \
    "$("$RAPT" generate letters --prompt 'the ' --greedy --max-tokens 20 --without-head '*')"

refused 1 'there is no head "encoder.0.attention.99": .* has heads 0 to ' 'a number that is too large' \
    "$RAPT" translate pairs --text a --without-head encoder.0.attention.99
refused 1 'did you mean "encoder.0.attention.0"' 'a misspelled name' \
    "$RAPT" eval pairs one.tsv --without-head encoder.0.atention.0
refused 1 'all are "encoder.0.attention.\*"$' 'an attention' \
    "$RAPT" explain pairs a --without-head encoder.0.attention
refused 1 'there are "blocks.0.attention.0" to ' 'a pattern without a head' \
    "$RAPT" generate letters --without-head 'encoder.*'
refused 2 'all heads on' 'gradients' \
    "$RAPT" explain pairs a --train --without-head "$off"
finish

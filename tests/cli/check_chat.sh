#!/bin/bash
# tests/cli/check_chat.sh: `rapt chat` and `rapt generate --chat` with a tiny Llama (tools/make_hub.py) and a template: the same
# tokens as for the text by hand, also where the KV cache has the beginning; Ctrl-C; what is refused. What templates give is compared
# in tests/text/test_chat_golden.c.
. "$(dirname "$0")/lib.sh"
cp -r "$SOURCE/tests/golden/hub/llama" m
cat >m/chat_template.jinja <<'JINJA'
{%- for message in messages %}
    {%- if message.role == 'system' and loop.index > 1 %}{{ raise_exception('one system message') }}{% endif %}
    {{- '<|begin|>' + message['role'] + '\n' + message['content'] + eos_token }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|begin|>assistant\n' }}{% endif %}
JINJA
echo '{"eos_token": "<|end|>"}' >m/tokenizer_config.json
text_of() { sed 's/.*"\(text\|reply\)": "\(.*\)", "prompt_tokens".*/\2/'; }
generate() { "$RAPT" generate m --greedy --max-tokens 10 --quiet --json "$@"; }
chat() { "$RAPT" chat m --greedy --max-tokens 10 --quiet "$@"; }

# ---- one turn ------------------------------------------------------------------------------------------------------
first=$'<|begin|>system\nBe {{ brief }}.<|end|><|begin|>user\nHi there<|end|><|begin|>assistant\n'
generate --prompt "$first" >by_hand
generate --chat --system 'Be {{ brief }}.' 'Hi there' >by_template
check 'a reply' test -n "$(text_of <by_hand)"
check 'generate --chat is the text by hand' test "$(text_of <by_hand)" = "$(text_of <by_template)"
check 'with as many tokens' test "$(grep -o '"prompt_tokens": [0-9]*' by_hand)" = "$(grep -o '"prompt_tokens": [0-9]*' by_template)"
echo 'Hi there' | chat --system 'Be {{ brief }}.' --json >by_chat
check 'so is rapt chat' test "$(text_of <by_hand)" = "$(text_of <by_chat)"
echo 'Hi there' >prompt.txt
"$RAPT" generate m --chat --greedy --max-tokens 10 --quiet 'Hi there' >text
check 'generate --chat prints the reply only' cmp text <(echo 'Hi there' | chat)
"$RAPT" generate m --chat --quiet --max-tokens 5 --logit-bias 257:1000 --json x >end
check 'the end of a turn ends a reply' grep -q '"tokens": 0, "end": "end_of_text"' end

# "eos_token" of tokenizer_config.json, which generation_config.json does not name: it ends replies, and no other texts.
cp -r m turned
echo '{"eos_token": "<|turn|>", "add_bos_token": true, "add_eos_token": false, "bos_token": "<|begin|>"}' >turned/tokenizer_config.json
"$RAPT" generate turned --chat --quiet --max-tokens 5 --logit-bias 258:1000 --json x >end
check "a tokenizer's eos_token ends a reply" grep -q '"tokens": 0, "end": "end_of_text"' end
echo x | "$RAPT" chat turned --quiet --max-tokens 5 --logit-bias 258:1000 --json >end
check 'also of rapt chat' grep -q '"tokens": 0, "end": "end_of_text"' end
"$RAPT" generate turned --chat --quiet --max-tokens 5 --logit-bias 257:1000 --json x >end
check 'and so does the end of a text' grep -q '"tokens": 0, "end": "end_of_text"' end
"$RAPT" generate turned --quiet --max-tokens 5 --logit-bias 258:1000 --json x >end
check 'other texts go on' grep -q '"tokens": 5, "end": "length"' end
"$RAPT" info turned >said
check 'rapt info says so' grep -q '^ *replies of chats end at token 258, too, "eos_token" of the tokenizer$' said
check 'and that a flag is not heeded' grep -q '^ *"add_bos_token" of tokenizer_config.json is not heeded, as in transformers 5' said
check 'but not of one that says what is done' sh -c '! grep -q add_eos_token said'
check 'rapt info --json has the lines' sh -c "'$RAPT' info turned --json | grep -q 'add_bos_token.*is not heeded'"
check 'of the first folder nothing' sh -c "! '$RAPT' info m | grep -q 'not heeded\|replies of chats'"

# ---- several turns -------------------------------------------------------------------------------------------------
printf '%s\n' 'Hi there' '' 'And now?' /reset 'Hi there' >lines
chat --system 'Be {{ brief }}.' --json --threads 1 <lines >turns
check 'a line for each reply' test "$(wc -l <turns)" = 3
reply=$(head -1 turns | text_of)
second=$first$(printf "${reply//%/%%}")$'<|end|><|begin|>user\nAnd now?<|end|><|begin|>assistant\n'
generate --prompt "$second" >by_hand2
check 'the second reply is that to the text by hand' test "$(text_of <by_hand2)" = "$(sed -n 2p turns | text_of)"
count() { grep -o "\"$1\": [0-9]*" | cut -d' ' -f2; }
check 'whose beginning the KV cache had' test "$(sed -n 2p turns | count reused_tokens)" -ge "$(head -1 turns | count prompt_tokens)"
check 'nothing had been seen before the first' test "$(head -1 turns | count reused_tokens)" = 0
check '/reset begins anew' test "$(head -1 turns | text_of)" = "$(sed -n 3p turns | text_of)"
chat --system 'Be {{ brief }}.' --json --threads 3 <lines >turns3
check 'the same with three threads' cmp turns turns3
chat --system 'Be {{ brief }}.' <lines >plain
check 'replies as text' test "$(head -c "$(head -1 plain | wc -c)" plain)" = "$(printf "${reply//%/%%}" | head -1)"
chat </dev/null >empty
check 'no messages, no replies' test $? = 0 -a ! -s empty

# ---- Ctrl-C --------------------------------------------------------------------------------------------------------
# A signal is sent when some of the reply is there, and the next message when no more of it comes.
mkfifo in
: >stopped # a shell opens what it redirects in order: the loop below may look before it has come to this one
"$RAPT" chat m --quiet --max-tokens 100000000 --logit-bias 257:-inf <in >stopped 2>err &
pid=$!
exec 3>in
size_of() { wc -c <stopped; }
wait_for_more() { for ((i = 0; i < 600 && $(size_of) <= $1; i++)); do sleep 0.05; done; }
wait_for_end() { until size=$(size_of); sleep 0.4; [ "$size" = "$(size_of)" ]; do :; done; }
size=0
for turn in 1 2; do
    echo 'Hi there' >&3
    wait_for_more "$size"
    kill -INT $pid
    wait_for_end
done
exec 3>&-
wait $pid
check 'Ctrl-C ends a reply, and not the conversation' test $? = 0 -a ! -s err

# ---- variables of the template -------------------------------------------------------------------------------------
mv m/chat_template.jinja template
printf '{%% if thinks is false %%}{{ mood ~ (n + 1) }}{%% endif %%}{{ messages[0].content }}' >m/chat_template.jinja
"$RAPT" generate m --prompt 'calm3Hi' --no-prompt --max-tokens 8 --quiet >want
"$RAPT" generate m --chat --template-var thinks=false --template-var mood=calm --template-var n=2 Hi --max-tokens 8 --quiet >got
check '--template-var gives JSON, or a text' cmp got want
echo Hi | "$RAPT" chat m --template-var thinks=false --template-var mood=calm --template-var n=2 --max-tokens 8 --quiet >got
check '--template-var of a conversation' cmp got want
mv template m/chat_template.jinja

# ---- refused -------------------------------------------------------------------------------------------------------
bare=$SOURCE/tests/golden/hub/llama
refused 1 'llama: no chat template: .*rapt generate' 'no template' "$RAPT" chat "$bare"
refused 1 'llama: no chat template' 'no template for --chat' "$RAPT" generate "$bare" --chat x
refused 1 'nowhere: there is no such model folder' 'no folder' "$RAPT" chat nowhere
refused 1 'nowhere: there is no such model folder' 'no folder for --chat' "$RAPT" generate nowhere --chat x
refused 2 '--system needs --chat' 'a system message without --chat' "$RAPT" generate m --system x y
refused 2 '--template-var needs --chat' 'a variable without --chat' "$RAPT" generate m --template-var a=b x
refused 2 '--template-var takes NAME=VALUE' 'a variable without a name' "$RAPT" chat m --template-var =b
refused 2 '--at is not for --chat' '--at with --chat' "$RAPT" generate m --chat --at 1 x
refused 2 'messages come from standard input' 'a message as an operand' "$RAPT" chat m x
refused 2 'at least one token' 'no tokens' "$RAPT" chat m --max-tokens 0
printf 'a\xff\n' >bad.txt
refused 1 'standard input:1: .*not valid UTF-8' 'a line that is no text' bash -c '"$0" chat m < bad.txt' "$RAPT"
printf "{{ raise_exception('no messages of users') }}" >m/chat_template.jinja
refused 1 'chat_template.jinja:1: the template refuses the messages: no messages of users' 'a template that refuses' \
    "$RAPT" generate m --chat x
printf '\n{%% for x in y | groupby(1) %%}{%% endfor %%}' >m/chat_template.jinja
refused 1 'm/chat_template.jinja:2: the filter "groupby" is not implemented' 'a template that is not run' "$RAPT" chat m
rm m/chat_template.jinja
make_text >text.txt
make_text_recipe characters >lm.yaml
"$RAPT" train lm.yaml --quiet --set train.steps=1 --out own >/dev/null 2>&1
refused 1 'own: no chat template' 'a model of rapt' "$RAPT" chat own
printf 'a\xff' >own/chat_template.jinja
refused 1 'own/chat_template.jinja: byte 2 is no text in UTF-8' 'a template that is no text' "$RAPT" convert own --to hf -o hf
printf 'ab\0c' >own/chat_template.jinja
refused 1 'own/chat_template.jinja: byte 3 is no text in UTF-8' 'a template with a NUL' "$RAPT" convert own --to hf -o hf
finish

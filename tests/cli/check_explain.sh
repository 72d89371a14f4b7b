#!/bin/bash
# tests/cli/check_explain.sh: `rapt explain`: the steps of a pass of both kinds of model, against the model file, against
# formulas computed here, and against what translate, generate and eval say of the same model; what is printed how; what is
# refused.
# labels: each-level
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
train pairs || { echo "cannot train the translation model"; exit 1; }
train pre --set model.norm_place=pre --set model.layers=2 --set train.steps=40 || { echo "cannot train the pre-norm model"; exit 1; }
train speaks --set tokenizer.detokenize=fr --set tokenizer.capitalize=true || { echo "cannot train the model that detokenizes"; exit 1; }
train later --set model.positions=rotary --set model.norm_kind=rms --set model.ffn_kind=swiglu --set model.kv_heads=1 \
    --set model.norm_place=pre || { echo "cannot train the model with what came later"; exit 1; }
make_text_recipe characters >characters.yaml
make_text_recipe bpe >bpe.yaml
"$RAPT" train characters.yaml --quiet --out letters && "$RAPT" train bpe.yaml --quiet --out llama --set model.positions=rotary \
    --set model.norm_kind=rms --set model.ffn_kind=swiglu --set model.kv_heads=1 --set model.tied=true ||
    { echo "cannot train the language models"; exit 1; }
explain() { "$RAPT" explain "$@"; }
sentence='the dog see the sea.'
wanted='le chien aime la mer.'

# ---- looking into JSON -----------------------------------------------------------------------------------------------
# json NAME FILE EXPRESSION: the object o of a file, for which the Python expression holds. step(NAME) is one of its steps,
# grad(NAME) a gradient, at(step, i, j, ...) a number, matrix(step, i, ...) rows of numbers, parameter(FOLDER, NAME) the rows
# of a matrix in a model file.
cat >look.py <<'PYTHON'
import json, math, struct, sys
o = json.load(open(sys.argv[1], encoding="utf-8"))
number = lambda x: float(x)
steps = {(s["name"], s["gradient"]): s for s in o["steps"]}
step = lambda name: steps[name, False]
grad = lambda name: steps[name, True]
names = [s["name"] for s in o["steps"] if not s["gradient"]]
last = o["sequences"].get("target") or o["sequences"].get("text")
T = len(last)
def at(s, *index):
    assert len(index) == len(s["shape"])
    k = 0
    for i, n in zip(index, s["shape"]):
        assert i < n
        k = k * n + i
    return number(s["values"][k])
def matrix(s, *index):
    rows, columns = s["shape"][-2:]
    return [[at(s, *index, i, j) for j in range(columns)] for i in range(rows)]
def parameter(folder, name):
    data = open(folder + "/model.safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    x = struct.unpack("<%df" % ((end - begin) // 4), data[8 + size + begin:8 + size + end])
    columns = entry["shape"][-1]
    return [list(x[i:i + columns]) for i in range(0, len(x), columns)]
def times(a, b): # a b^T
    return [[sum(x * y for x, y in zip(r, c)) for c in b] for r in a]
def turned(a):
    return [list(r) for r in zip(*a)]
def near(a, b, tolerance=1e-4):
    if isinstance(a, list):
        return len(a) == len(b) and all(near(x, y, tolerance) for x, y in zip(a, b))
    return a == b or abs(a - b) <= tolerance * (1 + abs(b))
def linear(x, folder, name):
    bias = parameter(folder, name + ".bias")[0]
    return [[y + b for y, b in zip(row, bias)] for row in times(x, parameter(folder, name + ".weight"))]
def softmax(row):
    e = [math.exp(x - max(row)) for x in row]
    return [x / sum(e) for x in e]
def normed(row, folder, name):
    mean = sum(row) / len(row)
    spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-5)
    return [(x - mean) / spread * w + b for x, w, b in zip(row, parameter(folder, name + ".weight")[0],
            parameter(folder, name + ".bias")[0])]
def under(prefix, words):
    return [prefix + word for word in words.split()]
def attention(name):
    return under(name + ".", "q k v q.heads k.heads v.heads scores scaled masked weights heads concat output")
def figures(s):
    x = [v for v in map(number, s["values"]) if math.isfinite(v)]
    mean = sum(x) / len(x)
    std = math.sqrt(sum((v - mean) ** 2 for v in x) / (len(x) - 1))
    return near([s["min"], s["mean"], s["max"], s["std"]], [min(x), mean, max(x), std], 1e-6)
assert eval("(" + sys.argv[2] + ")"), sys.argv[2]
PYTHON
PYTHON=yes
command -v python3 >/dev/null && python3 -c 'import json' 2>/dev/null || PYTHON=
json() {
    if [ -z "$PYTHON" ]; then skip "$1 (python3 is not installed)"
    elif python3 look.py "$2" "$3" 2>.err; then pass "$1"; else fail "$1" "$(tail -1 .err | head -c 300)"; fi
}

# ---- translation: tokens, order, shapes --------------------------------------------------------------------------------
explain pairs "$sentence" --json --full >t.json || fail 'a translation as JSON'
json 'what it is' t.json 'o["rapt"] == "explain" and o["version"] == 1 and o["model"] == {"path": "pairs", "kind": "translation",
    "layers": 1, "heads": 2, "d_model": 16, "parameters": o["model"]["parameters"]} and "loss" not in o'
check 'as many parameters as info says' test "$(sed 's/.*"parameters": \([0-9]*\).*/\1/' t.json)" = \
    "$("$RAPT" info pairs --json | sed -n 's/.*"parameters": \([0-9]*\).*/\1/p' | head -1)"
json 'the source: words, <eos>, ids of the vocabulary' t.json '[t["text"] for t in o["sequences"]["source"]] ==
    "the dog see the sea . <eos>".split() and all(json.load(open("pairs/source.tokenizer.json"))["tokens"][t["id"]] == t["text"]
    and t["position"] == i for i, t in enumerate(o["sequences"]["source"]))'
json 'the text as it was given, and the translation' t.json 'o["text"] == "the dog see the sea." and o["target"] == o["output"]'
json 'the target begins with <bos>' t.json 'o["sequences"]["target"][0] == {"position": 0, "id": 2, "text": "<bos>"}'
json 'steps in the order of the book' t.json 'names ==
    under("encoder.", "embedding embedding.scaled positions input") + attention("encoder.0.attention") +
    under("encoder.0.", "norm1.sum norm1.output ffn.hidden ffn.activation ffn.output norm2.sum norm2.output") +
    under("decoder.", "embedding embedding.scaled positions input") + attention("decoder.0.self_attention") +
    under("decoder.0.", "norm1.sum norm1.output") + attention("decoder.0.cross_attention") +
    under("decoder.0.", "norm2.sum norm2.output ffn.hidden ffn.activation ffn.output norm3.sum norm3.output") +
    ["decoder.output", "probabilities"]'
json 'shapes: queries of one sequence, keys of the other' t.json 'len(o["sequences"]["source"]) == 7 and all(
    step("encoder.0.attention." + n)["shape"] == shape for n, shape in {"q": [1, 7, 16], "q.heads": [1, 2, 7, 8],
    "k.heads": [1, 2, 7, 8], "scores": [1, 2, 7, 7], "weights": [1, 2, 7, 7], "heads": [1, 2, 7, 8], "concat": [1, 7, 16],
    "output": [1, 7, 16]}.items()) and step("encoder.0.ffn.hidden")["shape"] == [1, 7, 32]'
explain pairs 'I see a bird.' "$wanted" --json --full >given.json || fail 'with a target'
json 'a target that was given' given.json 'o["text"] == "I see a bird." and o["target"] == "le chien aime la mer." and o["output"] == "le chien aime la mer ." and
    [t["text"] for t in last] == "<bos> le chien aime la mer .".split()'
json 'shapes of a cross-attention' given.json 'len(o["sequences"]["source"]) == 6 and T == 7 and all(
    step("decoder.0.cross_attention." + n)["shape"] == shape for n, shape in {"q": [1, 7, 16], "k": [1, 6, 16],
    "v.heads": [1, 2, 6, 8], "scores": [1, 2, 7, 6], "heads": [1, 2, 7, 8], "output": [1, 7, 16]}.items())'
json 'and what its axes run along' given.json 'step("decoder.0.cross_attention.weights")["axes"] ==
    ["batch", "head", "query", "key"] and step("decoder.0.cross_attention.weights")["sequences"] ==
    [None, None, "target", "source"] and step("encoder.0.attention.k")["sequences"] == [None, "source", None] and
    step("decoder.0.self_attention.scaled")["sequences"] == [None, None, "target", "target"] and
    step("decoder.output")["sequences"] == [None, "target", None]'

# ---- translation: the numbers ------------------------------------------------------------------------------------------
json 'statistics are those of the values' t.json 'all(figures(s) for s in o["steps"])'
json 'the embedding is rows of the matrix' t.json 'near(matrix(step("encoder.embedding"), 0),
    [parameter("pairs", "encoder.embedding.weight")[t["id"]] for t in o["sequences"]["source"]], 1e-8)'
json 'scaled by sqrt(d_model)' t.json 'near(step("decoder.embedding.scaled")["values"],
    [4 * x for x in step("decoder.embedding")["values"]], 1e-6)'
json 'positions: sines and cosines' t.json 'all(near(at(step("encoder.positions"), 0, i, j),
    (math.cos if j % 2 else math.sin)(i / 10000 ** (j // 2 * 2 / 16)), 1e-6) for i in range(7) for j in range(16))'
json 'q, k, v are x W^T + b' t.json 'all(near(matrix(step("encoder.0.attention." + n), 0), linear(
    matrix(step("encoder.input"), 0), "pairs", "encoder.0.attention." + n)) for n in "qkv")'
json 'a head is its part of q' t.json 'all(matrix(step("encoder.0.attention.q.heads"), 0, h) ==
    [row[8 * h:8 * h + 8] for row in matrix(step("encoder.0.attention.q"), 0)] for h in range(2))'
for a in encoder.0.attention decoder.0.self_attention decoder.0.cross_attention; do
    json "$a: scores are Q K^T" given.json "all(near(matrix(step('$a.scores'), 0, h), times(
        matrix(step('$a.q.heads'), 0, h), matrix(step('$a.k.heads'), 0, h))) for h in range(2))"
    json "$a: scaled by sqrt(d_k)" given.json "near(step('$a.scaled')['values'],
        [x / math.sqrt(8) for x in step('$a.scores')['values']], 1e-6)"
    json "$a: rows of weights sum to 1" given.json "all(abs(sum(row) - 1) < 1e-5 for h in range(2)
        for row in matrix(step('$a.weights'), 0, h))"
    json "$a: the weights are the softmax" given.json "all(near(row, softmax(scores), 1e-5) for h in range(2) for row, scores
        in zip(matrix(step('$a.weights'), 0, h), matrix(step('$a.masked'), 0, h)))"
    json "$a: heads are weights V" given.json "all(near(matrix(step('$a.heads'), 0, h), times(
        matrix(step('$a.weights'), 0, h), turned(matrix(step('$a.v.heads'), 0, h)))) for h in range(2))"
done
json 'the future is hidden in the decoder' given.json 'all((x == "-inf") == (k % T > k // T % T) for k, x in
    enumerate(step("decoder.0.self_attention.masked")["values"]))'
json 'and only there' given.json '"-inf" not in step("encoder.0.attention.masked")["values"] and
    "-inf" not in step("decoder.0.cross_attention.masked")["values"]'
json 'the residual sum' given.json 'near(step("encoder.0.norm1.sum")["values"], [x + y for x, y in
    zip(step("encoder.input")["values"], step("encoder.0.attention.output")["values"])], 1e-6)'
json 'relu' given.json 'step("decoder.0.ffn.activation")["values"] == [max(0, x) for x in
    step("decoder.0.ffn.hidden")["values"]]'
json 'logits are x W^T + b' given.json 'near(matrix(step("decoder.output"), 0), linear(
    matrix(step("decoder.0.norm3.output"), 0), "pairs", "decoder.output"))'
json 'probabilities are their softmax' given.json 'all(near(p, softmax(x), 1e-5) for p, x in
    zip(matrix(step("probabilities"), 0), matrix(step("decoder.output"), 0)))'
# What is the same for all models: the five most probable tokens.
likeliest='[p["position"] for p in o["predictions"]] == list(range(T)) and all(near([t["probability"] for t in p["tokens"]],
    sorted(row, reverse=True)[:5], 1e-5) and [row[t["id"]] for t in p["tokens"]] ==
    [t["probability"] for t in p["tokens"]] for p, row in zip(o["predictions"], matrix(step("probabilities"), 0)))'
json 'predictions are the five likeliest' given.json "$likeliest"
json 'with their texts' given.json 'all(json.load(open("pairs/target.tokenizer.json"))["tokens"][t["id"]] == t["text"]
    for p in o["predictions"] for t in p["tokens"])'
explain speaks "$sentence" --json >speaks.json
said=$("$RAPT" translate speaks <<<"$sentence")
json 'a model that detokenizes: the translation as translate prints it' speaks.json "o['target'] == \"$said\" != o['output']"
check 'and in the text' grep -Fqx "the translation: $said" <(explain speaks "$sentence")
cut -f1 pairs.tsv | awk 'NR % 30 == 1' >lines.txt
"$RAPT" translate pairs lines.txt >want.txt
while IFS= read -r line; do explain pairs "$line" --json; done <lines.txt >many.json
check 'the output is what translate says' cmp want.txt <(sed 's/.*"output": "\([^"]*\)".*/\1/' many.json)
json 'each likeliest token is the next one of it' t.json '[p["tokens"][0]["text"] for p in o["predictions"]] ==
    [t["text"] for t in last[1:]] + ["<eos>"]'
explain pre "$sentence" --json --full >pre.json
json 'pre-norm: the norms come first, and one at the end' pre.json '[n for n in names if "norm" in n and n[0] == "e"] ==
    [f"encoder.{i}.{n}" for i in range(2) for n in ("norm1.output", "norm1.sum", "norm2.output", "norm2.sum")] +
    ["encoder.norm.output"]'
json 'pre-norm: q is made of the norm' pre.json 'near(matrix(step("encoder.1.attention.q"), 0), linear(
    matrix(step("encoder.1.norm1.output"), 0), "pre", "encoder.1.attention.q"))'
json 'pre-norm: predictions' pre.json "$likeliest"

# ---- language models -------------------------------------------------------------------------------------------------
for m in letters llama; do
    text='the king '
    explain $m "$text" --json --full >$m.json || fail "$m: as JSON"
    json "$m: what it is" $m.json "o['model']['kind'] == 'language_model' and o['model']['layers'] == 1 and
        ''.join(t['text'] for t in last) == o['text'] == '$text' and 'target' not in o"
    json "$m: the future is hidden, rows of weights sum to 1" $m.json 'all(abs(sum(row) - 1) < 1e-5 and not any(row[i + 1:])
        for h in range(2) for i, row in enumerate(matrix(step("blocks.0.attention.weights"), 0, h)))'
    json "$m: probabilities are the softmax of the logits" $m.json 'all(near(p, softmax(x), 1e-5) for p, x in
        zip(matrix(step("probabilities"), 0), matrix(step("output"), 0)))'
    json "$m: predictions are the five likeliest" $m.json "$likeliest"
    json "$m: statistics are those of the values" $m.json 'all(figures(s) for s in o["steps"])'
    json "$m: the output is the likeliest next token" $m.json 'o["output"] == o["predictions"][-1]["tokens"][0]["text"]'
    for ((i = 0; i < $(grep -o '"position"' $m.json | wc -l) / 2; i++)); do
        "$RAPT" generate $m --prompt "$text" --at $i --json
    done >at.json
    json "$m: the same as generate --at, after every token" $m.json 'all(g["position"] == p["position"] and
        [(t["id"], t["text"]) for t in g["likeliest"]] == [(t["id"], t["text"]) for t in p["tokens"]] and
        near([t["probability"] for t in g["likeliest"]], [t["probability"] for t in p["tokens"]], 1e-5)
        for g, p in zip(map(json.loads, open("at.json", encoding="utf-8")), o["predictions"])) and
        len(list(open("at.json"))) == T'
done
json 'two heads share the keys of one' llama.json 'step("blocks.0.attention.k.heads")["shape"] == [1, 1, T, 8] and
    step("blocks.0.attention.scores")["shape"] == [1, 2, T, T] and all(near(matrix(step("blocks.0.attention.scores"), 0, h),
    times(matrix(step("blocks.0.attention.q.heads"), 0, h), matrix(step("blocks.0.attention.k.heads"), 0, 0)))
    for h in range(2))'
json 'rotary positions turn pairs: lengths stay' llama.json 'all(near(sum(at(q, 0, i, 8 * h + j) ** 2 for j in range(8)),
    sum(at(r, 0, i, 8 * h + j) ** 2 for j in range(8))) for q, r in [[step("blocks.0.attention.q"),
    step("blocks.0.attention.q.rotated")]] for i in range(T) for h in range(2)) and
    matrix(step("blocks.0.attention.q"), 0)[0] == matrix(step("blocks.0.attention.q.rotated"), 0)[0]'
json 'rotary positions: the formulas of heads say what is split' llama.json '[step("blocks.0.attention." + n + ".heads")["formula"]
    for n in "qkv"] == ["q.rotated split into heads", "k.rotated split into heads", "v split into heads"]'
explain later "$sentence" --json --full >later.json
json 'a translation model: rotary self-attention, and none across' later.json '[step("decoder.0." + n + "_attention.q.heads")["formula"]
    for n in ["self", "cross"]] == ["q.rotated split into heads", "q split into heads"] and
    ("decoder.0.cross_attention.q.rotated", False) not in steps and ("encoder.input", False) not in steps and
    step("encoder.0.attention.k.heads")["shape"][1] == 1 and step("encoder.0.attention.q.heads")["shape"][1] == 2'
json 'a translation model: RMS norm' later.json 'all(near(sum((v / g) ** 2 for v, g in zip(row,
    parameter("later", "encoder.0.norm1.weight")[0])) / 16, 1, 1e-3) for row in matrix(step("encoder.0.norm1.output"), 0))'
json 'other positions: the same' letters.json '[step("blocks.0.attention." + n + ".heads")["formula"] for n in "qkv"] ==
    [n + " split into heads" for n in "qkv"]'
json 'SwiGLU' llama.json 'near(step("blocks.0.ffn.product")["values"], [g / (1 + math.exp(-g)) * u for g, u in
    zip(step("blocks.0.ffn.gate")["values"], step("blocks.0.ffn.up")["values"])])'

# ---- --train ----------------------------------------------------------------------------------------------------------- value
# FILE KEY: a value in the JSON object of a file.
value() { sed -E "s/.*\"$2\": ([-+0-9.e]+).*/\1/" "$1"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d < 1e-4 && d > -1e-4) }'; }
explain pairs "$sentence" --train "$wanted" --json --full >train.json || fail '--train TARGET'
printf '%s\t%s\n' "$sentence" "$wanted" >one.tsv
"$RAPT" eval pairs one.tsv --loss-only --json >eval.json
check '--train: the loss is that of eval' near "$(value train.json loss)" "$(value eval.json loss)"
wanted_ids='[t["id"] for t in last[1:]] + [3]'
json 'what follows each token: its id and probability' train.json "[p['next']['id'] for p in o['predictions']] == $wanted_ids and
    all(near([p['next']['probability'], p['next']['loss']], [row[i], -math.log(row[i])], 1e-5) for p, row, i in
    zip(o['predictions'], matrix(step('probabilities'), 0), $wanted_ids))"
json '--train: the mean of -ln p' train.json "near(o['loss'], sum(-math.log(row[i]) for row, i in
    zip(matrix(step('probabilities'), 0), $wanted_ids)) / T)"
json '--train: the gradient of the logits is (p - label) / n' train.json "near(matrix(grad('decoder.output'), 0), [[(p -
    (j == i)) / T for j, p in enumerate(row)] for row, i in zip(matrix(step('probabilities'), 0), $wanted_ids)], 1e-5)"
json '--train: steps on the way back come in turn' train.json '[s["name"] for s in o["steps"] if s["gradient"]][0] ==
    "decoder.output" and set(s["name"] for s in o["steps"] if s["gradient"] and s["formula"]) ==
    set(n for n in names if not n.endswith("masked") and n not in ("probabilities", "encoder.positions",
    "decoder.positions"))'
json '--train: of a sum, both sides have its gradient' train.json 'grad("decoder.0.ffn.output")["values"] ==
    grad("decoder.0.norm3.sum")["values"]'
json '--train: of a bias, the sum over positions' train.json 'near(grad("decoder.output.bias")["values"],
    [sum(c) for c in turned(matrix(grad("decoder.output"), 0))], 1e-5)'
json '--train: of a weight, dy^T x' train.json 'near(matrix(grad("decoder.output.weight")),
    times(turned(matrix(grad("decoder.output"), 0)), turned(matrix(step("decoder.0.norm3.output"), 0))), 1e-5)'
tensor_names pairs | grep -v 'positions.table' | sort >tensors
json '--train: of every parameter' train.json '[n + "\n" for n in sorted(s["name"] for s in o["steps"] if s["gradient"] and
    not s["formula"])] == list(open("tensors"))'
explain llama 'the king saw' --train --json --full >train.json || fail '--train of a language model'
printf 'the king saw' >short.txt
"$RAPT" eval llama short.txt --json >eval.json
check '--train: the loss of a text is that of eval' near "$(value train.json loss)" "$(value eval.json loss)"
explain llama 'the king saw' --json >next.json
json 'without --train: the losses of what follows, whose mean is that of eval, and no gradients' next.json \
    "near(sum(p['next']['loss'] for p in o['predictions'][:-1]) / (T - 1), $(value eval.json loss)) and
    [p['next']['id'] for p in o['predictions'][:-1]] == [t['id'] for t in last[1:]] and 'next' not in o['predictions'][-1] and
    'loss' not in o and not any(s['gradient'] for s in o['steps'])"
json '--train: nothing comes after the last token' train.json 'not any(matrix(grad("output"), 0)[-1]) and
    near(matrix(grad("output"), 0)[:-1], [[(p - (j == i["id"])) / (T - 1) for j, p in enumerate(row)] for row, i in
    zip(matrix(step("probabilities"), 0), last[1:])], 1e-5)'
explain pairs "$sentence" --train="$wanted" --json >b.json
explain pairs "$sentence" "$wanted" --train --json >c.json
explain pairs "$sentence" --train "$wanted" --json >a.json
check '--train: --train=TARGET' cmp a.json b.json
check '--train: TARGET --train' cmp a.json c.json
explain pairs "$sentence" --train --json --full >found.json
json '--train without a target: of the translation that it finds' found.json 'o["target"] == o["output"] and "loss" in o and
    near(o["loss"], sum(p["next"]["loss"] for p in o["predictions"]) / T, 1e-6) and
    [p["next"]["id"] for p in o["predictions"]] == [t["id"] for t in last[1:]] + [3]'
explain pairs "$sentence" --train="$("$RAPT" translate pairs <<<"$sentence")" --json --full >b.json
json 'and the same gradients as with that translation given' found.json 'o["steps"] == json.load(open("b.json"))["steps"]'
explain pairs --train "$sentence" "$wanted" --json >b.json
check '--train before the text' cmp a.json b.json
explain --train pairs "$sentence" "$wanted" --json >b.json
check '--train before the model' cmp a.json b.json
explain --train="$wanted" --json pairs "$sentence" >b.json
check '--train=TARGET before the model' cmp a.json b.json
explain pairs "$sentence" --train="$wanted" --train --json >b.json
check '--train again keeps the target' cmp a.json b.json
check '--train before a language model' cmp <(explain llama 'the king saw' --train) <(explain --train llama 'the king saw')
check '--train before the text of a language model' cmp <(explain llama 'the king saw' --train) \
    <(explain llama --train 'the king saw')
json 'without --full no values' a.json 'all("values" not in s for s in o["steps"])'

# ---- --lens ------------------------------------------------------------------------------------------------------------
explain pre "$sentence" "$wanted" --lens --json --full >lens.json || fail '--lens: a translation'
json '--lens: a depth more than blocks, a position for each token' lens.json '[d["blocks"] for d in o["lens"]] == [0, 1, 2] and
    all([p["position"] for p in d["positions"]] == list(range(T)) for d in o["lens"])'
json '--lens: the last depth is the prediction' lens.json 'all(x["tokens"] == p["tokens"] and x["choice"] ==
    {"rank": 1, "probability": p["tokens"][0]["probability"]} and {**p["next"], "rank": x["next"]["rank"]} == x["next"]
    for x, p in zip(o["lens"][-1]["positions"], o["predictions"]))'
json '--lens: each depth is softmax(norm(x) W^T + b)' lens.json 'all(near([t["probability"] for t in x["tokens"]],
    [row[t["id"]] for t in x["tokens"]], 1e-5) and near(x["choice"]["probability"], row[p["tokens"][0]["id"]], 1e-5) and
    near(x["next"]["probability"], row[p["next"]["id"]], 1e-5)
    for d, name in zip(o["lens"], ["input", "0.norm3.sum", "1.norm3.sum"])
    for x, p, row in zip(d["positions"], o["predictions"], [softmax(z) for z in linear([normed(r, "pre", "decoder.norm")
        for r in matrix(step("decoder." + name), 0)], "pre", "decoder.output")]))'
explain pre "$sentence" "$wanted" --json --full >without.json
json '--lens changes nothing else' lens.json '{k: v for k, v in o.items() if k != "lens"} == json.load(open("without.json"))'
explain llama 'the king' --lens --only lens --at all >lens.txt || fail '--lens as a text'
check '--lens: a table for each position' test "$(grep -c '^  blocks  choice ' lens.txt)" = "$(grep -c '^after token' lens.txt)"
check '--lens: in the text without --only, too' grep -qx 'Logit lens' <(explain llama 'the king' --lens)
for threads in 1 2 3; do
    check "--lens --threads $threads" cmp lens.txt <(explain llama 'the king' --lens --only lens --at all --threads $threads)
done
for isa in $(levels); do
    check "--lens: RAPT_ISA=$isa" cmp lens.txt <(RAPT_ISA=$isa "$RAPT" explain llama 'the king' --lens --only lens --at all)
done

# ---- text --------------------------------------------------------------------------------------------------------------
# is NAME EXPECTED-FILE COMMAND...: what the command prints.
is() {
    local name=$1 wanted=$2
    shift 2
    if "$@" >.got 2>.err </dev/null && cmp "$wanted" .got >.cmp; then pass "$name"; else
        fail "$name" "$(head -c 300 .err .cmp)"
    fi
}
explain pairs "$sentence" >plain.txt
check 'a heading for each part' cmp - <(grep -B1 '^==*$' plain.txt | grep -v '^[=-]*$') <<'TEXT'
Tokens
Encoder: Embedding
Encoder: Positions
Encoder block 0: Self-attention
Encoder block 0: Add & norm
Encoder block 0: Feed-forward network
Encoder block 0: Add & norm
Decoder: Embedding
Decoder: Positions
Decoder block 0: Masked self-attention
Decoder block 0: Add & norm
Decoder block 0: Cross-attention
Decoder block 0: Add & norm
Decoder block 0: Feed-forward network
Decoder block 0: Add & norm
Decoder: Output
Output
Likeliest tokens
TEXT
cat >compare.py <<'PYTHON'
# The numbers of each tensor that a text shows whole equal the JSON's, to four digits.
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
steps = {(s["name"], s["gradient"]): s for s in json.load(open(sys.argv[2], encoding="utf-8"))["steps"]}
shown = re.findall(r"^(gradient of )?([a-z0-9_.]+)(?: = .*)?\nshape (\[.*?\]) .*\ntensor\(((?:[^)])*)\)$", text, re.M)
assert len(shown) == len(steps), (len(shown), len(steps))
for back, name, shape, numbers in shown:
    s = steps[name, bool(back)]
    assert json.loads(shape) == s["shape"], name
    got, want = [float(x) for x in re.findall(r"[^][,\s]+", numbers)], [float(x) for x in s["values"]]
    assert len(got) == len(want), name
    for x, y in zip(got, want):
        assert x == y or abs(x - y) <= 5.1e-5 * max(1, abs(y)), (name, x, y)
PYTHON
same_numbers() {
    if [ "$PYTHON" ]; then check "$1" python3 compare.py "$2" "$3"; else skip "$1 (python3 is not installed)"; fi
}
explain pairs "$sentence" --full >whole.txt
same_numbers '--full: the numbers of JSON' whole.txt t.json
explain llama 'the king saw' --train --full >full.txt
same_numbers '--full: all numbers, and gradients' full.txt train.json
check 'a large matrix: corners' test "$(explain llama 'the king saw' --only output | grep -c '\.\.\.')" -ge 4
check 'the translation, and what comes after it' grep -Pzq \
    "the translation: $("$RAPT" translate pairs <<<"$sentence" | sed 's/\./\\./')\nafter token [0-9]+, .*:\n  0\.[0-9]{6} +3  <eos>\n" \
    plain.txt
for threads in 1 2 3; do is "--threads $threads" full.txt explain llama 'the king saw' --train --full --threads $threads; done
for isa in $(levels); do
    is "RAPT_ISA=$isa" full.txt env RAPT_ISA="$isa" "$RAPT" explain llama 'the king saw' --train --full
done

# ---- names of tokens ---------------------------------------------------------------------------------------------------
# "日 k" of bytes: both commands say the same, and no two bytes are called the same.
explain llama '日 k' --only tokens >tokens.txt
check 'tokens: bytes, and an open box for a space' test "$(awk 'NR > 4 { printf "%s ", $3 }' tokens.txt)" = '\xe6 \x97 \xa5 ␣k '
check 'tokens: the names of plot attention' cmp <(awk 'NR > 4 { print $3 }' tokens.txt) \
    <("$RAPT" plot attention llama '日 k' --head 0 --data | tail -n +2 | cut -f1)
cat >widths.py <<'PYTHON'
import sys, unicodedata
lines = [line.rstrip("\n") for line in sys.stdin]
tables = [line for line in lines if "." in line and line[:1].isdigit()]
def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
assert len(tables) > 10 and len({width(line) for line in tables}) == 1, [(width(line), line) for line in tables]
assert any("\u4e00" <= c <= "\u9fff" for line in tables for c in line), tables
PYTHON
printf '%s\n' 我喜欢在春天散步，花园里开满了花。 今天天气很好，我们去公园吧。 >zh.txt
for _ in {1..9}; do cat zh.txt; done >zh4.txt
cat >zh.yaml <<'YAML'
task: language_model
data: {text: zh4.txt, validation_fraction: 0.2}
tokenizer: {type: characters}
model: {layers: 1, d_model: 16, heads: 2, ffn: 32, context: 16}
train: {steps: 2, batch: 2}
YAML
if [ "$PYTHON" ]; then
    check 'a model of Chinese text' "$RAPT" train zh.yaml --out zh --quiet
    for columns in 50 80 200; do
        COLUMNS=$columns explain zh 我喜欢在春天散步，花园里 --only '*.weights' --table >table.txt
        check "--table: columns of Chinese are straight in $columns" python3 widths.py <table.txt
    done
else
    skip '--table: columns of Chinese (python3 is not installed)'
fi
explain llama '日 k' --only '*.weights' --table --full >table.txt
check '--table: the same names' grep -Eqx ' +0 \\xe6 +1 \\x97 +2 \\xa5 +3 ␣k' table.txt
explain llama '日 k' --json >bytes.json
json 'JSON: text, or a name and bytes' bytes.json '[[t["text"], t.get("bytes")] for t in last] ==
    [["\\xe6", "e6"], ["\\x97", "97"], ["\\xa5", "a5"], [" k", None]]'
explain llama '日 k' --at all --only predictions >all.txt
check 'predictions: no mark that stands for any byte' test "$(grep -c $'\xef\xbf\xbd' all.txt)" = 0

explain letters 'the sea' --at all --only predictions >all.txt
check '--at all: after each token' test "$(grep -c '^after token' all.txt)" = 7
tail -n +3 all.txt | awk '/^after token 2/ { on = 1 } /^after token 3/ { on = 0 } on' >.part
check '--at 2' cmp .part <(explain letters 'the sea' --at 2 --only predictions | tail -n +3)
check '--at -5' cmp .part <(explain letters 'the sea' --at -5 --only predictions | tail -n +3)
check 'no --at: after the last one' cmp <(tail -6 all.txt) <(explain letters 'the sea' --only predictions | tail -n +3)
check 'the numbers of generate --at' cmp <(sed -n 's/^  \([0-9.]*\) .*/\1/p' .part | cut -c1-7) \
    <("$RAPT" generate letters --prompt 'the sea' --at 2 | tail -n +2 | cut -c1-7)

# ---- --only ------------------------------------------------------------------------------------------------------------
only() {
    local name=$1 expected=$2
    shift 2
    explain pairs "$sentence" "$@" >.out
    check "--only: $name" test "$(grep -o '^[a-z0-9_.]* = ' .out | tr -d '= ' | tr '\n' ' ')" = "$expected "
}
only 'one step' 'encoder.0.attention.q' --only encoder.0.attention.q
only 'a pattern' 'encoder.0.attention.weights decoder.0.self_attention.weights decoder.0.cross_attention.weights' \
    --only '*.weights'
only 'two, in the order of the pass' 'encoder.0.ffn.hidden decoder.output' --only decoder.output \
    --only '[e]ncoder.0.ffn.h?dden'
check '--only: no tokens and predictions' test "$(explain pairs "$sentence" --only encoder.input | grep -c 'token')" = 0
check '--only tokens' test "$(explain pairs "$sentence" --only tokens | grep -c '^  ')" = 16
check '--only predictions' test "$(explain pairs "$sentence" --only predictions | grep -c '^  0\.')" = 5
check '--only loss' test "$(explain pairs "$sentence" "$wanted" --train --only loss | grep -c '^loss')" = 1
explain pairs "$sentence" --only '*.weights' --json --full >only.json
json '--only with --json' only.json 'names == [f"{b}.0.{a}attention.weights" for b, a in
    (("encoder", ""), ("decoder", "self_"), ("decoder", "cross_"))] and len(o["predictions"]) == T'
not_only() { refused 1 "$2" "--only $1" "$RAPT" explain pairs "$sentence" --only encoder.input --only "$1" "${@:3}"; }
not_only encoder.0.atention.q 'did you mean "encoder.0.attention.q"'
not_only 'decoder.0.fnn.*' 'did you mean "decoder.0.ffn.\*"'
not_only predictoins 'did you mean "predictions"'
not_only loss '"loss": there is a loss with gradients only \(--train\)'
not_only 'l?ss' '"l\?ss": .* gradients only \(--train\)' --json
not_only quux 'no intermediate is called "quux"; there are tokens, '
not_only 'x*' 'no intermediate is called "x\*"' --json

# ---- tables ------------------------------------------------------------------------------------------------------------
explain pairs "$sentence" --only 'decoder.0.cross_attention.weights' --table --full >table.txt
check '--table: a matrix for each head' test "$(grep -c '^head [01]$' table.txt)" = 2
check '--table: tokens name the columns' grep -Eqx ' +0 the +1 dog +2 see +3 the +4 sea +5 \. +6 <eos>' table.txt
check '--table: and the rows' grep -Eq '^0 <bos> +[0-9]' table.txt
cat >table.py <<'PYTHON'
import json, re, sys
s = [s for s in json.load(open("t.json"))["steps"] if s["name"] == "decoder.0.cross_attention.weights"][0]
rows = [line for line in open("table.txt") if re.match(r"\d+ \S+ +[-\d]", line)]
got = [float(x) for line in rows for x in re.findall(r"[-\d.e+]+", line.split(None, 2)[2])]
assert len(got) == len(s["values"]) and all(abs(x - y) <= 5.1e-7 * max(1, y) for x, y in zip(got, s["values"])), (got, s)
PYTHON
if [ "$PYTHON" ]; then check '--table: its numbers' python3 table.py; else skip '--table: its numbers (python3 is not installed)'; fi
unset COLUMNS
# longest FILE: the longest line of its tables.
longest() { awk '!/^(shape|[a-z0-9_.]* = )/ { if (length($0) > most) most = length($0) } END { print most }' "$1"; }
explain pairs "$sentence" --table >.out
check '--table: lines of 80 columns where there is no terminal' test "$(longest .out)" -le 80 -a "$(longest .out)" -gt 66
COLUMNS=120 explain pairs "$sentence" --table >wide.out
check '--table: lines of as many columns as COLUMNS says' test "$(longest wide.out)" -le 120 -a "$(longest wide.out)" -gt 106
COLUMNS=none explain pairs "$sentence" --table >none.out
check '--table: COLUMNS that is no number is as good as none' cmp .out none.out
check '--table: how large a cut matrix is' grep -Fqx '[7 rows x 16 columns]' .out

# ---- color -------------------------------------------------------------------------------------------------------------
escape=$(printf '\033')
check 'a pipe: no colour' test "$(grep -c "$escape" plain.txt)" = 0
explain pairs "$sentence" --color=always >colour.txt
check '--color=always' test "$(grep -c "$escape" colour.txt)" -gt 50
check 'and nothing but colour' cmp plain.txt <(sed "s/$escape\[[0-9;]*m//g" colour.txt)
is '--color=never' plain.txt explain pairs "$sentence" --color=never
if command -v script >/dev/null; then
    on_terminal() { TERM=xterm script -qec "$1" /dev/null </dev/null | grep -c "$escape"; }
    check 'a terminal: colour' test "$(on_terminal "$RAPT explain pairs '$sentence'")" -gt 50
    check 'a terminal with NO_COLOR: none' test "$(on_terminal "NO_COLOR=1 $RAPT explain pairs '$sentence'")" = 0
    check 'NO_COLOR and --color=always' test "$(on_terminal "NO_COLOR=1 $RAPT explain pairs '$sentence' --color=always")" -gt 50
else
    skip 'colour on a terminal (script is not installed)'
fi

# ---- the page ----------------------------------------------------------------------------------------------------------
explain pairs "$sentence" --html page.html >.out 2>.err
check '--html: done, and nothing is printed' test $? = 0 -a ! -s .out -a ! -s .err
check '--html: a page' grep -qi '<html' page.html
check '--html: with the steps of the pass' grep -q 'decoder.0.cross_attention.weights' page.html
explain pairs "$sentence" --train --html page.html && grep -q '"loss":' page.html
check '--html --train without a target: a page with the loss' test $? = 0
"$RAPT" train characters.yaml --quiet --out wide --set train.steps=1 --set model.context=352 --set model.d_model=96 \
    --set model.layers=3 --set model.heads=4 --set model.ffn=192 || fail 'cannot train a model of 352 tokens'
explain wide "$(head -c 400 text.txt | iconv -cf utf-8 -t ascii | head -c 325)" --html page.html
size=$(wc -c <page.html)
check '--html: 325 tokens take 3 MB at most' test "$size" -gt 1000000 -a "$size" -lt 3000000
rm page.html
refused 1 'nowhere/page.html' '--html where no folder is' "$RAPT" explain pairs "$sentence" --html nowhere/page.html
refused 1 'the output path is empty' "--html ''" "$RAPT" explain pairs "$sentence" --html ''
mkdir folder
refused 1 'folder' '--html where a folder is' "$RAPT" explain pairs "$sentence" --html folder
check '--html: nothing else is left' test -z "$(ls -A folder)" -a -z "$(ls -A | grep -i 'page.*tmp')"

# ---- refused -----------------------------------------------------------------------------------------------------------
not_explained() { refused 1 "$1" "$2" "$RAPT" explain "${@:3}"; }
long=$(printf 'the %.0s' {1..60})
not_explained 'there is no such model' 'no model' none text
not_explained 'the text is empty' 'an empty text' pairs ''
not_explained 'the text is empty' 'spaces only' pairs ' '
not_explained 'the text is empty' 'an empty prompt' letters ''
strict() { not_explained "$1" "$2" "${@:3}" --strict; }
strict 'the text: the model does not know "Zyzzyva", "qwx", "zyzzyva"$' 'unknown words, each once' \
    pairs 'the Zyzzyva see the qwx zyzzyva Zyzzyva.'
words=$(printf 'x%d ' {1..8})
strict 'not know "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"$' 'eight unknown words' pairs "$words"
strict '"x7", "x8", \.\.\.$' 'nine unknown words' pairs "${words}x9"
strict '"y*\.\.\.", "2y*\.\.\.", "3y*\.\.\.", \.\.\.$' 'long unknown words: whole, or not there' \
    pairs "$(printf '%0150d %0149d %0149d %0149d %0149d' 0 0 0 0 0 | tr 0 y | sed 's/ y/ 2y/; s/ y/ 3y/; s/ y/ 4y/; s/ y/ 5y/')"
strict 'the target: the model does not know "xx"$' 'an unknown word of a target' pairs "$sentence" 'le chien xx'
"$RAPT" explain pairs 'the qwx see zork qwx.' 'le chien xx' --json >unknown.json 2>unknown.err
check 'unknown words are explained' test $? = 0
json 'as <unk>, which is what the model reads' unknown.json '[t["text"] for t in o["sequences"]["source"]] ==
    ["the", "<unk>", "see", "<unk>", "<unk>", ".", "<eos>"] and o["sequences"]["target"][3]["text"] == "<unk>"'
json 'and named' unknown.json 'o["unknown_words"] == ["qwx", "zork"] and o["unknown_target_words"] == ["xx"]'
check 'with a warning for each text' cmp unknown.err <(
    echo 'rapt: the text: warning: the model does not know "qwx", "zork", and reads <unk> (--strict refuses)'
    echo 'rapt: the target: warning: the model does not know "xx", and reads <unk> (--strict refuses)')
"$RAPT" explain pairs "$sentence" --json --strict >known.json 2>known.err
check 'no warning where all are known' test $? = 0 -a ! -s known.err
json 'and an empty list' known.json 'o["unknown_words"] == [] and "unknown_target_words" not in o'
seq -f x%.0f -s ' ' 18000 >many.txt
not_explained 'the text has 18001 tokens with <eos>; the model takes 12' 'a flood of unknown words' pairs "$(cat many.txt)"
not_explained 'the target is empty' 'an empty target' pairs "$sentence" ''
not_explained 'the text has 61 tokens with <eos>; the model takes 12' 'too long a text' pairs "$long"
not_explained 'the target has 61 tokens with <bos>; the model has 40' 'too long a target' pairs "$sentence" "${long//the/le}"
not_explained "the text has 240 tokens; the model's context is 12" 'longer than the context' letters "$long"
not_explained 'the text: byte 2: not UTF-8' 'not UTF-8' pairs $'a\xff'
not_explained 'the target: byte 1: not UTF-8' 'a target that is not UTF-8' pairs a $'\xff'
not_explained 'the text: byte 3: character U\+0021' 'an unknown character' letters 'th!'
not_explained 'a text of one token has no loss' '--train with one token' letters t --train
not_explained '--at 7: the text has tokens 0 to 6' '--at beyond the text' letters 'the sea' --at 7
not_explained '--at 99: the text has tokens 0 to 6' '--at, where no predictions are wanted' letters 'the sea' --at 99 \
    --only '*.weights'
not_explained '--at -8: the text has tokens 0 to 6' '--at before the text' letters 'the sea' --at -8
refused 2 'takes no target' 'a target for a language model' "$RAPT" explain letters the sea
# lost NAME ARGUMENT...: whatever ends a command, it gives its memory back; sanitizers see this of all checks.
lost() {
    RAPT_ISA=scalar valgrind -q --leak-check=full --error-exitcode=9 "$RAPT" explain "${@:2}" --threads 1 >.out 2>.err </dev/null
    check "$1: no memory is lost" test $? -lt 9
}
if [ -z "$SANITIZED" ] && command -v valgrind >/dev/null; then
    lost 'unknown words' pairs zork
    lost 'unknown words, refused' pairs zork --strict
    lost 'unknown words of a target' pairs the zork
    lost 'an unknown character' letters 'th!'
    lost 'a pass' pairs the "$wanted" --train --json
else
    skip 'no memory is lost (valgrind is not installed, or the build has sanitizers)'
fi
usage() { refused 2 "$1" "usage: rapt explain ${*:2}" "$RAPT" explain "${@:2}"; }
usage 'missing operand: MODEL and TEXT'
usage 'missing operand: MODEL and TEXT' pairs
usage 'extra operand' pairs a b c
strict 'the text: the model does not know "le", "chien"' 'a target in place of the text, with --train before it' \
    pairs --train "$wanted" "$sentence"
not_explained 'there is no such model' 'a target in place of the model' --train "$wanted" pairs "$sentence"
usage 'one target' pairs a b --train=c
usage 'one of --table' pairs a --table --json
usage 'one of --table' pairs a --html x.html --json
usage '--only is for what is printed' pairs a --html x.html --only x
usage '--at is for text' pairs a --json --at 0
explain pairs "$sentence" --html page.html --book https://example.org/book && grep -q '"book":"https://example.org/book"' page.html
check '--book: the page has the address' test $? = 0
rm page.html
usage "--book: the book's address must" no-such-model "$sentence" --html page.html --book 'javascript:alert(1)'
check '--book: no page' test ! -e page.html
usage '--html' pairs a --book docs/book
usage 'at' pairs a --at x
usage 'color' pairs a --color=blue
usage 'threads' pairs a --threads 0
usage 'frob' pairs a --frob
for format in '' --table --json; do
    explain pairs "$sentence" $format >/dev/full 2>.err
    check "a full disk, $format: status 1" test $? = 1
    check "a full disk, $format: one line" grep -Eqx 'rapt: .*No space left.*' .err
    explain pairs "$sentence" --full $format 2>.err | head -c 100 >.out
    check "a reader that goes away, $format: no message" test "$(wc -c <.out)" = 100 -a ! -s .err
done
finish

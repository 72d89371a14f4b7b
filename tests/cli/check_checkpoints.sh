#!/bin/bash
# tests/cli/check_checkpoints.sh: looking at a run's checkpoints: train.keep_untrained leaves the model that the first step starts
# from, in untrained/, and `rapt explain --html --checkpoints` puts the attention weights and predictions of each checkpoint into
# its page. The page in a browser: tests/explain/check_page.sh.
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
keep=(--set train.checkpoint_every=10 --set train.keep=3 --set train.keep_untrained=true)
sentence='the dog see the sea.'

# ---- training ------------------------------------------------------------------------------------------------------------
"$RAPT" train tiny.yaml --quiet --out plain --set train.steps=30 --set train.checkpoint_every=10 --set train.keep=3 || exit 1
check 'without the key no untrained model is kept' test ! -e plain/untrained
check 'train.keep_untrained' "$RAPT" train tiny.yaml --quiet --out tr --set train.steps=30 "${keep[@]}"
check 'which changes nothing else' same_parameters plain/model.safetensors tr/model.safetensors
"$RAPT" train tiny.yaml --quiet --out new --set train.steps=30 --max-steps 0 || exit 1
check 'untrained/ has the parameters of --max-steps 0' same_parameters new/model.safetensors tr/untrained/model.safetensors
check 'and is a model of its own' sh -c 'echo "the dog" | "$0" translate tr/untrained' "$RAPT"
"$RAPT" train tiny.yaml --quiet --out stopped --set train.steps=30 "${keep[@]}" --max-steps 15 || exit 1
"$RAPT" train --quiet --resume --out stopped || exit 1
check 'a stopped run keeps its own when it is resumed' same_parameters tr/untrained/model.safetensors \
    stopped/untrained/model.safetensors
check 'and ends as if never stopped' same_model tr stopped
mkdir other && cp -r tr/untrained other/ || exit 1
refused 1 'holds untrained' 'an untrained model of another run is not written over' \
    "$RAPT" train tiny.yaml --quiet --out other "${keep[@]}"
check 'a language model, too' "$RAPT" train lm.yaml --quiet --out lm --set train.steps=30 "${keep[@]}"

# ---- the page ------------------------------------------------------------------------------------------------------------
check '--checkpoints: a translation model' "$RAPT" explain tr "$sentence" --html tr.html --checkpoints
check '--checkpoints: a language model' "$RAPT" explain lm 'the king ' --html lm.html --checkpoints
"$RAPT" explain tr "$sentence" --html without.html || exit 1
target=$("$RAPT" explain tr "$sentence" --json | sed 's/.*"target": "\([^"]*\)".*/\1/')
cat >look.py <<'PYTHON'
import base64, json, struct, subprocess, sys
folder, html, rapt, text = sys.argv[1:5]
target = sys.argv[5:]
page = open(html, encoding="utf-8").read()
data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script")[0])
explained = lambda model: json.loads(subprocess.run([rapt, "explain", model, text, *target, "--json", "--full"], check=True,
                                                    capture_output=True).stdout)
steps = [c["step"] for c in data["checkpoints"]]
assert steps == [0, 10, 20, 30], steps
def floats(step):
    assert step["format"] == "exact", step["format"]
    raw = base64.b64decode(step["values"])
    kept = struct.unpack(f"<{len(raw) // 4}f", raw)
    if "above" not in step:
        return list(kept)
    rows, out, at = step["shape"][-1], [], 0
    while at < len(kept):
        n = len(out) // rows % rows + 1
        out += list(kept[at:at + n]) + [0.0] * (rows - n)
        at += n
    return out
for model, c in ((folder + "/untrained", data["checkpoints"][0]), (folder, data["checkpoints"][-1])):
    e = explained(model)
    ids = lambda o: [t["id"] for t in o["sequences"].get("target", o["sequences"].get("text"))]
    assert ids(e) == ids(data), (ids(e), ids(data))
    assert c["predictions"] == e["predictions"], model
    wanted = {s["name"]: s for s in e["steps"] if s["name"].endswith("weights")}
    assert {s["name"] for s in c["steps"]} == set(wanted) and len(wanted) > 0
    for step in c["steps"]:
        if "same" not in step:
            assert floats(step) == [struct.unpack("f", struct.pack("f", x))[0] for x in wanted[step["name"]]["values"]], step["name"]
loss = lambda c: sum(p["next"]["loss"] for p in c["predictions"] if "next" in p)
assert loss(data["checkpoints"][0]) > loss(data["checkpoints"][-1]), "nothing was learned"
PYTHON
if command -v python3 >/dev/null; then
    check 'attention weights and predictions are those of explain --json' \
        python3 look.py tr tr.html "$RAPT" "$sentence" "$target"
    check 'of a language model, too' python3 look.py lm lm.html "$RAPT" 'the king '
else
    skip 'attention weights and predictions of the checkpoints (python3 is not installed)'
fi
check 'without --checkpoints there are none' sh -c '! grep -q "\"checkpoints\":\[" without.html'
refused 1 'holds no checkpoints' 'a folder without any' "$RAPT" explain new "$sentence" --html no.html --checkpoints
check 'which leaves no page' test ! -e no.html
refused 2 '--checkpoints needs --html' 'without a page' "$RAPT" explain tr "$sentence" --checkpoints
cp lm/checkpoints/step-00000020.safetensors tr/checkpoints/
refused 1 'step-00000020' 'a checkpoint of another run' "$RAPT" explain tr "$sentence" --html no.html --checkpoints
finish

"""eval_client.py CLIENT URL NAME MODEL TEXT...: what lm-evaluation-harness makes of the texts in the files TEXT by asking the
served model NAME is what `rapt eval MODEL TEXT` computes, to the last bit. CLIENT is lm_eval, for the harness itself (PyPI's
lm-eval with its model local-completions), or imitated, for requests of its form from Python's standard library. For
check_serve_clients.sh. RAPT is the program, WEIGHTS the type of the weights that the server was told.

A text of n tokens within one window has n - 1 log-probabilities: its first token is the context, as nothing comes before it.
"""
import json
import os
import subprocess
import sys
import urllib.request

RAPT = os.environ["RAPT"]
WEIGHTS = os.environ.get("WEIGHTS", "fp32")
CONTEXT = 256  # of the model


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def tokenize(url, name, text):
    return post(url + "/v1/tokenize", {"model": name, "text": text})["results"][0]


def in_order(numbers):
    """Their sum, rounded after each: sum() keeps more from Python 3.12 on."""
    total = 0.0
    for x in numbers:
        total += x
    return total


def imitated(url, name, model, texts):
    """The request of the harness's local-completions with batches of three, and its reading of the response."""
    found = []
    ids = [tokenize(url, name, text)["ids"] for text in texts]
    for first in range(0, len(ids), 3):
        request = {"model": name, "prompt": ids[first:first + 3], "temperature": 0, "max_tokens": 1, "logprobs": 1, "seed": 1234,
                   "echo": True}
        response = post(url + "/v1/completions", request)
        for choice in sorted(response["choices"], key=lambda c: c["index"]):
            found.append(in_order(choice["logprobs"]["token_logprobs"][1:-1]))
    return found


def lm_eval(url, name, model, texts):
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=os.path.abspath("hf"), TOKENIZERS_PARALLELISM="false")
    import lm_eval
    from lm_eval.tasks import TaskManager

    with open("texts.jsonl", "w") as out:
        for text in texts:
            first = tokenize(url, name, text)["tokens"][0]
            out.write(json.dumps({"context": first, "rest": text[len(first):], "line": text.split("\n")[0]}) + "\n")
    os.makedirs("tasks", exist_ok=True)
    common = dict(dataset_path="json", dataset_kwargs={"data_files": {"test": os.path.abspath("texts.jsonl")}}, test_split="test",
                  target_delimiter="")
    score = dict(common, task="score", output_type="loglikelihood", doc_to_text="{{context}}", doc_to_target="{{rest}}",
                 metric_list=[{"metric": "perplexity"}, {"metric": "acc"}])
    go_on = dict(common, task="go_on", output_type="generate_until", doc_to_text="{{line}}", doc_to_target="",
                 generation_kwargs={"until": ["\n\n"], "max_gen_toks": 12, "temperature": 0},
                 metric_list=[{"metric": "exact_match"}])
    for task in (score, go_on):
        with open(f"tasks/{task['task']}.yaml", "w") as out:
            json.dump(task, out)  # JSON is YAML
    found = None
    for options in ("", ",num_concurrent=4", ",tokenized_requests=False"):
        for size in (1, 3):
            results = lm_eval.simple_evaluate(
                model="local-completions", tasks=["score", "go_on"], batch_size=size, log_samples=True,
                model_args=f"model={name},base_url={url}/v1/completions,tokenizer={model},tokenizer_backend=huggingface,"
                           f"max_length={CONTEXT + 1}{options}",
                task_manager=TaskManager(include_path=os.path.abspath("tasks"), include_defaults=False))
            samples = {t: sorted(results["samples"][t], key=lambda s: s["doc_id"]) for t in ("score", "go_on")}
            scores = [s["resps"][0][0][0] for s in samples["score"]]
            assert found in (None, scores), (options, size)
            found = scores
            for text, sample in zip(texts, samples["go_on"]):
                line = text.split("\n")[0]
                said = subprocess.run([RAPT, "generate", model, "--prompt", line, "--greedy", "--max-tokens", "12", "--stop", "\n\n",
                                       "--quiet"], stdout=subprocess.PIPE, check=True).stdout.decode()
                assert said == line + sample["resps"][0][0] + "\n", (said, sample["resps"])
    return found


def main():
    client, url, name, model, *files = sys.argv[1:]
    texts = [open(f, newline="").read() for f in files]
    for file, text, score in zip(files, texts, {"lm_eval": lm_eval, "imitated": imitated}[client](url, name, model, texts)):
        expected = json.loads(subprocess.run([RAPT, "eval", model, file, "--json", "--weights", WEIGHTS], stdout=subprocess.PIPE,
                                             check=True).stdout)
        assert len(tokenize(url, name, text)["ids"]) - 1 == expected["tokens"] < CONTEXT, (file, expected)
        assert -score / expected["tokens"] == expected["loss"], (file, -score / expected["tokens"], expected["loss"])
        print(file, expected["tokens"], "tokens", expected["loss"])


main()

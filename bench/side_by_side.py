#!/usr/bin/env python3
"""Every comparison with other programs that docs/performance.md quotes, in turns, as one table: docs/results/side-by-side.md, with
a column for each processor that it ran on.

    bench/side_by_side.sh [PART...] [--rounds 5] [--keep | --page]

which installs the other programs and calls this script. Parts: train, bf16, matmul, prefill, generate, translate, tokenize, lora,
start; all without one. What is measured replaces the processor's figures of these parts; others keep theirs, with their date.
--keep only prints: the machine was busy, or this is a trial. docs/results/side-by-side.json has the medians, and the least and
the greatest ratio of the rounds. --page measures nothing, and writes the page of that file anew.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from turns import Figure, in_turns

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/results/side-by-side.json"
NAMES = {("AuthenticAMD", 25, 17): "Zen 4", ("AuthenticAMD", 26, 2): "Zen 5", ("AuthenticAMD", 25, 1): "Zen 3",
         ("GenuineIntel", 6, 85): "Cascade Lake", ("GenuineIntel", 6, 143): "Sapphire Rapids",
         ("GenuineIntel", 6, 207): "Emerald Rapids"}

parser = argparse.ArgumentParser(usage="bench/side_by_side.sh [PART...] [--rounds 5] [--keep | --page]")
parser.add_argument("parts", nargs="*")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--keep", action="store_true", help="print only")
parser.add_argument("--page", action="store_true", help="measure nothing, write the page of what is known")
parser.add_argument("--work", type=pathlib.Path, default="build-bench/shapes", help="a folder for models of the shapes that are timed")
parser.add_argument("--only-check", action="store_true", help="look at the arguments, and do nothing")
options = parser.parse_args()
WORK = options.work

# ---- running ---------------------------------------------------------------------------------------------------------


def lines(*command, **how):
    """The lines that a command writes; what it says goes to a log."""
    with open(WORK / "log", "a") as log:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT, **how)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: see {WORK / 'log'}")
    return done.stdout.splitlines()


def output(*command, **how):
    """The last of the lines, as JSON."""
    return json.loads(lines(*command, **how)[-1])


def rapt_bench(*arguments):
    return output(ROOT / "build/rapt-bench", *arguments, "--json", "--threads", options.threads)


def pytorch(script, *arguments):
    return output(sys.executable, ROOT / f"bench/pytorch/{script}.py", *arguments, "--threads", options.threads)


def script(name, *arguments):
    """The figures of a script that takes turns itself."""
    threads = () if name == "tokenizer" else ("--threads", options.threads) # which is about one thread
    return output(sys.executable, ROOT / f"bench/{name}.py", *arguments, *threads, "--rounds", options.rounds, "--json")


def beside_pytorch(name, unit, ours, theirs, what="PyTorch", more_is_better=False):
    """`ours` and `theirs` return the figure."""
    figures = in_turns(options.rounds, rapt=ours, peer=theirs)
    return Figure(name, unit, figures["rapt"], figures["peer"], what, more_is_better).summary()


def under(name, rows):
    return [{**row, "name": f"{name}: {row['name']}"} for row in rows]


def version(package):
    import importlib.metadata
    return importlib.metadata.version(package).split("+")[0]

# ---- models of the shapes ----------------------------------------------------------------------------------------------


def folder(shape):
    """A Hugging Face folder of random weights."""
    path = WORK / shape
    if not (path / "config.json").exists():
        lines(sys.executable, ROOT / "bench/make_hub_shape.py", shape, "F32", path)
    return path


def gguf(shape, weights):
    path = WORK / f"{shape}-{weights}.gguf"
    if not path.exists():
        lines(ROOT / "build/rapt", "convert", folder(shape), "--to", "gguf", "--weights", weights, "-o", path, "--quiet")
    return path

# ---- parts -----------------------------------------------------------------------------------------------------------

# The cases of training, and the modes in which PyTorch is at its best in fp32 and beside rapt's bf16.
CASES = {"a1": ("the book's model", "eager", None), "a2": ("a Multi30k-sized translator", "eager", "compile_bf16"),
         "a3": ("a base-sized translator", "eager", "bf16"), "a4n": ("nanoGPT's model for CPUs", "compile", "compile"),
         "a4b": ("baby GPT", "eager", "bf16"), "a5": ("a vocabulary of 100,069", "compile", None),
         "a6": ("GPT-2 124M, 256 tokens", "eager", "bf16")}


def train_steps(ours, number):
    """The time of a step, and the peak memory of the process."""
    for case, row in CASES.items():
        mode = row[number]
        if not mode:
            continue
        runs = in_turns(options.rounds, rapt=lambda: rapt_bench("train", "--case", case, *ours),
                        peer=lambda: pytorch("train", "--case", case, "--mode", mode))
        for name, unit, key in ("step", "ms", "ms"), ("memory of", "MB", "rss_mb"):
            yield Figure(f"{name} {case}, {row[0]}", unit, *([run[key] for run in runs[side]] for side in ("rapt", "peer")),
                         f"PyTorch {version('torch')}, {mode}", more_is_better=False).summary()


def part_train():
    return train_steps((), 1)


def part_bf16():
    return train_steps(("--precision", "bf16"), 2)


def part_matmul():
    for shape in "2048x512x512", "4096x256x128", "768x384x384", "64x512x512":
        def rate(*command):
            """Of the product of a forward pass."""
            rows = map(json.loads, lines(*command, "--case", shape, "--threads", options.threads, "--seconds", 1))
            return next(row["gflops"] for row in rows if row.get("form") == "NT")

        yield beside_pytorch(f"fp32 matmul {shape}", "GFLOP/s", lambda: rate(ROOT / "build/rapt-bench", "kernels", "--json"),
                             lambda: rate(sys.executable, ROOT / "bench/pytorch/gemm.py"),
                             f"PyTorch {version('torch')}", True)


def part_prefill():
    for precision in "fp32", "bf16":
        ours = "decode", "--batch", 1, "--prompt", 512, "--time", 514, "--precision", precision
        yield beside_pytorch(f"GPT-2's shape, 512 tokens of prompt, {precision}", "ms", lambda: rapt_bench(*ours)["prompt_ms"],
                             lambda: pytorch("decode", "--prompt", 512, "--new", 1, "--dtype", precision)["prompt_ms"],
                             f"PyTorch {version('torch')}, {precision}")


def part_generate():
    for batch in 1, 8:
        yield beside_pytorch(f"GPT-2's shape, fp32, {batch} text{'s' * (batch > 1)}", "tokens/s",
                             lambda: rapt_bench("decode", "--batch", batch)["tok_s"],
                             lambda: pytorch("decode", "--batch", batch)["tok_s"], f"PyTorch {version('torch')}", True)
    for weights in "q8_0", "q4_0":
        yield from under(f"GPT-2's shape, {weights}, 1 text", script("quantized", gguf("gpt2", weights)))
        yield from under(f"GPT-2's shape, {weights}, 8 texts", script("quantized", gguf("gpt2", weights), "--batch", 8))
        yield from under(f"Qwen2.5-0.5B's shape, {weights}, 1 text, prompt of 512",
                         script("quantized", gguf("qwen2", weights), "--prompt", 512, "--new", 64, "--seconds", 4))


def part_translate():
    for beam in 1, 4:
        yield beside_pytorch(f"500 sentences, a2's shape, fp32, beam {beam}", "tokens/s",
                             lambda: rapt_bench("decode", "--case", "a2", "--beam", beam)["tok_s"],
                             lambda: output(sys.executable, ROOT / "bench/ctranslate2_translate.py", "--beam", beam, "--threads",
                                            options.threads)["tok_s"], f"CTranslate2 {version('ctranslate2')}", True)
    text = ROOT / "data/en-fr.tsv"
    for weights, kind in ("fp32", "float32"), ("q8_0", "int8"):
        yield from under(f"OPUS-MT's shape, {weights} beside {kind}",
                         script("translate", folder("marian"), text, "--weights", weights, "--type", kind))


def part_tokenize():
    ranks, text = ROOT / "data/cl100k_base/cl100k_base.tiktoken", ROOT / "data/tiny-shakespeare/input.txt"
    yield from under("cl100k_base", script("tokenizer", "cl100k_base", ranks, text))
    sentences = WORK / "en.txt"
    sentences.write_text("".join(line.split("\t")[0] + "\n" for line in open(ROOT / "data/fra-eng/fra.txt", encoding="utf-8")))
    yield from under("a vocabulary of 8,000", script("tokenizer_train", sentences))


def part_lora():
    how = dict(os.environ, PYTHON=sys.executable, MODES="bf16", ROUNDS="1", JSON="yes", THREADS=str(options.threads))
    runs = [output(ROOT / "bench/lora_step.sh", folder("qwen2"), env=how) for _ in range(options.rounds)]
    for name, unit, key in ("a step", "ms", "ms"), ("peak memory", "MB", "peak_mb"):
        yield Figure(f"LoRA for Qwen2.5-0.5B's shape, bf16: {name}", unit, [run["rapt"][key] for run in runs],
                     [run["peer"][key] for run in runs], f"PEFT {version('peft')}, bf16", more_is_better=False).summary()


FIRST_TOKEN = """
import sys, time, json
import llama_cpp
start = time.perf_counter()
model = llama_cpp.Llama(sys.argv[1], n_ctx=512, n_threads=int(sys.argv[2]), n_threads_batch=int(sys.argv[2]), verbose=False)
model(sys.argv[3], max_tokens=1, temperature=0)
print(json.dumps(1e3 * (time.perf_counter() - start)))
"""


def part_start():
    """From a command that is typed to its first token; the other side from loading on, its import not counted. The files are in
    memory."""
    prompt = "The quick brown fox"
    for shape, weights in ("gpt2", "q8_0"), ("qwen2", "q8_0"), ("qwen2", "q4_0"):
        file = gguf(shape, weights)

        def ours():
            start = time.perf_counter()
            with subprocess.Popen([ROOT / "build/rapt", "generate", file, "--prompt", prompt, "--max-tokens", "1", "--greedy",
                                   "--quiet", "--threads", str(options.threads)], stdout=subprocess.PIPE) as run:
                token = run.stdout.read(len(prompt) + 1)[len(prompt):]  # behind the prompt, which comes first
                took = 1e3 * (time.perf_counter() - start)
                run.communicate()
            if run.returncode or token.strip() == b"":
                sys.exit(f"{file}: rapt generate wrote no token")
            return took

        def theirs():
            return output(sys.executable, "-c", FIRST_TOKEN, file, options.threads, prompt)

        ours(), theirs()
        yield beside_pytorch(f"{shape}, {weights}: start to first token", "ms", ours, theirs,
                             f"llama.cpp ({version('llama-cpp-python')})")


PARTS = dict(train=part_train, bf16=part_bf16, matmul=part_matmul, prefill=part_prefill, generate=part_generate,
             translate=part_translate, tokenize=part_tokenize, lora=part_lora, start=part_start)

# ---- the table -------------------------------------------------------------------------------------------------------


def processor():
    """The processor's short name, and what the page says of the machine."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    vendor, family, model = (re.search(rf"^{key}\s*: (.*)", info, re.M)[1] for key in ("vendor_id", "cpu family", "model"))
    # A virtual machine may give an older model's number: Rocket Lake's, 167, on processors with AMX.
    amx = ", AMX" if " amx_tile" in info else ""
    name = NAMES.get((vendor, int(family), int(model)), f"family {family}, model {model}{amx}")
    return name, f"{vendor}, family {family}, model {model}; {os.cpu_count()} CPUs, {options.threads} threads"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(row):
    if not row:
        return ""
    if "other" not in row:
        return number(row["rapt"])
    return (f"{number(row['rapt'])} / {number(row['other'])}: **{row['times']:.2f}** ({row['least']:.2f} to {row['most']:.2f})")


TITLES = dict(train="Training in fp32", bf16="Training in bf16", matmul="Matrix products", prefill="Prompts",
              generate="Generating", translate="Translating", tokenize="Tokenizers", lora="Low-rank adapters (LoRA)",
              start="From the start to the first token")


def page(results):
    """The Markdown page of all that is known."""
    columns = list(results)
    text = ["# Side by side", "",
            "rapt beside other programs on the same machine in turns, rapt / other: **how many times better** (least to greatest of",
            "the rounds); medians of each side. `bench/side_by_side.sh` makes this page, with a column for each processor that it",
            "ran on. Models of a shape have random weights.", ""]
    for name in columns:
        dates = sorted({row["date"] for row in results[name]["figures"].values()})
        text.append(f"* **{name}**: {results[name]['machine']}; {' to '.join(dict.fromkeys((dates[0], dates[-1])))}")
    for part in PARTS:
        names = list(dict.fromkeys(key for column in columns for key, row in results[column]["figures"].items()
                                   if row["part"] == part))
        if not names:
            continue
        text += ["", f"## {TITLES[part]}", "", f"| figure | unit | beside | {' | '.join(columns)} |",
                 "| --- | --- | --- |" + " --- |" * len(columns)]
        for key in names:
            rows = [results[column]["figures"].get(key) for column in columns]
            last = [row for row in rows if row][-1]
            text.append(f"| {last['name']} | {last['unit']} | {last.get('beside', '')} | {' | '.join(map(cell, rows))} |")
    return "\n".join(text) + "\n"


def write(results):
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    RESULTS.with_suffix(".md").write_text(page(results))


def main():
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    if options.only_check:
        return
    WORK.mkdir(parents=True, exist_ok=True)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    name, machine = processor()
    today, measured = datetime.date.today().isoformat(), {}
    for part in () if options.page else options.parts or PARTS:
        for row in PARTS[part]():
            measured[f"{part}: {row['name']}"] = {"part": part, "date": today, **row}
            print(f"{row['name']:64} {row['unit']:9} {cell(row).replace('**', '')}", flush=True)
    if options.keep:
        return
    if measured:
        column = results.setdefault(name, {"figures": {}})
        column["machine"] = machine
        done = {row["part"] for row in measured.values()}
        column["figures"] = {key: row for key, row in column["figures"].items() if row["part"] not in done} | measured
    write(results)


main()

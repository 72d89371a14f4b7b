#!/usr/bin/env python3
"""The Python package beside the program and beside other packages, in turns: medians, with the smallest and the largest figure.

    PYTHONPATH=build/python PYTHON bench/python.py [PART...] [--json] [--rounds 7] [--threads 2] [--wheel FILE]
                            [--model DIR --text FILE [--lines 3000]] [--gguf FILE] [--tokenizers DIR]

PYTHON is any Python from 3.11 on; what it lacks of numpy, ctranslate2, tokenizers, tiktoken, llama_cpp, transformers and torch
is left out, by name. Needs a build in build/ (--build: another folder).

    wheel       bytes of --wheel, and of what it installs
    import      milliseconds that `import NAME` takes in a new process, beside the other packages' (--processes)
    call        microseconds of one sentence of --text and of an empty line, beside the same calls in C (translate_lines.c)
    translate   lines a second of Model.translate: loading, translating and writing, beside a process of `rapt translate`;
                and the call alone, beside ctranslate2.Translator on the converted model, which gets tokens and returns tokens
    generate    tokens a second of LanguageModel.generate on --gguf, greedily, beside llama_cpp on the same file
    tokenizer   MB/s of Tokenizer.encode_batch over the lines of --text, GPT-2's vocabulary, beside tokenizers and tiktoken;
                --tokenizers has r50k_base.tiktoken, encoder.json and vocab.bpe
    threads     two threads that translate with two models of one thread each: times the lines a second of one
    loads       resident memory after --loads/10 loads of --model, and after all of them

--model is a translation model; TEXT has a sentence a line, or a pair, of which the part before the tab counts. Without parts: all
whose files are given.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

from turns import has, in_turns, ratios, seconds

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ("rapt", "numpy", "ctranslate2", "tokenizers", "tiktoken", "sacrebleu", "llama_cpp", "transformers", "torch")

# ---- what parts share ------------------------------------------------------------------------------------------------


class Report:
    """Prints a line for each figure, or at the end all of them as JSON."""

    def __init__(self, as_json):
        self.as_json, self.rows = as_json, []

    def note(self, text):
        print(text, file=sys.stderr, flush=True)

    def figure(self, part, name, unit, values, digits=2):
        """Returns the median."""
        median = statistics.median(values)
        self.rows.append({"part": part, "name": name, "unit": unit, "median": median, "least": min(values), "most": max(values),
                          "count": len(values)})
        if not self.as_json:
            of = f"   ({min(values):.{digits}f} to {max(values):.{digits}f}, {len(values)} times)" if len(values) > 1 else ""
            print(f"{part:10} {name:44} {median:12.{digits}f} {unit}{of}", flush=True)
        return median

    def ratio(self, part, name, ours, theirs, more_is_better=True):
        """The median of the ratios of the rounds, above 1 if rapt is the better one."""
        self.figure(part, name, "times", ratios(ours, theirs, more_is_better))

    def both(self, part, unit, figures, ours, digits=1):
        """All sides of in_turns, and the ratio of `ours` to each of the others."""
        for name, values in figures.items():
            self.figure(part, name, unit, values, digits)
        for name in figures:
            if name != ours:
                self.ratio(part, f"{ours} / {name}", figures[ours], figures[name])


def sentences(options):
    lines = pathlib.Path(options.text).read_text(encoding="utf-8").split("\n")
    lines = [line.split("\t")[0].strip() for line in lines]
    return [line for line in lines if line][:options.lines]

# ---- parts -----------------------------------------------------------------------------------------------------------


def measure_wheel(options, report, work):
    with zipfile.ZipFile(options.wheel) as wheel:
        installed = sum(member.file_size for member in wheel.infolist())
    report.figure("wheel", os.path.basename(options.wheel), "MB", [os.path.getsize(options.wheel) / 1e6])
    report.figure("wheel", "installed", "MB", [installed / 1e6])


def measure_import(options, report, work):
    def of(package):
        code = f"import time; start = time.perf_counter(); import {package}; print(time.perf_counter() - start)"
        return lambda: 1e3 * float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)

    there = [package for package in PACKAGES if has(package)]
    if missing := [package for package in PACKAGES if package not in there]:
        report.note(f"import: without {', '.join(missing)}, which {sys.executable} lacks")
    for measure in map(of, there): # reads the files
        measure()
    for package, values in in_turns(options.processes, **{package: of(package) for package in there}).items():
        report.figure("import", package, "ms", values)


class Lines:
    """translate_lines.c: calls of the package's own library for each line of a file."""

    def __init__(self, options, work, lines):
        import rapt
        package = pathlib.Path(rapt._rapt.__file__).parent
        program, text = work / "translate_lines", work / "lines"
        if not program.exists():
            subprocess.run(["cc", "-O2", "-std=gnu11", f"-I{ROOT}/include", "-o", program, ROOT / "bench/translate_lines.c",
                            package / "librapt.so", f"-Wl,-rpath,{package}"], check=True)
        text.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        command = [program, options.model, text, "1", "1", "1", "fp32"]
        self.count = len(lines)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def microseconds(self):
        """Of a line."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return 1e6 * json.loads(self.process.stdout.readline())["seconds"] / self.count

    def close(self):
        self.process.communicate()


def measure_call(options, report, work):
    import rapt
    with rapt.Model.load(options.model, threads=1, weights="fp32") as model:
        for name, line in (("a sentence", sentences(options)[0]), ("an empty line", "")):
            def python(count=options.calls):
                start = time.perf_counter()
                for _ in range(count):
                    model.translate(line, beam=1, tokens=True)
                return 1e6 * (time.perf_counter() - start) / count

            in_c = Lines(options, work, [line] * options.calls)
            in_c.microseconds(), python()
            figures = in_turns(options.rounds, **{"C": in_c.microseconds, "Python": python})
            in_c.close()
            for side, values in figures.items():
                report.figure("call", f"{name}, {side}", "us", values)
            report.figure("call", f"{name}, Python less C", "us", [a - b for a, b in zip(figures["Python"], figures["C"])])


WHOLE = """
import time
start = time.perf_counter()
import sys, rapt
model = rapt.Model.load(sys.argv[1], threads=int(sys.argv[4]))
lines = open(sys.argv[2], encoding="utf-8", newline="\\n").read().split("\\n")[:-1]
with open(sys.argv[3], "w", encoding="utf-8") as out:
    out.writelines(f"{translation.text}\\n" for translation in model.translate(lines))
print(time.perf_counter() - start)
"""


def measure_translate(options, report, work):
    lines = sentences(options)
    source, ours, theirs = work / "source", work / "python", work / "program"
    source.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def python():
        """From `import rapt` on: how long an interpreter takes to start is its own affair."""
        command = [sys.executable, "-c", WHOLE, options.model, source, ours, str(options.threads)]
        return len(lines) / float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    def program():
        with open(source) as given, open(theirs, "w") as out:
            command = [options.build / "rapt", "translate", options.model, "--threads", str(options.threads)]
            return len(lines) / seconds(lambda: subprocess.run(command, stdin=given, stdout=out, stderr=subprocess.DEVNULL,
                                                               check=True))

    python(), program()
    if ours.read_bytes() != theirs.read_bytes():
        raise SystemExit("translate: the program and the package differ")
    report.both("translate", "lines/s", in_turns(options.rounds, python=python, program=program), "python")
    if has("ctranslate2"):
        translate_beside_ctranslate2(options, report, work, lines)
    else:
        report.note(f"translate: without ctranslate2, which {sys.executable} lacks")


def translate_beside_ctranslate2(options, report, work, lines):
    import ctranslate2
    import rapt
    folder = work / "ctranslate2"
    model = rapt.Model.load(options.model, threads=options.threads)
    try:
        model.export(folder, "ctranslate2")
    except rapt.InvalidValueError as refusal:
        report.note(f"translate: without ctranslate2: {refusal}")
        return
    names = next(path for path in (folder / "shared_vocabulary.json", folder / "source_vocabulary.json") if path.exists())
    words = json.loads(names.read_text(encoding="utf-8"))
    tokens = [[words[number] for number in ids] for ids in model.source_tokenizer.encode_batch(lines)]
    peer = ctranslate2.Translator(str(folder), device="cpu", compute_type="float32", inter_threads=1,
                                  intra_threads=options.threads)
    limit = 2 * max(map(len, tokens)) + 10

    def theirs():
        return peer.translate_batch(tokens, max_batch_size=32, beam_size=1, max_decoding_length=limit)

    written = [result.hypotheses[0] for result in theirs()]
    target = json.loads((folder / "target_vocabulary.json").read_text(encoding="utf-8")) if "source" in names.name else words
    found = model.translate(lines, beam=1, tokens=True)
    same = sum([target[number] for number in own.hypotheses[0].tokens] == other for own, other in zip(found, written)
               if own.hypotheses)
    report.note(f"translate: {same} of {len(lines)} translations have the tokens of ctranslate2's")
    report.both("translate", "lines/s", in_turns(options.rounds, **{
        "Model.translate": lambda: len(lines) / seconds(lambda: model.translate(lines, beam=1)),
        "ctranslate2": lambda: len(lines) / seconds(theirs)}), "Model.translate")


def measure_generate(options, report, work):
    import rapt
    model = rapt.Model.load(options.gguf, threads=options.threads)

    def ours():
        start = time.perf_counter()
        done = model.generate(options.prompt, max_tokens=options.tokens, greedy=True)
        return len(done.tokens) / (time.perf_counter() - start)

    sides, texts = {"generate": ours}, [model.generate(options.prompt, max_tokens=options.tokens, greedy=True).text]
    if has("llama_cpp"):
        import llama_cpp
        peer = llama_cpp.Llama(str(options.gguf), n_ctx=0, n_threads=options.threads, n_threads_batch=options.threads,
                               verbose=False)

        def theirs():
            peer.reset() # or it keeps the prompt of the call before
            start = time.perf_counter()
            done = peer(options.prompt, max_tokens=options.tokens, temperature=0, top_k=1, repeat_penalty=1)
            texts.append(done["choices"][0]["text"])
            return done["usage"]["completion_tokens"] / (time.perf_counter() - start)

        sides["llama_cpp"] = theirs
        theirs()
        report.note(f"generate: the texts are {'equal' if texts[0] == texts[-1] else 'different'}")
    else:
        report.note(f"generate: without llama_cpp, which {sys.executable} lacks")
    report.both("generate", "tokens/s", in_turns(options.rounds, **sides), "generate")


def gpt2_of_tokenizers(folder):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "encoder.json"), str(folder / "vocab.bpe")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def gpt2_of_tiktoken(folder):
    import base64
    import tiktoken
    rows = (line.split() for line in (folder / "r50k_base.tiktoken").read_bytes().splitlines() if line)
    pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
    return tiktoken.Encoding("r50k", pat_str=pattern, special_tokens={},
                             mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in rows})


def measure_tokenizer(options, report, work):
    import rapt
    folder, lines = options.tokenizers, sentences(options)
    megabytes = sum(len(line.encode()) for line in lines) / 1e6
    own = rapt.Tokenizer.load(folder / "r50k_base.tiktoken")
    calls = {"encode_batch": lambda: own.encode_batch(lines, threads=options.threads)}
    ids = {"encode_batch": calls["encode_batch"]()}
    if has("tokenizers"):
        os.environ["RAYON_NUM_THREADS"] = str(options.threads)
        os.environ["TOKENIZERS_PARALLELISM"] = "true"
        peer = gpt2_of_tokenizers(folder)
        calls["tokenizers"] = lambda: peer.encode_batch(lines)
        ids["tokenizers"] = [encoding.ids for encoding in calls["tokenizers"]()]
    if has("tiktoken"):
        encoding = gpt2_of_tiktoken(folder)
        calls["tiktoken"] = lambda: encoding.encode_ordinary_batch(lines, num_threads=options.threads)
        ids["tiktoken"] = calls["tiktoken"]()
    for name, found in ids.items():
        if found != ids["encode_batch"]:
            raise SystemExit(f"tokenizer: other ids than {name}")
    ids.clear() # a million objects, which every collection of garbage would look at
    for name in ("tokenizers", "tiktoken"):
        if name not in calls:
            report.note(f"tokenizer: without {name}, which {sys.executable} lacks")
    sides = {name: lambda call=call: megabytes / seconds(call) for name, call in calls.items()}
    report.both("tokenizer", "MB/s", in_turns(options.rounds, **sides), "encode_batch")


def measure_threads(options, report, work):
    import rapt
    lines = sentences(options)
    models = [rapt.Model.load(options.model, threads=1) for _ in range(2)]

    def one():
        return len(lines) / seconds(models[0].translate, lines)

    def two():
        threads = [threading.Thread(target=model.translate, args=(lines,)) for model in models]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return 2 * len(lines) / (time.perf_counter() - start)

    two()
    report.both("threads", "lines/s", in_turns(options.rounds, **{"two threads": two, "one": one}), "two threads")


def resident():
    """Megabytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure_loads(options, report, work):
    import rapt
    line, after = sentences(options)[0], {}
    for i in range(1, options.loads + 1):
        with rapt.Model.load(options.model, threads=1) as model:
            model.translate(line)
        if i in (options.loads // 10, options.loads):
            after[i] = resident()
    for count, megabytes in after.items():
        report.figure("loads", f"resident memory after {count}", "MB", [megabytes])

# ---- main ------------------------------------------------------------------------------------------------------------


PARTS = {"wheel": (measure_wheel, "wheel"), "import": (measure_import,), "call": (measure_call, "model", "text"),
         "translate": (measure_translate, "model", "text"), "generate": (measure_generate, "gguf"),
         "tokenizer": (measure_tokenizer, "tokenizers", "text"), "threads": (measure_threads, "model", "text"),
         "loads": (measure_loads, "model", "text")}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--json", action="store_true", help="one JSON array at the end in place of lines")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processes", type=int, default=15, help="new processes of each import")
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=3000)
    parser.add_argument("--calls", type=int, default=2000, help="calls of a round, at most 10000")
    parser.add_argument("--gguf", type=pathlib.Path)
    parser.add_argument("--prompt", default="Once upon a time there was")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--tokenizers", type=pathlib.Path)
    parser.add_argument("--loads", type=int, default=1000)
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part is called {part}; there are {', '.join(PARTS)}")
        for needed in PARTS[part][1:]:
            if getattr(options, needed) is None:
                parser.error(f"{part} needs --{needed}")
    if not options.parts:
        options.parts = [part for part, (_, *needs) in PARTS.items() if all(getattr(options, name) for name in needs)]
    return options


def main():
    options = read_options()
    if not has("rapt"):
        raise SystemExit("bench/python.py: there is no package rapt; set PYTHONPATH=build/python")
    report = Report(options.json)
    with tempfile.TemporaryDirectory() as name:
        for part in options.parts:
            PARTS[part][0](options, report, pathlib.Path(name))
    if options.json:
        print(json.dumps(report.rows, indent=1))


main()

"""Calls of everything public in rapt, rapt.nn and rapt.optim with good and hostile arguments: each raises or returns.

    PYTHONPATH=build/python python3 -X dev python/tests/fuzz_calls.py --seed 1 --calls 100000 --log fuzz.log
    ... --threads 2: two threads call at once, on the same objects

Any Exception is right, except SystemError (a function that broke the rules of Python's API). Failures are SystemError, another
BaseException, a signal that ends the process, and a call of more than 20 seconds. Calls come in blocks of BLOCK, each with
objects and a seed of its own: with one thread, `--first N --calls 1` repeats block N. The parent goes on behind a failed block.

Under sanitizers (build with -DRAPT_SANITIZE=address,undefined):
    PYTHONMALLOC=malloc LD_PRELOAD=$(gcc -print-file-name=libasan.so) \\
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=512 python3 ... as above
"""
import argparse
import asyncio
import collections
import copy
import faulthandler
import gc
import inspect
import json
import operator
import os
import pathlib
import pickle
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import rapt
import support
from fuzz_values import (GOOD, SCALARS, SMALL, TEXTS, Anything, Hostile, OddInt, OddStr, buffers, cyclic, deep, shrinking)
from rapt import _nn_module, nn, optim

BLOCK = 250 # calls with the same objects
LIMIT = 20 # seconds of a call
KEPT = 60 # results of a block that become arguments
MEMORY = 6 << 30 # bytes of address space, unless a sanitizer has taken all of it
ENCODER = support.SOURCE / "tests" / "golden" / "hub_encoder" / "roberta_sentence"

# ---- the objects of a block ----------------------------------------------------------------------------------------


class World:
    """Objects that calls share, and what comes of them."""

    def __init__(self, seed, block):
        self.rng = random.Random(f"{seed} {block}")
        self.scratch = tempfile.mkdtemp(prefix="block-", dir=support.SCRATCH)
        os.chdir(self.scratch)
        self.depth = threading.local()
        nn.seed(block)
        nn.set_num_threads(1)
        OddInt.world = OddStr.world = self
        self.paths = [shutil.copytree(support.translator(), "mt"), shutil.copytree(support.language_model(), "lm"),
                      shutil.copytree(ENCODER, "enc"), "new", pathlib.Path("other"), ".", "lines.txt"]
        pathlib.Path("lines.txt").write_text("The cat\n\nA dog.\n", encoding="utf-8")
        self.kept = collections.deque(maxlen=KEPT)
        self.objects = self.models() + self.tensors() + self.modules()
        self.hostile = [Hostile(self, False), Hostile(self, True), Anything(self, False), OddInt(3), OddStr("text")]
        self.strange = [*buffers(), *cyclic(), shrinking(0), shrinking(1), deep(3), deep(6), deep(5000), [], (), {}, [[]],
                        [[], [1]], [1, 2, 3], [[1.5, 2, 3], [4, 5, 6]], ["a", "b"], ["a", 1], {"a": 1}, {1: 2.0},
                        {"role": "user"}, object(),
                        iter([1, 2]), slice(None), slice(0, 1 << 62, 1 << 62), slice(5, 0, -1), ..., (0, slice(1)), range(3),
                        print, {1, 2}, int, rapt.Model, rapt, b"x" * 3000, [[1, 2], [3]], [None], ("a", "b"), [("a", "b")],
                        lambda *_, **__: 1 / 0]

    def models(self):
        mt, lm, enc = (rapt.Model.load(path, threads=1, trainable=self.rng.random() < .5) for path in self.paths[:3])
        closed = rapt.Model.load("lm", threads=1)
        closed.close()
        recipe = rapt.Recipe({"task": "translation", "train.steps": 2})
        return [mt, lm, enc, closed, lm.tokenizer, mt.source_tokenizer, lm.generate("To", stream=True, max_tokens=4),
                lm.explain("To be"), mt.explain("The cat", gradients=True), recipe,
                mt.translate("The cat", tokens=True, alignment=True), rapt.BLEU(), rapt.CHRF(), rapt.Run("lm"), lm.parameters,
                rapt.Html("<p>"), rapt.Engine(threads=1)]

    def tensors(self):
        with nn.grad() as tape:
            x = nn.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
            y = (x @ x).tanh()
            loss = y.sum()
        return [x, y, loss, tape, nn.tensor(2.5), nn.tensor([[[.1] * 8] * 3] * 2), nn.tensor([.5] * 8),
                nn.Parameter([[1.0, 2.0]]), nn.Parameter([1.0] * 8, requires_grad=False), nn.tensor([[1.0] * 8] * 2), nn.grad(),
                nn.observe(print_nothing)]

    def modules(self):
        made = [nn.Linear(8, 4), nn.LazyLinear(4), nn.Embedding(12, 8), nn.Embedding(12, 8, sparse=True), nn.LayerNorm(8),
                nn.Dropout(.5), nn.PositionalEncoding(8, .1, 16), nn.MultiHeadAttention(8, 2, .1), nn.AdditiveAttention(8, .1),
                nn.AddNorm(8, .1),
                nn.DotProductAttention(.1), nn.PositionWiseFFN(8, 8), nn.TransformerEncoder(12, 8, 8, 2, 1, .1),
                nn.TransformerDecoder(12, 8, 8, 2, 1, .1), nn.Sequential(nn.ReLU(), nn.Linear(8, 8))]
        return made + [optim.Adam(made[0].parameters()), optim.SGD(made[2].parameters(), .1, momentum=.9),
                       optim.AdamW([*made[12].parameters(), *made[3].parameters()]), optim.Muon([made[0].weight])]

    def pick(self):
        """Any value: an object of rapt, or a hostile one."""
        rng = self.rng
        kind = rng.random()
        if kind < .3:
            return rng.choice(SCALARS)
        if kind < .42:
            return rng.choice(TEXTS)
        if kind < .47:
            return rng.choice(self.paths)
        if kind < .62:
            return rng.choice(self.strange)
        if kind < .7:
            return rng.choice(self.hostile)
        return self.object()

    def object(self):
        kept = list(self.kept)
        return self.rng.choice(kept if kept and self.rng.random() < .4 else self.objects)

    def instance(self, cls):
        """An object of a class, if there is one."""
        found = [x for x in [*self.objects, *self.kept] if isinstance(x, cls)]
        return self.rng.choice(found) if found and self.rng.random() < .93 else self.pick()

    def disturb(self):
        """What a callback does: it calls something else, or closes what is in use."""
        if getattr(self.depth, "value", 0) > 1:
            return
        self.depth.value = getattr(self.depth, "value", 0) + 1
        try:
            if self.rng.random() < .3:
                getattr(self.object(), "close", print_nothing)()
            else:
                call(self, *self.rng.choice(TARGETS))
        except Exception: # what a callback raises is another case
            pass
        finally:
            self.depth.value -= 1

    def end(self):
        leave_passes()
        for engine in [x for x in [*self.objects, *self.kept] if isinstance(x, rapt.Engine)]:
            engine.close()
        self.__dict__.clear()
        os.chdir("/")
        gc.collect()


def print_nothing(*_, **__):
    """A callback that has nothing to say."""


def leave_passes():
    """Ends the passes that calls of __enter__ have begun in this thread."""
    while _nn_module.running.tape is not None:
        tape = _nn_module.running.tape
        try:
            tape.__exit__(None, None, None)
        except Exception: # another thread has ended it in part
            _nn_module.running.tape = tape._outer

# ---- what is called ------------------------------------------------------------------------------------------------


def sub_training(world):
    """A run of some steps, with a recipe that may be wrong in one key."""
    text = "To be, or not to be, that is the question.\n" * 40
    recipe = {**support.SMALL, "task": "language_model", "tokenizer.type": "characters", "model.context": 16, "train.steps": 3}
    data = {"text": text}
    if world.rng.random() < .4:
        recipe = {**support.SMALL, "task": "translation", "train.steps": 3}
        data = {"pairs": [("a b", "c d"), ("b", "d"), ("a", "c")] * 8}
    if world.rng.random() < .5:
        apart = ("train.steps", "data.", "model.preset", "train.max")
        key = world.rng.choice([k for k in rapt.Recipe() if not k.startswith(apart)])
        recipe[key] = world.rng.choice(SCALARS[:13] + TEXTS[:3])
    if world.rng.random() < .4:
        name = world.rng.choice(("text", "pairs", "validation", "init", "resume", "threads", "out", "recipe", "untrained"))
        data[name] = world.pick()
    recipe = data.pop("recipe", recipe)
    for name in ("on_step", "on_report", "on_warning"):
        if world.rng.random() < .5:
            data[name] = world.rng.choice([*world.hostile, print_nothing])
    if isinstance(data.get("threads"), int) and data["threads"] > 2:
        data["threads"] = 2
    return rapt.train(recipe, max_steps=world.rng.choice((1, 2, 3)), **data)


def sub_backward(world):
    """A pass through a module, its gradients, a step of an optimizer."""
    net, trainer = world.instance(nn.Module), world.instance(optim.Optimizer)
    observe = world.rng.random() < .2
    with nn.observe(world.rng.choice(world.hostile) if world.rng.random() < .3 else print_nothing):
        with nn.grad(keep_gradients=world.rng.random() < .3, observe=observe):
            x = world.rng.choice(([[1, 2, 3]], [[[.5] * 8] * 3] * 2, nn.tensor([[[.5] * 8]], requires_grad=True), world.pick()))
            result = net(x) if world.rng.random() < .7 else net(x, x, x)
            result = result if isinstance(result, nn.Tensor) else result[0]
            loss = (result * world.rng.choice((1, .5))).mean()
            loss.backward()
    trainer.clip(1)
    trainer.step()
    if world.rng.random() < .5:
        trainer.zero_grad()
    return loss


def sub_array(world):
    """Slices and copies of arrays, their buffers and capsules."""
    a = world.instance((rapt.Array, memoryview))
    kind = world.rng.randrange(6)
    if kind == 0:
        view = memoryview(a)
        return view.cast("B") if world.rng.random() < .5 else view.tolist()
    if kind == 1:
        return a.__dlpack__(max_version=world.rng.choice(((1, 0), (0, 1), (-1, 0), None, world.pick())), copy=world.pick())
    if kind == 2:
        memoryview(a)[(0,) * len(a.shape)] = 1.0
    if kind == 3:
        return pickle.loads(pickle.dumps(a))
    if kind == 4:
        return copy.deepcopy(a)
    return bytes(a)


def binary(fn):
    def sub(world):
        left = world.instance(rapt.Array)
        right = world.pick() if world.rng.random() < .5 else world.instance(rapt.Array)
        return fn(left, right) if world.rng.random() < .6 else fn(right, left)
    sub.__name__ = "operator." + fn.__name__
    return sub


def unary(fn):
    def sub(world):
        return fn(world.object())
    sub.__name__ = fn.__name__
    return sub


def set_attribute(world):
    x = world.object()
    names = [name for name in dir(x) if not name.startswith("_")]
    if world.rng.random() < .8:
        setattr(x, world.rng.choice(names), world.pick())
    else:
        delattr(x, world.rng.choice(names))


def call_it(world):
    return world.object()(*(world.pick() for _ in range(world.rng.randrange(4))))


def composites():
    made = [sub_backward] * 50 + [sub_array] * 30 + [sub_training] * 8 + [set_attribute, call_it] * 10
    made += [binary(fn) for fn in (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.getitem,
                                   operator.contains, operator.eq, operator.lt)] * 6
    made += [unary(fn) for fn in (next, repr, str, hash, len, list, float, int, bool, operator.neg, operator.index, reversed,
                                  iter, dir, copy.copy, pickle.dumps)] * 3
    return [(fn.__name__, "composite", fn, None) for fn in made]


OFTEN = (rapt.Model, rapt.Array, rapt.Tokenizer, rapt.Stream, rapt.Explanation, optim.SGD.__base__)


def targets():
    """(name, kind, function or descriptor, class or None) of everything that is public."""
    found = composites()
    for module in (rapt, nn, optim):
        for name in module.__all__:
            thing, path = getattr(module, name), f"{module.__name__}.{name}"
            if inspect.isclass(thing):
                found.append((path, "function", thing, None))
                if not issubclass(thing, BaseException):
                    found.extend([*members(path, thing)] * (4 if issubclass(thing, OFTEN) else 1))
            elif callable(thing) and name not in ("train", "info"): # sub_training; info starts a program
                found.append((path, "function", thing, None))
    return found


def members(path, cls):
    for name in dir(cls):
        thing = inspect.getattr_static(cls, name)
        if name.startswith("_") and name not in ("__enter__", "__exit__", "__init__", "_repr_html_"):
            continue
        if name == "info" or not next(c for c in cls.__mro__ if name in vars(c)).__module__.startswith("rapt"):
            continue # `info` starts a program; Html has all methods of str
        if inspect.ismemberdescriptor(thing):
            continue # of a result
        if callable(getattr(cls, name)):
            kind = "bound" if isinstance(thing, (staticmethod, classmethod)) else "method"
            yield f"{path}.{name}", kind, getattr(cls, name), cls
        else:
            yield f"{path}.{name}", "value", name, cls


def arguments(world, function, skip):
    """Arguments by the names of the parameters, some of them wrong, left out or too many."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError): # of the extension
        return [value_for(world, "") for _ in range(world.rng.choice((0, 0, 1, 1, 1, 2, 2, 3)))], {}
    given, named = [], {}
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            if world.rng.random() < .2 and p.kind == p.VAR_POSITIONAL:
                given += [world.pick() for _ in range(world.rng.randrange(4))]
        elif p.kind == p.KEYWORD_ONLY:
            if world.rng.random() < .25 or p.name == "max_tokens":
                named[p.name] = value_for(world, p.name)
        elif p.default is p.empty or world.rng.random() < .4 and len(named) == 0:
            given.append(value_for(world, p.name))
    if world.rng.random() < .03:
        given.append(world.pick())
    if "max_tokens" in dict.fromkeys(p.name for p in parameters):
        named.setdefault("max_tokens", 3)
    return given, named


def value_for(world, name):
    if name in SMALL:
        return world.rng.choice(SMALL[name])
    if name == "threads" and world.rng.random() < .9:
        return world.rng.choice((1, 2, 0, -1, 257, None))
    if name in ("X", "Y", "queries", "keys", "values", "logits", "matrices", "embeddings", "data") and world.rng.random() < .6:
        return world.rng.choice(([[[.5] * 8] * 3] * 2, [[1, 2, 3], [3, 2, 1]], world.instance(nn.Tensor),
                                 world.rng.choice(world.strange)))
    if name in ("params", "parameters") and world.rng.random() < .7:
        return list(world.instance(nn.Module).parameters())
    if name in ("folder", "path", "out", "run", "source", "target", "adapter") and world.rng.random() < .7:
        return world.rng.choice(world.paths)
    if name in GOOD and world.rng.random() < .6:
        return world.rng.choice(GOOD[name])
    return world.pick()


def call(world, name, kind, thing, cls):
    if kind == "composite":
        return thing(world)
    if kind == "value":
        return getattr(world.instance(cls), thing)
    receiver = [world.instance(cls)] if kind == "method" else []
    given, named = arguments(world, thing, len(receiver))
    return thing(*receiver, *given, **named)


TARGETS = targets()

# ---- running -------------------------------------------------------------------------------------------------------


class Watch:
    """The calls in progress: one that takes too long ends the process with the stacks of all threads."""

    def __init__(self, threads, place):
        self.since, self.names, self.place = [None] * threads, [""] * threads, place
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            faulthandler.dump_traceback_later(LIMIT + 5, exit=True) # of a call that never gives the lock back
            time.sleep(1)
            late = [i for i, since in enumerate(self.since) if since and time.monotonic() - since > LIMIT]
            if late:
                print(f"hang: {', '.join(self.names[i] for i in late)}", file=sys.stderr, flush=True)
                faulthandler.dump_traceback(all_threads=True)
                os._exit(3)

    def begin(self, thread, name):
        self.names[thread] = name
        self.since[thread] = time.monotonic()
        self.place.seek(0)
        self.place.write(" | ".join(self.names).ljust(200)[:200] + "\n")
        self.place.flush()

    def end(self, thread):
        self.since[thread] = None


def one(world, watch, thread, counts, failures):
    target = world.rng.choice(TARGETS)
    watch.begin(thread, target[0])
    try:
        result = call(world, *target)
        if inspect.iscoroutine(result):
            result = asyncio.run(asyncio.wait_for(result, LIMIT / 4))
        outcome = "returned"
        if type(result).__module__.startswith("rapt") or isinstance(result, (memoryview, type(iter([])))):
            world.kept.append(result)
    except Exception as error:
        outcome = type(error).__name__
        if isinstance(error, SystemError):
            failures.append(f"{target[0]}: {traceback.format_exc()}")
    except BaseException as error:
        outcome = type(error).__name__
        failures.append(f"{target[0]}: {traceback.format_exc()}")
    finally:
        watch.end(thread)
    counts[outcome] += 1
    if world.rng.random() < .1:
        leave_passes()


def run_block(seed, block, calls, threads, watch, counts, failures):
    world = World(seed, block)

    def work(thread):
        for _ in range(calls // threads):
            one(world, watch, thread, counts, failures)
        leave_passes()

    others = [threading.Thread(target=work, args=(i,)) for i in range(1, threads)]
    for other in others:
        other.start()
    work(0)
    for other in others:
        other.join()
    scratch = world.scratch
    world.end()
    shutil.rmtree(scratch, ignore_errors=True)


def note_unraisable(what):
    if what.exc_type is SystemError:
        print("unraisable:", what.exc_value, what.object, file=sys.stderr, flush=True)


def child(options):
    """Runs blocks; after each, writes what there was as a line of JSON."""
    faulthandler.enable()
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setswitchinterval(1e-4 if options.threads > 1 else 5e-3)
    sys.unraisablehook = note_unraisable
    report = os.fdopen(os.dup(1), "w", encoding="ascii") # apart from what calls write: print() is a callback, too
    os.dup2(2, 1)
    support.translator(), support.language_model()
    with open(options.place, "w", encoding="ascii", errors="replace") as place:
        watch = Watch(options.threads, place)
        for block in range(options.first, options.last):
            counts, failures = collections.Counter(), []
            run_block(options.seed, block, BLOCK, options.threads, watch, counts, failures)
            print(json.dumps({"block": block, "counts": counts, "failures": failures}), file=report, flush=True)


def watch_child(options, block, last, place, errors, total):
    """Runs blocks in a process of their own; returns the block after the last that is done, and the exit status."""
    command = [sys.executable, *(["-X", "dev"] if sys.flags.dev_mode else []), __file__, "--seed", options.seed, "--first", block,
               "--last", last, "--threads", options.threads, "--place", place]
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            for line in process.stdout:
                row = json.loads(line)
                block = row["block"] + 1
                total["counts"].update(row["counts"])
                total["failures"] += [f"block {row['block']}: {failure}" for failure in row["failures"]]
        except KeyboardInterrupt: # the summary so far
            process.kill()
            return last, 0
    return block, process.returncode


def parent(options):
    total, block, start = {"counts": collections.Counter(), "failures": []}, options.first, time.monotonic()
    last = options.first + -(-options.calls // BLOCK)
    with tempfile.NamedTemporaryFile() as place:
        while block < last:
            with tempfile.TemporaryFile() as errors:
                block, status = watch_child(options, block, last, place.name, errors, total)
                errors.seek(0)
                said = errors.read().decode("utf-8", "replace")
            if status or "unraisable" in said:
                where = pathlib.Path(place.name).read_text(encoding="utf-8").strip()
                total["failures"].append(f"block {block}: exit {status} in {where}\n{said[-12000:]}")
                block += 1 if status else 0
    counts, failures = total["counts"], total["failures"]
    summary = (f"seed {options.seed}, {options.threads} thread(s): {sum(counts.values())} calls, {len(failures)} failures, "
               f"{time.monotonic() - start:.0f} s\n" + "\n".join(f"  {n:7} {name}" for name, n in counts.most_common()))
    pathlib.Path(options.log).write_text("\n".join([*failures, summary, ""]), encoding="utf-8")
    print(summary)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--log", default="fuzz_calls.log")
    parser.add_argument("--last", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--place", help=argparse.SUPPRESS)
    options = parser.parse_args()
    return child(options) if options.place else parent(options)


if __name__ == "__main__":
    sys.exit(main())

"""Training: rapt.train, and the Run that it leaves."""
import os

from . import _rapt
from ._arguments import integer_of, is_bool, is_integer
from ._model import Model
from ._recipe import Mapping, Recipe
from ._results import Result


class Step(Result):
    """The progress of a run after a step.

    step, steps      done, and planned in all
    epoch, epochs    the current one, from 1, and planned in all
    epochs_done      2.5 in the middle of the third
    loss             nats per target token, mean since the last report; None: no token since
    step_loss        of this step alone; None: no step was made, or it had no target token
    loss_book        the book's figure, with train.reduction book; else None
    val_loss         on the validation set, at the last report; None: none yet, or there is no validation set
    val_bleu         BLEU of the validation set's greedy translations, with train.eval_bleu; else None
    val_chrf         chrF of the same translations; else None
    val_bleu_book    the mean of the book's BLEU, with train.reduction book too; else None
    best_val_loss    of the model in best/: the lowest so far, unless train.best_by is a score; None: none yet
    best_score       with train.best_by bleu or chrf: that score of the model in best/, the highest so far; else None
    best_step        its step; None likewise
    lr, grad_norm    the learning rate, and the norm of the gradients before clipping
    tokens_per_s     target tokens a second
    seconds          since the run began, earlier calls included
    seconds_left     estimated; None: not known yet
    report           whether a line was written to train.jsonl
    sample           text of a language model with train.sample_every, where one is due; else None
    """
    __slots__ = ("step", "steps", "epoch", "epochs", "epochs_done", "loss", "step_loss", "loss_book", "val_loss", "val_bleu",
                 "val_chrf", "val_bleu_book", "best_val_loss", "best_score", "best_step", "lr", "grad_norm",
                 "tokens_per_s", "seconds", "seconds_left", "report", "sample")


class Run:
    """A training run's folder, and how it went.

    folder     the model folder: config.json, model.safetensors, train.jsonl, checkpoints/, best/
    steps      the Steps with a report that this call has made
    stopped    whether a callback has ended it before its last step
    best_step  the step of the model in best/; None: there is none
    """
    __slots__ = ("folder", "steps", "stopped", "best_step", "__weakref__")

    def __init__(self, folder):
        self.folder, self.steps, self.stopped, self.best_step = folder, [], False, None

    def model(self, which="last", **options):
        """Loads the model: "last"; "best", by train.best_by; "untrained", with train.keep_untrained; or an int, the step of a
        checkpoint. options: of Model.load."""
        if is_integer(which):
            step = integer_of(which, "the step of a checkpoint", 1, (1 << 63) - 1)
            return Model._of(_rapt.load_checkpoint(self.folder, step, options), self.folder)
        if which not in ("last", "best", "untrained"):
            raise _rapt.InvalidValueError(f'{which!r} is none of "last", "best", "untrained" and the step of a checkpoint')
        return Model.load(self.folder if which == "last" else os.path.join(self.folder, which), **options)

    def log(self):
        """The lines of train.jsonl, each a dict; none if no step was trained."""
        import json
        try:
            with open(os.path.join(self.folder, "train.jsonl"), encoding="utf-8") as file:
                return [json.loads(line) for line in file]
        except FileNotFoundError:
            if os.path.isdir(self.folder): # no step was trained yet
                return []
            raise

    def frame(self):
        """The log as a pandas.DataFrame (which takes the package pandas)."""
        import pandas
        return pandas.DataFrame(self.log())

    def __repr__(self):
        return f"<rapt.Run {self.folder!r}>"

    def _repr_html_(self):
        from ._figures import curves
        return curves(_curves(self.log()), self.folder)


def _curves(rows):
    """Of dicts with step, loss and val_loss."""
    return [(name, [(row["step"], row.get(name)) for row in rows]) for name in ("loss", "val_loss")]


class _Display:
    """Live curves in a notebook: a cell of IPython.display that each report replaces."""

    def __init__(self, show):
        import sys
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        self.wanted = shell is not None and (show or (show is None and getattr(shell, "kernel", None) is not None))
        self.handle = None

    def update(self, steps, title):
        if not self.wanted:
            return
        from IPython.display import HTML, display
        from ._figures import curves
        page = HTML(curves(_curves([{"step": s.step, "loss": s.loss, "val_loss": s.val_loss} for s in steps]), title))
        if self.handle:
            self.handle.update(page)
        else:
            self.handle = display(page, display_id=True)


def _pairs(pairs, name):
    """(sources, targets) of an iterable of pairs, or None."""
    if pairs is None:
        return None
    if isinstance(pairs, (str, bytes, Mapping)):
        raise TypeError(f"{name} must be an iterable of (source, target), not {type(pairs).__name__}")
    sources, targets = [], []
    for i, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)):
            raise TypeError(f"{name}[{i}] must be (source, target), not {type(pair).__name__}")
        if len(pair) != 2:
            raise _rapt.InvalidValueError(f"{name}[{i}] has {len(pair)} members; it must be (source, target)")
        sources.append(pair[0])
        targets.append(pair[1])
    return tuple(sources), tuple(targets)


def _check_ids(ids, name, instead):
    """Refuses texts where ids are wanted."""
    if isinstance(ids, str) or isinstance(ids, (list, tuple)) and ids and isinstance(ids[0], str):
        raise TypeError(f"{name} must be {instead}, not {'a list of str' if not isinstance(ids, str) else 'str'}")


def _scratch(of):
    """A folder that lives as long as an object."""
    import shutil
    import tempfile
    import weakref
    folder = tempfile.mkdtemp(prefix="rapt-")
    weakref.finalize(of, shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write_text(run, text):
    path = os.path.join(_scratch(run), "text.txt")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def _recipe_of(recipe, pairs, text, validation, run):
    """A Recipe of the run's own, with names for what comes from memory in place of files."""
    if isinstance(recipe, Recipe):
        keys = {key: recipe[key] for key in recipe._handle.given()}
        file = recipe.file
    elif isinstance(recipe, Mapping):
        keys, file = recipe, None
    elif recipe is None:
        raise TypeError("recipe must be a Recipe, a path or a mapping, not NoneType")
    else:
        keys, file = {}, recipe
    own = Recipe(keys, file=file)
    if pairs is not None and own["data.pairs"] is None:
        own._set("data.pairs", "pairs in memory")
    if pairs is not None and validation is not None and own["data.validation"] is None:
        own._set("data.validation", "validation in memory")
    if isinstance(text, str):
        own._set("data.text", _write_text(run, text))
    elif text is not None and own["data.text"] is None:
        own._set("data.text", "tokens in memory")
    own.check()
    return own


def _ends(answer):
    """Whether a callback has returned False, or NumPy's."""
    return is_bool(answer) and not answer


class _Loop:
    """The loop of a run: steps, and the callbacks after each."""

    def __init__(self, trainer, run, on_step, on_report, display):
        self.trainer, self.run, self.on_step, self.on_report, self.display = trainer, run, on_step, on_report, display

    def ask_about_report(self, step):
        model = Model._of(self.trainer.model(), self.run.folder)
        try:
            return self.on_report(step, model)
        finally:
            model._handle.expire()

    def take(self, progress, sample, ask):
        """Keeps what a call has reported; true: a callback ends the run."""
        for i, values in enumerate(progress):
            step = Step(*values, sample if i == len(progress) - 1 else None)
            self.run.best_step = step.best_step
            if step.report:
                self.run.steps.append(step)
                self.display.update(self.run.steps, self.run.folder)
            if ask and self.on_step and _ends(self.on_step(step)):
                return True
            if ask and step.report and self.on_report and _ends(self.ask_about_report(step)):
                return True
        return False

    def go(self):
        try:
            while True:
                if self.take(*self.trainer.step(), ask=True):
                    self.run.stopped = not self.trainer.is_over()
                    break
                if self.trainer.is_over():
                    break
        except BaseException as failure:
            self.save_after(failure)
            raise
        self.take(*self.trainer.finish(), ask=False)

    def save_after(self, failure):
        """The checkpoint of a run that an exception ends."""
        try:
            self.trainer.finish()
        except _rapt.Error as second:
            if str(second) != str(failure): # a failed run fails again
                failure.add_note(f"and the checkpoint could not be written: {second}")


def train(recipe, out=None, *, pairs=None, text=None, validation=None, resume=False, init=None, max_steps=None, threads=None,
          untrained=False, reset_optimizer=False, on_step=None, on_report=None, on_warning=None, show=None):
    """Trains a model as a recipe says, and returns its Run. The files are those of `rapt train` with the same recipe, byte for
    byte.

    recipe      a Recipe, a YAML file, or a mapping of keys ({"task": "translation", "train.steps": 400})
    out         the model folder to write; default: a temporary folder that lives as long as the Run
    pairs       translation: an iterable of (source, target) in place of the file data.pairs
    text        language models: a str in place of the file data.text, or ids, of the tokenizer file that the recipe names
    validation  pairs or ids in place of a part of the others
    resume      resume from the newest checkpoint in `out`; pairs, text and validation must be the same again
    init        a Model, or a folder, to start from
    max_steps   end after this step; the run can be resumed
    threads     1 to 256; the result does not depend on them
    untrained   end before the first step, with the initial parameters
    reset_optimizer  with resume: the optimizer begins anew, with moments of 0
    on_step     called with each Step; False ends the run
    on_report   called with each Step that has a report, and the Model as it is; False ends the run. The model is closed
                afterwards; its parameters, and arrays of them, change with the next step: keep copies
    on_warning  called with a text if the run may not be what was intended; default: warnings.warn
    show        curves that grow with the run, in a notebook; default: if this is one

    A run that a callback, Ctrl-C or an exception of a callback ends leaves model and checkpoint of its last step, and can be
    resumed with the result of one that was not; the exception goes on to the caller.
    InvalidValueError: a recipe that cannot be run, or a folder that holds files of another run; IOFailure: another process
    trains into the folder; NotFiniteError: the training has diverged.
    """
    if resume and out is None:
        raise _rapt.InvalidValueError("resume needs out, the folder of the run")
    run = Run(None)
    run.folder = _scratch(run) if out is None else os.fspath(out)
    of_pairs = _pairs(pairs, "pairs")
    ids = None if isinstance(text, str) else text
    _check_ids(ids, "text", "a str, or a list of token ids")
    own = _recipe_of(recipe, pairs, text, validation, run)
    if own["task"] != "translation":
        _check_ids(validation, "validation", "a list of token ids")
    if own["task"] == "translation":
        data = (of_pairs, _pairs(validation, "validation"), ids, None)
    else:
        data = (of_pairs, None, ids, validation)
    options = {"resume": resume, "untrained": untrained, "reset_optimizer": reset_optimizer, "max_steps": max_steps,
               "threads": threads}
    trainer = _rapt.trainer(own._handle, run.folder, init.folder if isinstance(init, Model) else init, data, options,
                            _warn if on_warning is None else on_warning)
    _Loop(trainer, run, on_step, on_report, _Display(show)).go()
    return run


def _warn(text):
    import warnings
    warnings.warn(text, RuntimeWarning, stacklevel=3)

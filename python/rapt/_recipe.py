"""Recipes: what a training run does, by the keys of its YAML file."""
from _collections_abc import Mapping # collections.abc, which costs two milliseconds more to import
import os

from . import _rapt
from ._arguments import integer, is_bool, is_integer


_LISTS = {"data.pairs": "\n", "data.validation": "\n", "data.text": ":"} # what is between the paths of a list


def _joined(key, values):
    """The paths of a list as one text."""
    between = _LISTS[key]
    for path in values:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"an item of {key} must be a path, not {type(path).__name__}; weights are in data.weights")
        if not os.fspath(path) or between in os.fspath(path):
            raise _rapt.InvalidValueError(f"an item of {key} is {os.fspath(path)!r}: it must not be empty, nor have "
                                          f"{between!r} in it, which separates the paths")
    return between.join(os.fspath(path) for path in values)


def _text(key, value):
    """A value as a recipe's file has it."""
    if value is None:
        return ""
    if is_bool(value):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if is_integer(value):
        return str(integer(value, key))
    if hasattr(type(value), "__float__"):
        return repr(float(value))
    if isinstance(value, (list, tuple)) and key in _LISTS:
        return _joined(key, value)
    raise TypeError(f"{key} must be a str, a number, a bool, a path or None, not {type(value).__name__}")


def _flat(values, before=""):
    """Keys with dots of nested mappings."""
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeError(f"a key must be a str, not {type(key).__name__}")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


class Recipe(Mapping):
    """All keys of a recipe with their values: recipe["train.lr"]. It does not change.

    values  keys and values over the defaults, or over those of the file: {"train.lr": 0.001}, or nested as in a file,
            {"train": {"lr": 0.001}}
    file    a YAML file, whose relative paths start from its folder
    keys    the same as `values`: Recipe(**{"train.lr": 0.001}), Recipe(train={"lr": 0.001})

    InvalidValueError: an unknown key (the message suggests one), or a value out of its range; FormatError: a file that is not
    YAML. Whether the keys fit each other is checked when a run begins.
    """
    __slots__ = ("_handle", "file")

    def __init__(self, values=None, /, *, file=None, **keys):
        self._handle = _rapt.recipe(file)
        self.file = file
        given = dict(_flat(values or {}))
        given.update(_flat(keys))
        for key in ("task", "model.preset"): # the defaults of others depend on them
            if key in given:
                self._set(key, given.pop(key))
        for key, value in given.items():
            self._set(key, value)

    def _set(self, key, value):
        self._handle.set(key, _text(key, value))

    def __getitem__(self, key):
        """The value of a key: an int, float, bool or str; None for a text that is not set. KeyError: there is no such key."""
        if not isinstance(key, str) or key not in _types():
            raise KeyError(key)
        return _READ[_types()[key]](self._handle.get(key))

    def __iter__(self):
        return iter(_types())

    def __len__(self):
        return len(_types())

    def yaml(self):
        """The whole recipe as YAML, defaults included: a file with this text is the same recipe, except that its relative paths
        start from its folder."""
        return self._handle.yaml()

    def check(self):
        """InvalidValueError: the keys do not fit each other or the task, or something that must be given is not."""
        self._handle.check("recipe" if self.file is None else self.file)

    @staticmethod
    def keys_help():
        """All keys, each a dict of str: key, type ("integer", "float", "bool", "choice" or "string"), default ("2 / 4": of
        translation / of language models), range (">= 1", "0..1", the choices "a|b|c", or "-") and meaning."""
        return [dict(zip(("key", "type", "default", "range", "meaning"), row, strict=True)) for row in _rapt.recipe_keys()]

    def __repr__(self):
        return f"rapt.Recipe({ {key: self[key] for key in self._handle.given()} })"


_READ = {"integer": int, "float": float, "bool": lambda text: text == "true", "choice": str, "string": lambda text: text or None}
_kinds = {}


def _types():
    """The type of each key, in order."""
    if not _kinds:
        _kinds.update((row[0], row[1]) for row in _rapt.recipe_keys())
    return _kinds

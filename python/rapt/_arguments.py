"""Arguments, from Python's types to those of the extension."""
from _operator import index # operator, which is one more file

from . import _rapt


def stops_of(stop):
    """A str or a sequence of str as a tuple; the extension checks the elements."""
    if isinstance(stop, str):
        return (stop,)
    if stop is None:
        return ()
    if not isinstance(stop, (list, tuple)):
        raise TypeError(f"stop must be a str, or a list or tuple of str, not {type(stop).__name__}")
    return tuple(stop)


def lines_of(texts, name):
    """A sequence of str, each without a line break, as one text of lines; None for None or an empty one."""
    if texts is None:
        return None
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} must be a list or tuple of str")
    if any(not text or "\n" in text or "\r" in text for text in texts):
        raise _rapt.InvalidValueError(f"{name}: each text is one line, and not empty")
    return "\n".join(texts) or None


def terms_of(glossary):
    """A mapping of sources to targets as a tuple of all texts, each source before its target; None for None."""
    if glossary is None:
        return None
    if not hasattr(glossary, "items"):
        raise TypeError(f"glossary must be a mapping of str to str, not {type(glossary).__name__}")
    return tuple(text for pair in glossary.items() for text in pair)


def names_of(tags, name):
    """Names of elements as one text: a str is one already."""
    if tags is None or isinstance(tags, str):
        return tags
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise TypeError(f"{name} must be a str, or a list or tuple of str")
    return ",".join(tags)


def markup_of(form, ignore_tags, splitting_tags, non_splitting_tags, outline_detection):
    """What a format of texts says of them, for the extension; None: they are no documents."""
    tags = [names_of(value, name) for name, value in (("ignore_tags", ignore_tags), ("splitting_tags", splitting_tags),
                                                      ("non_splitting_tags", non_splitting_tags))]
    if form not in ("text", "html", "xml"):
        raise _rapt.InvalidValueError(f"format is {form!r}: it is 'text', 'html' or 'xml'")
    if form != "text":
        return (form == "xml", *tags, bool(outline_detection))
    if any(tag is not None for tag in tags) or not outline_detection:
        raise _rapt.InvalidValueError("tags are of documents: with format='html' or 'xml' only")
    return None


def biases_of(logit_bias):
    """A mapping as a tuple of (id, bias)."""
    if logit_bias is None:
        return ()
    try:
        return tuple(logit_bias.items())
    except AttributeError:
        raise TypeError(f"logit_bias must be a mapping, not {type(logit_bias).__name__}") from None


def schema_of(json_schema):
    """A JSON schema as text: a str is one already."""
    if json_schema is None or isinstance(json_schema, str):
        return json_schema
    import json
    return json.dumps(json_schema, allow_nan=False)


def is_bool(value):
    """Whether a value is a bool, Python's or NumPy's, which is no subclass."""
    return type(value).__name__ in ("bool", "bool_")


def is_integer(value):
    """Whether a value is an int, one of NumPy, or a whole number in an array without dimensions."""
    if type(value) is int:
        return True
    if not hasattr(type(value), "__index__") or is_bool(value) or getattr(value, "shape", ()):
        return False
    try:
        index(value)
    except TypeError: # an array without dimensions has an __index__ for any number
        return False
    return True


def integer(value, name):
    """An int of a number that is one, such as NumPy's."""
    if not is_integer(value):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    return index(value)


def number(value, name):
    """A float of a number."""
    if not hasattr(type(value), "__float__") and not hasattr(type(value), "__index__"): # float() reads texts, too
        raise TypeError(f"{name} must be a float, not {type(value).__name__}")
    return float(value)


def integer_of(value, name, least, most):
    """An int in a range."""
    value = integer(value, name)
    if not least <= value <= most:
        raise _rapt.InvalidValueError(f"{name} is {value}: it is {least} to {most}")
    return value


def tuple_of(value, name, what):
    """A tuple of what an iterable has."""
    try:
        items = iter(value)
    except TypeError:
        raise TypeError(f"{name} must be {what}, not {type(value).__name__}") from None
    return tuple(items)


def shape_of(shape, name="shape"):
    """A shape as a tuple of ints, which may be NumPy's."""
    return tuple(integer(size, f"{name}[{i}]") for i, size in enumerate(tuple_of(shape, name, "a tuple of ints")))


def scale_of(value, name):
    """A float that random numbers are multiplied by."""
    value = number(value, name)
    if not 0 <= value <= 1e30:
        raise _rapt.InvalidValueError(f"{name} is {value}: it is 0 to 1e30")
    return value


def sample_of(sample):
    """The index of a sample."""
    return integer_of(sample, "sample", 0, (1 << 64) - 1)


def role_and_content(message):
    """A message as a tuple."""
    try:
        return message["role"], message["content"]
    except KeyError as error:
        raise _rapt.InvalidValueError(f"a message lacks {error}") from None
    except TypeError:
        raise TypeError(f"a message must be a mapping, not {type(message).__name__}") from None

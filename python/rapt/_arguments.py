"""Arguments of texts, from Python's types to those of the extension."""


def stops_of(stop):
    """A str or a sequence of str as a tuple; the extension checks the elements."""
    if isinstance(stop, str):
        return (stop,)
    if stop is None:
        return ()
    if not isinstance(stop, (list, tuple)):
        raise TypeError(f"stop must be a str, or a list or tuple of str, not {type(stop).__name__}")
    return tuple(stop)


def biases_of(logit_bias):
    """A mapping as a tuple of (id, bias)."""
    if logit_bias is None:
        return ()
    try:
        return tuple(logit_bias.items())
    except AttributeError:
        raise TypeError(f"logit_bias must be a mapping, not {type(logit_bias).__name__}") from None


def integer_of(value, name, least, most):
    """An int in a range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}: it is {least} to {most}")
    return value


def sample_of(sample):
    """The index of a sample."""
    return integer_of(sample, "sample", 0, (1 << 64) - 1)


def role_and_content(message):
    """A message as a tuple."""
    try:
        return message["role"], message["content"]
    except KeyError as error:
        raise ValueError(f"a message lacks {error}") from None
    except TypeError:
        raise TypeError(f"a message must be a mapping, not {type(message).__name__}") from None

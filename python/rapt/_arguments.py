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


def sample_of(sample):
    """The index of a sample."""
    if not isinstance(sample, int) or isinstance(sample, bool):
        raise TypeError(f"sample must be an int, not {type(sample).__name__}")
    if not 0 <= sample < 1 << 64:
        raise ValueError(f"sample is out of range: {sample}")
    return sample


def role_and_content(message):
    """A message as a tuple."""
    try:
        return message["role"], message["content"]
    except KeyError as error:
        raise ValueError(f"a message lacks {error}") from None
    except TypeError:
        raise TypeError(f"a message must be a mapping, not {type(message).__name__}") from None

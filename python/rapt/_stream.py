"""Texts token by token."""
from ._results import Completion, TokenStep


class Stream:
    """An iterator of TokenStep: each is computed when it is asked for. The texts of all steps, joined, are completion.text.

    The model cannot be closed before the stream has ended. A stream that nobody refers to any more is closed."""
    __slots__ = ("_handle", "_completion", "__weakref__")

    def __init__(self):
        raise TypeError("streams are made by LanguageModel.generate(..., stream=True)")

    @classmethod
    def _of(cls, handle):
        stream = object.__new__(cls)
        stream._handle = handle
        stream._completion = None
        return stream

    def __iter__(self):
        return self

    def __next__(self):
        handle = self._handle
        if handle is None:
            raise StopIteration
        try:
            token = handle.next()
            if token is not None:
                return TokenStep(*token)
            completion, rest = handle.finish()
        except ValueError as error:
            if type(error) is not ValueError: # of the library: the run has failed
                self._handle = None
            raise
        except BaseException:
            self._handle = None
            raise
        self._handle = None
        self._completion = Completion(*completion)
        if rest:
            return TokenStep(None, rest, float("nan"), [])
        raise StopIteration

    def close(self):
        """Ends the run: another thread that computes a token of it gets InterruptedRunError. Closing again does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    @property
    def completion(self):
        """The Completion, once the stream is exhausted. ValueError before, and after close or a failure."""
        if self._completion is None:
            raise ValueError("the stream is not exhausted")
        return self._completion

"""What praemia raises: one base class, so that a caller (and the command line) can catch them all."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PraemiaError(Exception):
    """Report a mistake in what the user gave; the message says where, what was found and what is expected.

    Examples
    --------
    >>> import praemia
    >>> try:
    ...     praemia.envs.make("warehose-4")
    ... except praemia.PraemiaError as error:
    ...     print(error)
    unknown environment 'warehose-4' (did you mean 'warehouse-4'?)
    """


class ModelError(PraemiaError, ValueError):
    """Report a machine, a labelled MDP, a task or a policy that is not well formed."""


class FileError(PraemiaError):
    """Report a file that cannot be read or does not say what it should."""


class ParameterError(PraemiaError, ValueError):
    """Report an argument or a learner's parameter outside its range."""


class UnknownNameError(PraemiaError, LookupError):
    """Report a name that is not among the known ones."""


class SizeError(PraemiaError, MemoryError):
    """Report a problem that could not fit in this machine's memory, before anything is allocated."""


class MissingExtraError(PraemiaError, ImportError):
    """Report an optional package that a command needs and that is not installed."""


class PlanError(ModelError):
    """Report a learner's plan that cannot be played."""


class LearnerFailure(PraemiaError):
    """Report a learner from outside whose own code raised an error."""


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return " (did you mean 'x'?)" for the nearest known name, or the list of a few known ones."""
    names = [str(item) for item in known]
    nearest = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    if nearest:
        return f" (did you mean {nearest[0]!r}?)"
    if 0 < len(names) <= 12:
        return f" (known: {', '.join(names)})"
    return ""


def unknown_name(kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """Build the error for an unknown name of some kind, with the nearest match."""
    return UnknownNameError(f"unknown {kind} {str(name)!r}{did_you_mean(name, known)}")

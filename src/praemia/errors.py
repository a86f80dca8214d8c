"""What praemia raises: one base class, so that a caller (and the command line) can catch them all."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from numbers import Integral, Real
from typing import Any

_CONTROL = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)


def visible(text: str) -> str:
    """Escape the control characters of a text, which may hold names from somebody else's file; lines stay."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class PraemiaError(Exception):
    """Invalid input: the message gives the place, the value found and the value expected.

    Examples
    --------
    >>> import praemia
    >>> try:
    ...     praemia.envs.make("warehose-4")
    ... except praemia.PraemiaError as error:
    ...     print(error)
    unknown environment 'warehose-4' (did you mean 'warehouse-4'?)
    """

    run: Any = None  # the episodes that were finished when this error ended ``simulate`` in a black box
    dataset: Any = None  # what had been explored when it ended ``explore``

    def __init__(self, message: object = "") -> None:
        super().__init__(visible(str(message)))


class PraemiaWarning(UserWarning):
    """Warn of something that is allowed but rarely intended."""

    def __init__(self, message: object = "") -> None:
        super().__init__(visible(str(message)))


class ModelError(PraemiaError, ValueError):
    """Report a machine, a labelled MDP, a task or a policy that is not well formed."""


class RuleError(ModelError):
    """Report a rule that does not fit its machine, or another of its rules; ``rule`` is the culprit."""

    def __init__(self, message: str, rule: object = None) -> None:
        super().__init__(message)
        self.rule = rule


class FileError(PraemiaError):
    """Report a file that cannot be read or does not say what it should."""


class ParameterError(PraemiaError, ValueError):
    """Report an argument or a learner's parameter outside its range."""


class UnknownNameError(PraemiaError, LookupError):
    """Report a name that is not among the known ones."""


class SizeError(PraemiaError, MemoryError):
    """Report something too large for this computer's memory or for a limit, before it is allocated."""


class MissingExtraError(PraemiaError, ImportError):
    """Report an optional package that a command needs and that is not installed."""


class PlanError(ModelError):
    """Report a learner's plan that cannot be played."""


class EnvironmentFailure(PraemiaError):
    """Report a black box whose environment, labels or encoder raised an error, which is the cause."""


class LearnerFailure(PraemiaError):
    """Report a learner from outside whose own code raised an error."""


@contextmanager
def located(where: str | Callable[[], str]) -> Iterator[None]:
    """Put a place, such as ``file:line``, before the message of any error that is raised within."""
    try:
        yield
    except PraemiaError as error:
        placed = type(error)(f"{where() if callable(where) else where}: {error}")
        placed.__dict__.update(error.__dict__)  # what an error carries beside its message
        raise placed from None


def came_from_interrupt(error: BaseException) -> bool:
    """Return whether an error is Ctrl-C in disguise: raised while, or because, a KeyboardInterrupt was.

    A compiler that is interrupted may fail with an error of its own, and a learner may catch the interrupt.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def did_you_mean(name: object, choices: Iterable[object], hint: str = "") -> str:
    """Return " (did you mean 'x' or 'y'?)" for the nearest choices, else the list of a few choices or a hint."""
    names = list(dict.fromkeys(str(item) for item in choices))
    start = str(name)[:100]  # comparing takes the square of the length
    likeness = {item: difflib.SequenceMatcher(None, item[:100], start).ratio() for item in names}
    nearest = sorted(names, key=lambda item: -likeness[item])
    if nearest and likeness[nearest[0]] >= 0.5:
        near = [repr(item) for item in nearest[:3] if likeness[item] >= likeness[nearest[0]] - 0.05]
        return f" (did you mean {' or '.join(near)}?)"
    if 0 < len(names) <= 12:
        return f" (known: {', '.join(names)})"
    return f" ({hint})" if hint else ""


def unknown_name(kind: str, name: object, choices: Iterable[object], hint: str = "") -> UnknownNameError:
    """Build the error for an unknown name of some kind: with the nearest matches, or with a hint where to look."""
    return UnknownNameError(f"unknown {kind} {str(name)!r}{did_you_mean(name, choices, hint)}")


EXTRAS = {
    "PIL": ("pictures in pixels need Pillow", "plot"),
    "distributed": ("an engine needs Dask", "dask"),
    "pandas": ("data frames need pandas", "frames"),
    "pygraphviz": ("drawing needs pygraphviz", "diagrams"),
}


def require(*modules: str) -> None:
    """Import modules of ``EXTRAS``; for one that is missing, raise the error with a command that installs it.

    Call it before long work if the module is needed only at the end.
    """
    for module in modules:
        try:
            import_module(module.partition(".")[0])
            import_module(module)
        except ImportError:
            raise missing_extra(*EXTRAS[module]) from None


def missing_extra(purpose: str, extra: str) -> MissingExtraError:
    """Build the error for an optional package that is not installed, with a command that installs it."""
    try:
        requirements = requires("praemia") or []
    except PackageNotFoundError:
        requirements = []
    packages = [item.partition(";")[0].strip() for item in requirements if item.endswith(f"extra == '{extra}'")]
    command = f": pip install {' '.join(map(repr, packages))}" if packages else ""
    return MissingExtraError(f"{purpose}{command} (the extra {extra!r} of praemia)")


def require_distribution(where: str, probs: Collection[float], tolerance: float) -> None:
    """Raise an error unless probabilities lie in [0, 1] and sum to 1; ``where`` begins its message."""
    for probability in probs:
        if not 0.0 <= probability <= 1.0 + tolerance:
            raise ModelError(f"{where}probability {probability:g}; it must lie in [0, 1]")
    total = math.fsum(probs)
    if not abs(total - 1.0) <= tolerance:
        raise ModelError(f"{where}probabilities sum to {total:.12g}; they must sum to 1")


def require_distinct(kind: str, names: Collection[str]) -> None:
    """Raise an error if a name is listed twice."""
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ModelError(f"{kind} {twice!r} is listed twice")


def require_fraction(name: str, value: float) -> None:
    """Raise an error unless a number lies between 0 and 1."""
    if not isinstance(value, Real) or not 0.0 < value < 1.0:
        raise ParameterError(f"{name}={value!r}; expected a number between 0 and 1")


def require_flag(name: str, value: object, error: type[PraemiaError] = ParameterError) -> None:
    """Raise an error unless a value is True or False: many other values would count as one of them."""
    if not isinstance(value, bool):
        raise error(f"{name}={value!r}; expected True or False")


def require_whole(
    name: str, value: object, low: int = 1, high: int | None = None, error: type[PraemiaError] = ParameterError
) -> int:
    """Return an integer as an int, or raise an error that names it and the expected range."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < low or (high is not None and int(value) > high):  # type: ignore[call-overload]
        limits = f"of at least {low:,}" if high is None else f"from {low:,} to {high:,}"
        raise error(f"{name}={value!r}; expected an integer {limits}")
    return int(value)  # type: ignore[call-overload,no-any-return]


def require_one_of(name: str, value: object, values: Collection[int]) -> None:
    """Raise an error unless a value is one of some integers; 1.0 and True are not 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value not in values:
        raise ParameterError(f"{name}={value!r}; expected one of {', '.join(map(str, values))}")

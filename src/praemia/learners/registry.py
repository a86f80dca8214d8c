"""The learners by name: this package's, those of installed packages, and those that a program registers.

A new learner of this package is a file and a line in ``BUILT_IN`` (then ``make names``). One from outside is registered
by ``register(MyLearner)`` or by an entry point of its package,

    [project.entry-points."praemia.learners"]
    my-learner = "my_package.my_module:MyLearner"

or needs no registration: ``file.py:Class`` names a class in your own file (``praemia.learners.external``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

from praemia.errors import ParameterError, did_you_mean, unknown_name

if TYPE_CHECKING:
    from praemia.learners.base import Learner

GROUP = "praemia.learners"
BUILT_IN = {
    "headroom": "praemia.learners.headroom:Headroom",
    "ucbvi-prm": "praemia.learners.ucbvi:UCBVIPRM",
    "ucbvi": "praemia.learners.ucbvi:UCBVI",
    "ucrl2-rm-l": "praemia.learners.ucrl2_rm:UCRL2RM",
    "ucrl2-rm-b": "praemia.learners.ucrl2_rm:UCRL2RM",
    "euler": "praemia.learners.euler:EULER",
    "eqo": "praemia.learners.eqo:EQO",
    "ucbvi-bf": "praemia.learners.ucbvi_bf:UCBVIBF",
    "mvp": "praemia.learners.mvp:MVP",
    "psrl": "praemia.learners.psrl:PSRL",
    "opsrl": "praemia.learners.opsrl:OPSRL",
    "qr-max": "praemia.learners.qr_max:QRMax",
    "q-learning": "praemia.learners.q_learning:QLearning",
    "crm": "praemia.learners.q_learning:CRM",
    "random": "praemia.learners.baselines:Random",
    "optimal": "praemia.learners.baselines:Optimal",
    "told-support": "praemia.learners.baselines:ToldSupport",
}
CLASSES = {place.partition(":")[2]: place.partition(":")[0] for place in BUILT_IN.values()}

Kind = TypeVar("Kind", bound="type[Learner]")
_registered: dict[str, type[Learner]] = {}


def names() -> list[str]:
    """Return the names of all learners.

    Examples
    --------
    >>> import praemia
    >>> praemia.learners.names()[:2]
    ['headroom', 'ucbvi-prm']
    """
    return list(dict.fromkeys([*BUILT_IN, *_installed(), *_registered]))


def register(kind: Kind) -> Kind:
    """Register a learner under its name, for this process; may be used as a decorator.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import praemia
    >>> @praemia.learners.register
    ... class Idle(praemia.Random):
    ...     name: ClassVar[str] = "idle"
    >>> praemia.learners.make("idle") == Idle()
    True
    """
    from praemia.learners.external import place_of, why_not_a_learner

    reason = why_not_a_learner(kind)
    if reason is not None:
        raise ParameterError(f"register({getattr(kind, '__name__', repr(kind))}): {reason}")
    for name in names_of(kind):
        refuse_others(name, place_of(kind))
        _registered[name] = kind
    return kind


def names_of(kind: type[Learner]) -> list[str]:
    """Return the names of a class: several, if the class is several learners."""
    return list(kind.variants) or [kind.name]


def refuse_others(name: str, place: str) -> None:
    """Raise an error if a name belongs to a learner in another place."""
    for other in _candidates(name):
        if other != place:
            raise _two_of_one_name(name, other, place)


def kind_of(name: str) -> type[Learner]:
    """Return the class behind a learner's name.

    Examples
    --------
    >>> import praemia
    >>> praemia.learners.kind_of("headroom") is praemia.Headroom
    True
    """
    candidates = _candidates(name)
    if not candidates:
        raise unknown_name("learner", name, names(), "`praemia learners` lists them; file.py:Class names your own")
    if len(candidates) > 1:
        raise _two_of_one_name(name, *list(candidates)[:2])
    ((place, load),) = candidates.items()
    kind = load()
    if name not in names_of(kind):
        raise ParameterError(f"learner {name!r} is {place}, which calls itself {kind.name!r}; the names must agree")
    return kind


def is_registered(name: str) -> bool:
    """Tell whether this process registered a learner by a name."""
    return name in _registered


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters that a learner takes, with their defaults.

    Examples
    --------
    >>> import praemia
    >>> sorted(praemia.learners.parameters_of("ucbvi-prm"))
    ['bonus_scale', 'failure_prob', 'learn_machine', 'moves_known', 'replan']
    """
    return make(name).parameters


def make(name: str, **parameters: Any) -> Learner:
    """Make a learner by name, as the command line does: ``make("ucbvi-prm", bonus_scale=1e-3)``.

    ``file.py:Class`` names a class in your own file; the file is executed.

    Examples
    --------
    >>> import praemia
    >>> praemia.learners.make("ucbvi-prm", bonus_scale=0.01) == praemia.UCBVIPRM(bonus_scale=0.01)
    True
    """
    from praemia.learners.external import LearnerCode, names_a_file

    if not isinstance(name, str):
        raise ParameterError(f"the name of a learner is {name!r}; expected text, such as 'headroom'")
    if names_a_file(name):
        kind = LearnerCode.read(name).load()
        return build_learner(kind, kind.name, parameters)
    return build_learner(kind_of(name), name, parameters)


def build_learner(kind: type[Learner], name: str, parameters: dict[str, Any]) -> Learner:
    """Make a learner of a class under one of its names; a parameter that it does not have is an error."""
    fixed = kind.variants.get(name, {})
    own = kind(**fixed).parameters if parameters else {}
    for parameter in parameters:
        if parameter not in own:
            raise ParameterError(f"learner {name!r} has no parameter {parameter!r}{did_you_mean(parameter, own)}")
    return kind(**fixed, **parameters)


def _candidates(name: str) -> dict[str, Callable[[], type[Learner]]]:
    """Return all learners of a name: where each is defined, and a function that loads it."""
    from praemia.learners.external import place_of

    candidates: dict[str, Callable[[], type[Learner]]] = {}
    if name in BUILT_IN:
        module, _, class_name = BUILT_IN[name].partition(":")
        candidates[BUILT_IN[name]] = lambda: getattr(import_module(module), class_name)
    for entry in _installed().get(name, ()):
        candidates[entry.value] = lambda entry=entry: _load(entry)  # type: ignore[misc]
    if name in _registered:
        kind = _registered[name]
        candidates[place_of(kind)] = lambda: kind
    return candidates


@cache
def _installed() -> dict[str, list[EntryPoint]]:
    """Return the learners that installed packages announce, by name; none of them is imported yet."""
    entries: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        entries.setdefault(entry.name, []).append(entry)
    return entries


def _load(entry: EntryPoint) -> type[Learner]:
    from praemia.learners.external import why_not_a_learner

    package = entry.dist.name if entry.dist is not None else "an installed package"
    who = f"learner {entry.name!r} of {package} ({entry.value})"
    try:
        kind = entry.load()
    except Exception as error:  # it is another's code: it may fail in any way
        raise ParameterError(f"{who} cannot be imported: {type(error).__name__}: {error}") from error
    reason = why_not_a_learner(kind)
    if reason is not None:
        raise ParameterError(f"{who}: {reason}")
    return kind  # type: ignore[no-any-return]


def _two_of_one_name(name: str, first: str, second: str) -> ParameterError:
    return ParameterError(f"two learners are called {name!r}: {first} and {second}; give one of them another name")

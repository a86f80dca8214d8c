"""The learners by name: this package's, those of installed packages, and those that a program registers.

A new learner of this package is a file and a line in ``BUILT_IN`` (then ``make names``). One from outside is registered
by ``register(MyLearner)`` or by an entry point of its package,

    [project.entry-points."praemia.learners"]
    my-learner = "my_package.my_module:MyLearner"

or needs no registration: ``file.py:Class`` names a class in your own file (``praemia.learners.external``).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar, cast

from praemia.errors import ParameterError, did_you_mean, unknown_name

if TYPE_CHECKING:
    from praemia.learners.base import Learner

GROUP = "praemia.learners"
BUILT_IN = {
    "headroom": "praemia.learners.headroom:Headroom",
    "ucbvi-prm": "praemia.learners.ucbvi:UCBVIPRM",
    "ucbvi": "praemia.learners.ucbvi:UCBVI",
    "ucrl2-rm-l": "praemia.learners.ucrl2_rm:UCRL2RML",
    "ucrl2-rm-b": "praemia.learners.ucrl2_rm:UCRL2RMB",
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
    return list(dict.fromkeys([*(entry.name for entry in _announced()), *_registered]))


def register(kind: Kind) -> Kind:
    """Register a learner under its name, for this process; may be used as a decorator.

    Examples
    --------
    >>> import praemia
    >>> @praemia.learners.register
    ... class Idle(praemia.Random):
    ...     pass
    >>> praemia.learners.make("idle") == Idle()
    True
    """
    from praemia.learners.external import why_not_a_learner

    reason = why_not_a_learner(kind)
    if reason is not None:
        raise ParameterError(f"register({getattr(kind, '__name__', repr(kind))}): {reason}")
    refuse_others(kind)
    _registered[kind.name] = kind
    return kind


def refuse_others(kind: type[Learner]) -> None:
    """Raise an error if the name of a class belongs to a learner in another place."""
    from praemia.learners.external import place_of

    _only(kind.name, {**_candidates(kind.name), place_of(kind): kind})


def kind_of(name: str) -> type[Learner]:
    """Return the class of a learner, by name.

    Examples
    --------
    >>> import praemia
    >>> praemia.learners.kind_of("headroom") is praemia.Headroom
    True
    """
    candidates = _candidates(name)
    if not candidates:
        raise unknown_name("learner", name, names(), "`praemia learners` lists them; file.py:Class names your own")
    place, found = _only(name, candidates)
    kind = cast("type[Learner]", found) if isinstance(found, type) else _load(found)
    if name != kind.name:
        raise ParameterError(f"learner {name!r} is {place}, which calls itself {kind.name!r}; the names must agree")
    return kind


def is_registered(name: str) -> bool:
    """Return whether this process registered a learner by a name."""
    return name in _registered


def make(name: str, **parameters: Any) -> Learner:
    """Make a learner by name, as the command line does: ``make("ucbvi-prm", bonus_scale=1e-3)``.

    ``file.py:Class`` names a class in your own file; the file is executed.

    Examples
    --------
    >>> import praemia
    >>> praemia.learners.make("ucbvi-prm", bonus_scale=0.01) == praemia.UCBVIPRM(bonus_scale=0.01)
    True
    >>> sorted(praemia.learners.make("ucbvi").parameters)
    ['bonus_scale', 'failure_prob', 'replan']
    """
    from praemia.learners.external import LearnerCode, names_a_file

    if not isinstance(name, str):
        raise ParameterError(f"the name of a learner is {name!r}; expected text, such as 'headroom'")
    return build_learner(LearnerCode.read(name).load() if names_a_file(name) else kind_of(name), parameters)


def build_learner(kind: type[Learner], parameters: dict[str, Any]) -> Learner:
    """Make a learner of a class; a parameter that it does not have is an error."""
    own = kind().parameters if parameters else {}
    for parameter in parameters:
        if parameter not in own:
            raise ParameterError(f"learner {kind.name!r} has no parameter {parameter!r}{did_you_mean(parameter, own)}")
    return kind(**parameters)


def _candidates(name: str) -> dict[str, EntryPoint | type[Learner]]:
    """Return all learners of a name by the places where they are defined; those announced are not imported yet."""
    from praemia.learners.external import place_of

    candidates: dict[str, Any] = {entry.value: entry for entry in _announced() if entry.name == name}
    kind = _registered.get(name)
    return candidates if kind is None else {**candidates, place_of(kind): kind}


def _only(name: str, candidates: dict[str, Any]) -> tuple[str, Any]:
    """Return the place of the one learner of a name, and the learner; several are an error."""
    first, *others = candidates.items()
    if others:
        raise ParameterError(
            f"two learners are called {name!r}: {first[0]} and {others[0][0]}; give one of them another name"
        )
    return first


@cache
def _announced() -> tuple[EntryPoint, ...]:
    """Return the learners of this package and of those installed."""
    built_in = (EntryPoint(name, place, GROUP) for name, place in BUILT_IN.items())
    return (*built_in, *entry_points(group=GROUP))


def _load(entry: EntryPoint) -> type[Learner]:
    from praemia.learners.external import why_not_a_learner

    who = f"learner {entry.name!r} of {'praemia' if entry.dist is None else entry.dist.name} ({entry.value})"
    try:
        kind = entry.load()
    except Exception as error:  # it is another's code: it may fail in any way
        raise ParameterError(f"{who} cannot be imported: {type(error).__name__}: {error}") from error
    reason = why_not_a_learner(kind)
    if reason is not None:
        raise ParameterError(f"{who}: {reason}")
    return kind  # type: ignore[no-any-return]

"""Labels of steps as data: a predicate over what an environment shows for each proposition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean, require_distinct
from praemia.machines.labels import Label, distinct_names, several
from praemia.machines.predicates import ACTION, BEFORE, OBSERVATION, WORDS, PredicateParser, Reference
from praemia.machines.syntax import mistake

__all__ = ["predicates"]

RESERVED = (*WORDS, OBSERVATION, ACTION, BEFORE)


class Predicates:
    """Label steps by predicates; ``predicates`` makes them.

    Attributes
    ----------
    texts : the predicate of each proposition. names : those of the numbers of a Box, in order, if they were given.
    """

    def __init__(self, texts: Mapping[str, str], names: Iterable[str] | None = None) -> None:
        if not isinstance(texts, Mapping):
            raise ModelError(f"predicates {texts!r}; expected a dictionary from propositions to predicates")
        self.texts = dict(zip(distinct_names("proposition", texts), texts.values(), strict=True))
        if "" in self.texts:
            raise ModelError(f"the predicate {self.texts['']!r} is for the proposition ''; give it a name")
        self.names = None if names is None else several("names", names)
        require_distinct("name", self.names or ())
        for name in self.names or ():
            if not (isinstance(name, str) and name.isidentifier()) or name in RESERVED:
                raise ModelError(f"names: {name!r} cannot name a number; expected letters, digits and _, no keyword")
        parsed = {name: PredicateParser(name, text, self.names) for name, text in texts.items()}
        self._meanings = {name: parser.run() for name, parser in parsed.items()}
        self._references = {name: parser.references for name, parser in parsed.items()}

    @property
    def propositions(self) -> frozenset[str]:
        """The propositions that have a predicate."""
        return frozenset(self.texts)

    def __repr__(self) -> str:
        return f"predicates({self.texts!r}" + ("" if self.names is None else f", names={list(self.names)!r}") + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Predicates) and (self.texts, self.names) == (other.texts, other.names)

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Predicates, (self.texts, self.names)

    def __call__(self, o: Any, a: Any, o_next: Any, info: Any = None) -> Label:
        """Return the label of a step."""
        label = []
        for name, holds in self._meanings.items():
            try:
                if holds(o, a, o_next):
                    label.append(name)
            except (LookupError, TypeError, ValueError) as error:
                step = ", ".join(map(brief, (o, a, o_next)))
                raise ModelError(f"predicate {name!r}, {self.texts[name]!r}, has no value on {step}: {error}") from None
        return frozenset(label)

    def batch(self, o: Any, a: Any, o_next: Any, size: int) -> NDArray[np.bool_]:
        """Return the labels of so many steps at once, as bool[N, P]: propositions in the order of ``texts``.

        Observations and actions are as a vector environment has them: arrays [N, …], or dictionaries or tuples of them.
        """
        steps = [_steps_last(part) for part in (o, a, o_next)]
        columns = [np.broadcast_to(np.asarray(holds(*steps)), size) for holds in self._meanings.values()]
        return np.stack(columns, axis=1).astype(bool) if columns else np.zeros((size, 0), dtype=bool)

    def require_spaces(self, observations: Any, actions: Any) -> None:
        """Refuse names that mean nothing in an environment with these spaces."""
        for name, references in self._references.items():
            for reference in references:
                problem = _problem(reference, actions if reference.is_action else observations, self.names)
                if problem:
                    raise mistake(f"predicate {name!r}", self.texts[name], reference.place, problem)


def predicates(texts: Mapping[str, str], names: Iterable[str] | None = None) -> Predicates:
    """Label steps by predicates, a text for each proposition: data that a file can hold, and no code.

    Parameters
    ----------
    texts : a predicate for each proposition; ``praemia.machines.predicates`` has the grammar.
    names : names for the numbers of a one-dimensional Box, in order.

    Returns
    -------
    Labels, for ``BlackBox``, ``MachineWrapper`` and wherever labels are taken. Names are checked there.

    Examples
    --------
    >>> import praemia
    >>> texts = {"left": "position < -1", "uphill": "velocity > 0 and position - before.position > 0.01"}
    >>> labels = praemia.labels.predicates(texts, names=["position", "velocity"])
    >>> sorted(labels([-1.2, 0.0], 2, [-1.1, 0.1]))
    ['left', 'uphill']
    """
    return Predicates(texts, names)


def _steps_last(part: Any) -> Any:
    """Return a batch with the axis of its steps last, so that an index picks a number of every step."""
    if isinstance(part, Mapping):
        return {key: _steps_last(value) for key, value in part.items()}
    return tuple(map(_steps_last, part)) if isinstance(part, tuple) else np.moveaxis(np.asarray(part), 0, -1)


def _problem(reference: Reference, space: Any, names: tuple[str, ...] | None) -> str | None:
    """Say what is wrong with a name where this is the space, if anything is."""
    from gymnasium import spaces

    text, _, _, key, index, _ = reference
    if key is not None:
        keys = [*space.spaces] if isinstance(space, spaces.Dict) else []
        if key not in keys:
            return f"unknown name {key!r}{did_you_mean(key, [*keys, *(names or ()), OBSERVATION, ACTION])}"
        space = space.spaces[key]
    parts = list[str]()
    while isinstance(space, spaces.Tuple) and index and index[0] < len(space.spaces):
        parts, space, index = [*parts, str(index[0])], space.spaces[index[0]], index[1:]
    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        return f"{text} is {space}, which is not a number"
    shape: tuple[int, ...] = space.shape or ()
    if len(index) != len(shape):
        inside = ", ".join([*parts, *("0" * len(shape))])
        return f"{text} of {space} is not a number; write {text.partition('[')[0]}{f'[{inside}]' if inside else ''}"
    if any(i >= size for i, size in zip(index, shape, strict=True)):
        return f"{text} is outside of {space}"
    return None

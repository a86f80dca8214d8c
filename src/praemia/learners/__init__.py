"""Learners, one file per algorithm, and a registry that finds them by name.

A class is imported when it is first used. Type checkers read the names in ``__init__.pyi``, which is generated from
``registry.BUILT_IN`` by ``make names``.
"""

from __future__ import annotations

from praemia._support.lazy import lazy
from praemia.learners.registry import BUILT_IN, kind_of, make, names, register

# What it takes to write a learner.
_BASES = {
    "Experience": "praemia.learners.experience",
    "Learner": "praemia.learners.base",
    "LearnerPlan": "praemia.learners.base",
    "ordered_sum": "praemia._support.arithmetic",
    "parameter": "praemia.learners.base",
    "plan_with_bonus": "praemia.learners.backward",
    "portable_log": "praemia._support.arithmetic",
}
_CLASSES = {place.partition(":")[2]: place.partition(":")[0] for place in BUILT_IN.values()}
_HOME_OF = {**_CLASSES, **_BASES}

__all__ = [*_HOME_OF, "kind_of", "make", "names", "register"]
__getattr__ = lazy(__name__, _HOME_OF)


def __dir__() -> list[str]:
    return __all__

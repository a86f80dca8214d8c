"""Learners, one file per algorithm, and how to make one by name.

A new learner is a file with a ``Learner`` subclass and a line in ``_MAKERS``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from praemia.errors import ParameterError, did_you_mean, unknown_name
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.eqo import EQO
from praemia.learners.euler import EULER
from praemia.learners.headroom import Headroom
from praemia.learners.mvp import MVP
from praemia.learners.opsrl import OPSRL
from praemia.learners.players import Optimal, Random
from praemia.learners.psrl import PSRL
from praemia.learners.q_learning import CRM, QLearning
from praemia.learners.qr_max import QRMax
from praemia.learners.ucbvi import UCBVI
from praemia.learners.ucbvi_bf import UCBVIBF
from praemia.learners.ucbvi_prm import UCBVIPRM
from praemia.learners.ucrl2_rm import UCRL2RM

__all__ = [
    "CRM",
    "EQO",
    "EULER",
    "MVP",
    "OPSRL",
    "PSRL",
    "UCBVI",
    "UCBVIBF",
    "UCBVIPRM",
    "UCRL2RM",
    "Experience",
    "Headroom",
    "Learner",
    "LearnerPlan",
    "Optimal",
    "QLearning",
    "QRMax",
    "Random",
    "kind_of",
    "make",
    "names",
    "parameters_of",
]

_MAKERS: dict[str, Callable[..., Learner]] = {
    "headroom": Headroom,
    "ucbvi-prm": UCBVIPRM,
    "ucbvi": UCBVI,
    "ucrl2-rm-l": partial(UCRL2RM, interval="l1"),
    "ucrl2-rm-b": partial(UCRL2RM, interval="bernstein"),
    "euler": EULER,
    "eqo": EQO,
    "ucbvi-bf": UCBVIBF,
    "mvp": MVP,
    "psrl": PSRL,
    "opsrl": OPSRL,
    "qr-max": QRMax,
    "q-learning": QLearning,
    "crm": CRM,
    "random": Random,
    "optimal": Optimal,
}


def names() -> list[str]:
    """Return the names of all learners."""
    return list(_MAKERS)


def kind_of(name: str) -> type[Learner]:
    """Return the class behind a learner's name."""
    if name not in _MAKERS:
        raise unknown_name("learner", name, _MAKERS)
    maker = _MAKERS[name]
    return maker.func if isinstance(maker, partial) else maker  # type: ignore[return-value]


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters that a learner takes, with their defaults."""
    return make(name).parameters


def make(name: str, **parameters: Any) -> Learner:
    """Make a learner by name, as the command line does: ``make("ucbvi-prm", bonus_scale=1e-3)``."""
    if name not in _MAKERS:
        raise unknown_name("learner", name, _MAKERS)
    known = parameters_of(name) if parameters else {}
    for parameter in parameters:
        if parameter not in known:
            raise ParameterError(f"learner {name!r} has no parameter {parameter!r}{did_you_mean(parameter, known)}")
    return _MAKERS[name](**parameters)

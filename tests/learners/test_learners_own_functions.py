"""The functions that a learner brings to the recursion: told apart on the disk, and mistakes in them understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from praemia import PraemiaError, envs, simulate
from praemia.kernels.planners import _digest
from praemia.learners import BonusLearner

SCALE = 0.5


@dataclass(frozen=True, kw_only=True)
class Plain(BonusLearner):
    """Add a number over n, read from a global."""

    name: ClassVar[str] = "plain"

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        return mean + SCALE / pair.visits


def with_literal(text: str) -> type[BonusLearner]:
    """Return the same class with other text in it, made without a file."""
    namespace: dict[str, Any] = {}
    source = f"def worth(mean, deviation, pair):\n    return mean + {text} / pair.visits\n"
    exec(source, namespace)
    return type("Plain", (Plain,), {"worth": staticmethod(namespace["worth"])})


def with_closure(scale: float) -> type[BonusLearner]:
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        return mean + scale / pair.visits

    return type("Plain", (Plain,), {"worth": staticmethod(worth)})


def digest(kind: type[BonusLearner]) -> str:
    return _digest(kind().recipe())


def test_functions_that_differ_in_a_literal_have_other_names() -> None:
    assert digest(with_literal("0.1")) == digest(with_literal("0.1")) != digest(with_literal("0.2"))


def test_functions_that_differ_in_a_closure_have_other_names() -> None:
    assert digest(with_closure(0.1)) == digest(with_closure(0.1)) != digest(with_closure(0.2))


def test_functions_that_differ_in_a_global_have_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(Plain)
    monkeypatch.setitem(globals(), "SCALE", 9.0)
    assert digest(Plain) != before


def test_a_changed_function_gives_another_run() -> None:
    task = envs.make("warehouse-3")
    small, large = (simulate(task, with_closure(scale)(), 300, 0).regret[-1] for scale in (0.001, 9.0))
    assert small < large


@pytest.mark.parametrize(
    "formula",
    [
        lambda m, d, p: m + d / p.visits,
        lambda m, d, p: m + 2 * d,
        lambda m, d, p: m - (-d),
        lambda m, d, p: np.maximum(m, np.sqrt(d) / 2),
        lambda m, d, p: 1 / (1 / (m + 1.0)) - 1,
    ],
)
@pytest.mark.parametrize("task", ["warehouse-3", "random-4x2x1-0", "random-4x2x9-0"])
def test_arithmetic_compiles_and_gives_numbers(formula: Any, task: str) -> None:
    """On one machine state, four and eight at a time."""
    kind = type("Plain", (Plain,), {"worth": staticmethod(formula)})
    run = simulate(envs.make(task), kind(), 30, 0)
    assert np.isfinite(run.optimistic_values).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"worth": staticmethod(lambda m, d, p: m * np.nan)}, "worth returned NaN"),
        ({"worth": lambda m, d, p: m}, "worth takes no self; put @staticmethod"),
        ({"worth": staticmethod(lambda m, d, p: np.where(m > 0.5, m, d))}, "cannot be compiled"),
        ({"run_constants": lambda self, spec, episodes: (np.nan,)}, "run_constants returned NaN"),
        ({"pair_numbers": staticmethod(lambda n, s, c: (c[7],))}, "pair_numbers failed with IndexError"),
        ({"pair_numbers": staticmethod(lambda n, s, c: (n, n, n, n, n))}, "a tuple of at most 4 numbers"),
        ({"pair_numbers": staticmethod(lambda n, s, c: n)}, "a tuple of at most 4 numbers"),
    ],
)
def test_a_mistake_is_one_message_that_names_the_learner_and_the_function(
    changes: dict[str, Any], message: str
) -> None:
    kind = type("Plain", (Plain,), changes)
    with pytest.raises(PraemiaError, match=rf"learner 'plain'.*{message}"):
        simulate(envs.make("warehouse-3"), kind(), 20, 0)


def test_more_constants_than_a_few_are_no_mistake() -> None:
    kind = type(
        "Plain",
        (Plain,),
        {
            "run_constants": lambda self, spec, episodes: tuple(range(20)),
            "pair_numbers": staticmethod(lambda n, s, c: (c[19] / n,)),
        },
    )
    assert simulate(envs.make("warehouse-3"), kind(), 20, 0).num_episodes == 20


def test_what_is_known_of_a_task_cannot_be_changed_by_a_learner() -> None:
    spec = envs.make("warehouse-3").spec
    for array in (spec.value_caps, spec.value_floors):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0

"""The functions that a learner brings to the recursion: told apart on the disk, and mistakes in them understood."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, ClassVar

import learner_oracles as oracles
import numpy as np
import pytest
from pasts import assert_same, pasts, plan

from praemia import Headroom, LearnerPlan, PraemiaError, envs, simulate
from praemia.errors import PlanError
from praemia.kernels.plans import _can_be_kept, _digest
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


def with_closure(scale: float | Fraction) -> type[BonusLearner]:
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        return mean + scale / pair.visits

    return type("Plain", (Plain,), {"worth": staticmethod(worth)})


def compiled_from(kind: type[BonusLearner]) -> tuple[Any, Any]:
    """Return what the plan of a learner is compiled from."""
    rule = kind().rule(envs.make("warehouse-3").spec, 10)
    return rule.plan, rule.compiled_with(lanes=4)


def digest(kind: type[BonusLearner]) -> str:
    return _digest(*compiled_from(kind))


def test_functions_that_differ_in_a_literal_have_other_names() -> None:
    assert digest(with_literal("0.1")) == digest(with_literal("0.1")) != digest(with_literal("0.2"))


def test_functions_that_differ_in_a_closure_have_other_names() -> None:
    assert digest(with_closure(0.1)) == digest(with_closure(0.1)) != digest(with_closure(0.2))


def test_functions_that_differ_in_a_default_have_other_names() -> None:
    kinds = []
    for scale in (0.1, 0.1, 0.2):

        def worth(mean: Any, deviation: Any, pair: Any, weight: float = scale) -> Any:
            return mean + weight / pair.visits

        kinds.append(type("Plain", (Plain,), {"worth": staticmethod(worth)}))
    assert digest(kinds[0]) == digest(kinds[1]) != digest(kinds[2])


def test_functions_that_differ_in_a_global_have_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(Plain)
    monkeypatch.setitem(globals(), "SCALE", 9.0)
    assert digest(Plain) != before


def test_functions_that_differ_in_a_constant_of_a_module_have_other_names() -> None:
    settings = ModuleType("settings")
    settings.C, settings.inner = 0.1, ModuleType("inner")
    settings.inner.D = 1.0

    source = "def worth(mean, deviation, pair):\n    return mean + settings.C * settings.inner.D\n"
    namespace: dict[str, Any] = {"settings": settings}
    exec(source, namespace)
    kind = type("Plain", (Plain,), {"worth": staticmethod(namespace["worth"])})
    names = {digest(kind)}
    for module, constant in ((settings, "C"), (settings.inner, "D")):
        setattr(module, constant, 9.0)
        names.add(digest(kind))
    settings.unused = 3.0
    names.add(digest(kind))
    assert len(names) == 3


def test_a_plan_that_no_other_process_could_find_is_not_kept_on_disk() -> None:
    """A fraction cannot be described, so the name of the plan is another one in every process."""
    for scale, is_kept in ((0.1, True), (Fraction(1, 10), False)):
        assert _can_be_kept(*compiled_from(with_closure(scale))) is is_kept


def test_a_changed_function_gives_another_run() -> None:
    task = envs.make("warehouse-3")
    small, large = (simulate(task, learner, 300, 0).regret[-1] for learner in (Plain(), with_closure(9.0)()))
    assert small < large


def mixed(m: Any, d: Any, p: Any) -> Any:
    """Use all the arithmetic that a bonus may need: sums, signs, inverses, roots and the larger of two."""
    return np.maximum(1 / (1 / (m + 1.0)) - 1, 2 * np.sqrt(d)) - (-d / p.visits) + 0.5 * d


@pytest.mark.parametrize("name", ["warehouse-3", "random-4x2x1-0", "random-4x2x9-0"])
def test_compiled_arithmetic_is_that_of_the_plain_recursion(name: str) -> None:
    """On one machine state, four and eight at a time."""
    task = envs.make(name, horizon=4)
    learner = type("Plain", (Plain,), {"worth": staticmethod(mixed)})()
    (past,) = pasts(task, learner, 5, [12])
    qval, values = oracles.with_worth(task, past.diary, mixed)
    assert_same(task, plan(learner, past), qval, values)
    assert len({round(value, 9) for (h, _, _), value in values.items() if h == 0}) > 1, "all values are equal"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"worth": staticmethod(lambda m, d, p: m * np.nan)}, "worth returned NaN"),
        ({"worth": lambda m, d, p: m}, "worth takes no self; put @staticmethod"),
        ({"worth": staticmethod(lambda m, d, p: np.where(m > 0.5, m, d))}, "compiled: No .* where>"),
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


def test_a_constant_that_changes_between_runs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook, where the cell with the constant is run again, and not that with the class."""
    task = envs.make("warehouse-3")
    before = simulate(task, Plain(), 100)
    monkeypatch.setattr("test_learners_own_functions.SCALE", 5.0)
    after, literal = simulate(task, Plain(), 100), simulate(task, with_literal("5.0")(), 100)
    assert not np.array_equal(before.optimistic_values, after.optimistic_values)
    np.testing.assert_array_equal(after.optimistic_values, literal.optimistic_values)


def test_numbers_of_a_pair_may_be_of_several_kinds() -> None:
    def with_numbers(*others: Any) -> Any:
        changes = {
            "pair_numbers": staticmethod(lambda n, s, c: (0.5 / n, *others)),
            "worth": staticmethod(lambda m, d, p: m + p.numbers[0] * p.numbers[1] * p.numbers[2]),
        }
        return simulate(envs.make("warehouse-3"), type("Plain", (Plain,), changes)(), 50).optimistic_values

    np.testing.assert_array_equal(with_numbers(2, True), with_numbers(2.0, 1.0))


class Greedy(Plain):
    """Plan as usual, but say nothing of what was planned."""

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(super().plan(experience, previous, rng).policy)


class Hesitant(Plain):
    """Play the plan half of the time and any action otherwise."""

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> LearnerPlan:
        made = super().plan(experience, previous, rng)
        probs = np.full((*made.policy.shape, experience.spec.num_actions), 0.5 / experience.spec.num_actions)
        np.put_along_axis(probs, made.policy[..., None].astype(int), probs[..., :1] + 0.5, axis=-1)
        return LearnerPlan(probs, made.values, made.memory)


def test_a_subclass_may_plan_otherwise_if_it_passes_the_memory_on() -> None:
    task = envs.make("warehouse-3")
    with pytest.raises(PlanError, match=r"learner 'plain' returned a plan without the memory .* plan\.memory"):
        simulate(task, Greedy(), 50, 0)
    run = simulate(task, Hesitant(), 50, 0)
    assert run.num_plans > 2
    assert np.array_equal(np.unique(run.final_policy), np.array([0.1, 0.6]))


class Hopeful(Headroom):
    """Headroom that takes every pair for the best that it can be."""

    name: ClassVar[str] = "hopeful"

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        return pair.limit


class Sober(Hopeful):
    """The same, with theoretical constants of its own."""

    name: ClassVar[str] = "sober"

    def functions(self) -> tuple[Any, Any]:
        numbers, worth = super().functions()
        return numbers, just_the_mean if self.constants == "theory" else worth


def just_the_mean(mean: Any, deviation: Any, pair: Any) -> Any:
    return mean


def test_a_subclass_of_headroom_has_its_own_worth_with_any_constants() -> None:
    for constants in ("practical", "theory"):
        assert Hopeful(constants=constants).functions()[1] is Hopeful.worth
    assert Sober(constants="practical").functions()[1] is Hopeful.worth
    assert Sober(constants="theory").functions()[1] is just_the_mean


@pytest.mark.slow  # three learners to compile
@pytest.mark.parametrize("constants", ["practical", "theory"])
def test_a_subclass_of_headroom_plans_with_its_own_worth(constants: str) -> None:
    """Hopeful never learns that a pair is worse than it could be; Sober takes the estimate where it has its own say."""
    task = envs.make("riverswim-4", horizon=6)
    hopeful = simulate(task, Hopeful(constants=constants), 60, 0).optimistic_values
    assert np.all(hopeful == hopeful[0])
    sober = simulate(task, Sober(constants=constants), 60, 0).optimistic_values
    assert (sober[-1] < hopeful[0] / 2) == (constants == "theory")


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
    for array in (spec.value_caps, spec.exits):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0

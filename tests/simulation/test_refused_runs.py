"""What cannot be run is refused before any work, with one clear error."""

from __future__ import annotations

from typing import Any

import pytest

from praemia import UCRL2RMB, PraemiaError, envs, learners, simulate
from praemia.errors import ParameterError, UnknownNameError

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("num_episodes", [0, -1, 1.5, True, 10**12, "10", None, NAN])
def test_a_number_of_episodes_that_makes_no_sense_is_refused(num_episodes: Any) -> None:
    with pytest.raises(ParameterError, match=r"^num_episodes="):
        simulate(envs.make("riverswim-5"), learners.make("ucbvi-prm"), num_episodes)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", None, (), (1, -1), (1, "a"), NAN])
def test_a_seed_that_makes_no_sense_is_refused(seed: Any) -> None:
    with pytest.raises(ParameterError, match=r"^seed="):
        simulate(envs.make("riverswim-5"), learners.make("ucbvi-prm"), 10, seed)


NUMBERS = [
    (name, parameter)
    for name in learners.names()
    for parameter, value in learners.make(name).parameters.items()
    if isinstance(value, float)
]


@pytest.mark.parametrize(("name", "parameter"), NUMBERS)
@pytest.mark.parametrize("value", [-0.1, NAN, INF, -INF, 1e300, "0.1", True, [1.0]])
def test_a_number_out_of_range_is_refused(name: str, parameter: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=rf"^{parameter}=.*expected a number"):
        learners.make(name, **{parameter: value})


@pytest.mark.parametrize(("name", "parameter"), NUMBERS)
def test_every_number_in_range_gives_a_run(name: str, parameter: str) -> None:
    """The ends of the ranges, where rounding or overflow would show."""
    field = next(item for item in learners.kind_of(name).__dataclass_fields__.values() if item.name == parameter)
    task = envs.make("riverswim-prm-3", horizon=4)
    for value in field.metadata["range"]:
        run = simulate(task, learners.make(name, **{parameter: value}), 30)
        assert 0.0 <= run.regret[-1] <= 30 * task.horizon
        optimistic = run.optimistic_values if learners.kind_of(name).optimistic else [0.0]
        assert all(0.0 <= value <= task.horizon for value in optimistic)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "euler"])
def test_a_failure_probability_is_neither_0_nor_1(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=r"^failure_prob="):
        learners.make(name, failure_prob=value)


def test_an_unknown_learner_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown learner 'ucbvi-prn' \(did you mean 'ucbvi-prm'\?\)"):
        learners.make("ucbvi-prn")
    with pytest.raises(UnknownNameError, match="did you mean 'ucbvi-prm'"):
        learners.kind_of("ucbvi_prm")


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ParameterError, match=r"'ucbvi-prm' has no parameter 'bonus' \(did you mean 'bonus_scale'\?\)"):
        learners.make("ucbvi-prm", bonus=1.0)


@pytest.mark.parametrize("rule", ["double", "", None, 1, ["doubling"]])
def test_an_unknown_replan_rule_is_refused(rule: Any) -> None:
    with pytest.raises(PraemiaError, match="unknown replan rule"):
        learners.make("ucbvi-prm", replan=rule)


def test_as_published_belongs_to_bernstein_intervals() -> None:
    with pytest.raises(ParameterError, match="'ucrl2-rm-l' has no parameter 'as_published'"):
        learners.make("ucrl2-rm-l", as_published=True)
    with pytest.raises(ParameterError, match=r"as_published=1"):
        UCRL2RMB(as_published=1)  # type: ignore[arg-type]

"""The paper's bounds: each term by hand, and what follows from their form."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from praemia.errors import ParameterError
from praemia.theory import RegretBound, policy_search_episodes, regret_bound, regret_lower_bound

sizes = st.tuples(st.integers(1, 50), st.integers(1, 10), st.integers(1, 30), st.integers(1, 40), st.integers(1, 10**6))


def test_every_term_by_hand() -> None:
    """O = 2, A = 4, Q = 3, H = 5, K = 20: T = 100, and ρ = 6·3·2·4·100/e¹² makes ι = 12."""
    rho = 14_400 * exp(-12)
    bound = regret_bound(2, 4, 3, 5, 20, rho)
    assert bound.leading == pytest.approx(72 * 12 * sqrt(4_000))  # H·O·A·T = 5·2·4·100
    assert bound.model_error == pytest.approx(2500 * 25 * 4 * 8 * 144)  # A^{3/2} = 8, ι² = 144
    assert bound.martingale == pytest.approx(4 * 5 * sqrt(1_200))  # T·ι = 1,200
    assert bound.trivial == 100.0
    assert bound.total == bound.leading + bound.model_error + bound.martingale
    assert bound.is_vacuous
    assert RegretBound(leading=1.0, model_error=2.0, martingale=3.0, trivial=6.0).is_vacuous
    assert not RegretBound(leading=1.0, model_error=2.0, martingale=3.0, trivial=6.5).is_vacuous
    assert regret_lower_bound(2, 4, 5, 20) == pytest.approx(sqrt(4_000))


@given(sizes=sizes, grown=st.integers(0, 4), rho=st.floats(1e-6, 0.99))
def test_the_bound_grows_with_every_size_and_as_failure_gets_rarer(
    sizes: tuple[int, ...], grown: int, rho: float
) -> None:
    larger = [size + (i == grown) for i, size in enumerate(sizes)]
    bound = regret_bound(*sizes, rho)
    assert regret_bound(*larger, rho).total > bound.total
    assert regret_bound(*sizes, rho / 2).total > bound.total
    observations, actions, _, horizon, num_episodes = sizes
    assert regret_lower_bound(observations, actions, horizon, num_episodes) <= bound.leading


@given(sizes=sizes)
def test_the_machine_enters_through_the_logarithm_alone(sizes: tuple[int, ...]) -> None:
    observations, actions, states, horizon, num_episodes = sizes
    small = regret_bound(*sizes)
    large = regret_bound(observations, actions, 1000 * states, horizon, num_episodes)
    iota = log(6 * states * observations * actions * num_episodes * horizon / 0.05)
    ratio = (iota + log(1000)) / iota
    assert large.leading == pytest.approx(ratio * small.leading)
    assert large.model_error == pytest.approx(ratio**2 * small.model_error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            ((*sizes, 0.05), "sizes must be at least 1")
            for sizes in ((0, 2, 2, 5, 10), (2, 2, 2, 5, 0), (2, 2, -1, 5, 10), (2, None, 2, 5, 10))
        ),
        *(((2, 2, 2, 5, 10, rho), "^failure_prob=") for rho in (0.0, 1.0, -0.5, float("nan"), None)),
    ],
)
def test_arguments_outside_their_ranges_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        regret_bound(*arguments)


def test_theorem_three_counts_search_episodes() -> None:
    iota = log(5 * 2 * 10 / (0.05 * 0.2))
    assert policy_search_episodes(5, 2, 10, 0.2) == pytest.approx(5**2 * 2 * 10**4 * iota**3 / 0.2)
    for change in ({"significance": 0.0}, {"failure_prob": 1.0}):
        with pytest.raises(ParameterError):
            policy_search_episodes(5, 2, 3, **({"significance": 0.1} | change))

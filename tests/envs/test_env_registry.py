"""Environments by name, and what is said about wrong names and parameters."""

from __future__ import annotations

import subprocess
import sys

import pytest

from praemia import envs
from praemia.errors import PraemiaError, SizeError, UnknownNameError
from praemia.tasks.task import Task


def same(first: Task, second: Task) -> bool:
    return (
        first.name == second.name
        and first.horizon == second.horizon
        and first.machine == second.machine
        and (first.mdp.to_dense() == second.mdp.to_dense()).all()
    )


def test_a_name_a_family_with_parameters_and_a_function_are_the_same() -> None:
    assert same(envs.make("warehouse-4"), envs.make("warehouse", size=4))
    assert same(envs.make("warehouse", size=4, horizon=12), envs.warehouse(size=4))
    assert same(envs.make("riverswim-prm-6"), envs.riverswim_prm(6))
    assert same(envs.make("office"), envs.make("office-coffee-and-mail"))
    assert same(envs.make("rooms-7"), envs.two_rooms(7))
    assert same(envs.make("flower-9", horizon=11), envs.flower(9, 11))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("warehose-4", "warehouse-4"),
        ("riverswim5", "riverswim-5"),
        ("office-cofee", "coffee"),
        ("flower-x", "flower"),
        ("rooms-9-1", "rooms-9"),
        *((name, "") for name in ("", "zzz", "-", "warehouse-", "warehouse--4", "warehouse-4\n", "warehouse-٤")),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(name: str, nearest: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{nearest}" if nearest else "unknown environment"):
        envs.make(name)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("warehouse", {"sise": 4}),
        ("warehouse-4", {"size": 5}),
        ("warehouse", {"size": 1}),
        ("warehouse", {"size": "4"}),
        ("warehouse", {"size": 4.0}),
        ("warehouse", {"size": True}),
        ("warehouse", {"size": 10**12}),
        ("warehouse-999999999999999999", {}),
        ("warehouse", {"size": 4, "horizon": 0}),
        ("warehouse", {"size": 4, "horizon": "long"}),
        ("rooms", {"size": 8}),
        ("rooms", {"size": 3}),
        ("flower", {"loop": 0}),
        ("flower", {"loop": 10**9}),
        ("office", {"errand": 3}),
        ("office", {"errand": ["mail"]}),
        ("random", {"seed": -1}),
        ("random", {"branching": 0}),
    ],
)
def test_wrong_parameters_are_refused_with_one_message(name: str, params: dict[str, object]) -> None:
    with pytest.raises(PraemiaError) as refused:
        envs.make(name, **params)
    assert ["size", *params][-1] in str(refused.value)


def test_what_cannot_fit_in_memory_is_refused_before_it_is_allocated() -> None:
    with pytest.raises(SizeError, match="GiB"):
        envs.make("random", observations=10_000_000, actions=10_000)


def test_importing_environments_imports_no_compiler() -> None:
    code = "import sys, praemia.envs; sys.exit(bool({'numba', 'scipy', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

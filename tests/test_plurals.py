"""Numbers and their nouns: what is printed of the smallest things says ``1 episode``, not ``1 episodes``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import praemia
from praemia._support.text_tables import plural

# One observation, one action, one machine state, one step.
MACHINE = praemia.MachineBuilder("only", ("seen",)).edge("only", "seen", "only", reward=1).build()
MDP = praemia.LabeledMDP.from_dense(np.ones((1, 1, 1)), [praemia.LabelRule("seen")])
TASK = praemia.Task(MDP, MACHINE, horizon=1, name="smallest")
SMALLEST: dict[str, Callable[[], Any]] = {
    "task": lambda: TASK,
    "machine": lambda: MACHINE,
    "mdp": lambda: MDP,
    "model": lambda: TASK.model,
    "product": lambda: praemia.product(TASK),
    "plan": lambda: praemia.solve(TASK),
    "policy": lambda: praemia.solve(TASK).policy,
    "occupancy": lambda: praemia.occupancy(TASK, praemia.solve(TASK).policy),
    "episode": lambda: praemia.rollout(TASK, praemia.solve(TASK).policy),
    "run": lambda: praemia.simulate(TASK, praemia.Headroom(), num_episodes=1),
    "data": lambda: praemia.explore(TASK, num_episodes=1),
    "explored plan": lambda: praemia.plan_from(praemia.explore(TASK, num_episodes=1), MACHINE),
    "inference": lambda: praemia.infer([[({"seen"}, 1.0)]]),
    "comparison": lambda: praemia.compare(TASK, ["random"], 1, num_runs=1),
}
NOUNS = "action|edge|episode|observation|plan|run|state|step|transition|visit"
ONES = re.compile(rf"(?<![\d.,])1 (?:[a-z]+ )?(?:{NOUNS})s\b")


@pytest.mark.parametrize("name", SMALLEST)
def test_one_is_singular(name: str) -> None:
    thing = SMALLEST[name]()
    texts = [repr(thing), str(thing), *thing.lines()] if hasattr(thing, "lines") else [repr(thing), str(thing)]
    if hasattr(thing, "_repr_html_"):
        texts.append(re.sub("<[^>]*>", " ", thing._repr_html_()))
    assert [ONES.findall(text) for text in texts] == [[]] * len(texts)


def test_a_number_has_its_noun() -> None:
    assert [plural(count, "machine state") for count in (0, 1, 2, 1_000)] == [
        "0 machine states",
        "1 machine state",
        "2 machine states",
        "1,000 machine states",
    ]

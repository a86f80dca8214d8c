"""Tasks and black boxes of every kind, small enough to be played often; made by public names alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import gymnasium

import praemia

HERE = Path(__file__).parent


@cache
def tasks() -> dict[str, praemia.Task]:
    """Return the tasks that learners are played on, by name."""
    lake = praemia.envs.from_gymnasium("FrozenLake-v1", [praemia.LabelRule("goal", target=15)], is_slippery=True)
    there_dry = praemia.RewardMachine.from_ltlf({"F goal": 1.0, "F X X X X X X goal": 0.25})
    return {
        "warehouse-3": praemia.envs.make("warehouse-3"),
        "riverswim-prm-5": praemia.envs.make("riverswim-prm-5"),
        "flower-4": praemia.envs.flower(loop=4, horizon=12),  # 17 machine states
        "frozen-lake": praemia.Task(lake, there_dry, horizon=20, name="frozen-lake"),
        "errands": praemia.load_task(HERE / "errands.yaml"),
    }


@cache
def more_tasks() -> dict[str, praemia.Task]:
    """Return tasks that are only planned in."""
    kitchen = "#######\n#S..+c#\n#.k.#.#\n#..>#d#\n#######"
    carry = praemia.RewardMachine.from_ltlf("F(coffee & F desk) & G(coffee -> !kitchen)", pay="end")
    legend, rooms = {"c": "coffee", "d": "desk"}, {"k": "kitchen"}
    grid = praemia.envs.grid(kitchen, legend=legend, rooms=rooms, machine=carry, horizon=15, slip=0.25, stay=True)
    built_in = ("riverswim-5", "rooms-5", "office-coffee", "generated-lake-42", "generated-queue-7", "random-20x4x5-0")
    return {**tasks(), "kitchen": grid, **{name: praemia.envs.make(name) for name in built_in}}


def box() -> praemia.BlackBox:
    """Make a black box of a table."""
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    reach = praemia.MachineBuilder("away").edge("away", "goal", "there", reward=1.0).build()
    return praemia.BlackBox(lake, lambda o, a, z, info: {"goal"} if z == 15 else set(), reach, horizon=12)

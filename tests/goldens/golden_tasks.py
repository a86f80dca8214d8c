"""Tasks, black boxes and machines of every kind, small enough to be played often; made by public names alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import praemia

HERE = Path(__file__).parent
# Rewards and probabilities in these tasks come from the four operations, and there is one start.
FIXED_BITS = ("warehouse-3", "riverswim-prm-5", "flower-4", "frozen-lake")


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


class OnlyObservation(gymnasium.ObservationWrapper[Any, Any, Any]):
    """A task through Gymnasium without its machine's state."""

    def __init__(self, task: praemia.Task) -> None:
        super().__init__(praemia.envs.TaskEnv(task))
        self.observation_space = gymnasium.spaces.Discrete(task.num_observations)

    def observation(self, observation: Any) -> int:
        return int(observation["observation"])


class Cart(gymnasium.Env[Any, Any]):
    """A cart on a track from −1 to 1 that rolls on; a push may fail. The episode ends at the right end."""

    observation_space = gymnasium.spaces.Box(np.array([-1.0, -0.5]), np.array([1.0, 0.5]), dtype=np.float64)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.speed = -0.125, 0.0
        return self._shown(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = 0.125 * (int(action) - 1) if self.np_random.random() < 0.9 else 0.0
        self.speed = min(0.5, max(-0.5, 0.75 * self.speed + push))
        self.place = min(1.0, max(-1.0, self.place + self.speed))
        return self._shown(), 0.0, self.place >= 1.0, False, {"bumped": self.place <= -1.0}

    def _shown(self) -> Any:
        return np.array([self.place, self.speed])


def box(name: str) -> praemia.BlackBox:
    """Make a black box: ``table``, ``through-gymnasium`` with labels from ``info``, or ``cells`` of a Box."""
    if name == "table":
        lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
        reach = praemia.MachineBuilder("away").edge("away", "goal", "there", reward=1.0).build()
        return praemia.BlackBox(lake, lambda o, a, z, info: {"goal"} if z == 15 else set(), reach, horizon=12)
    if name == "through-gymnasium":
        task = tasks()["warehouse-3"]
        env = OnlyObservation(task)
        return praemia.BlackBox(env, lambda o, a, z, info: info["label"], task.machine, task.horizon)
    rock = (
        praemia.MachineBuilder("rest", propositions=("left", "right"))
        .edge("rest", "left", "wound", probability=0.75, reward=0.25)
        .edge("rest", "left", "rest", probability=0.25)
        .edge("wound", "right", "rest", reward=praemia.Reward((-0.5, 1.0), (0.25, 0.75)))
        .build()
    )
    cells = praemia.envs.cells(Cart.observation_space, [5, [-0.1, 0.1]])
    return praemia.BlackBox(Cart(), cart_labels, rock, horizon=15, encode=cells)


def cart_labels(o: Any, a: Any, z: Any, info: dict[str, Any]) -> set[str]:
    """Label a step of the cart by the end that it reached."""
    return {"left"} if info.get("bumped") else {"right"} if z[0] > 0.75 else set()


FORMULAS = {
    "deliver": "F(item & X F delivery)",
    "careful": "(!busy U item) & G(item -> WX !item)",
    "response": "G(request -> F answer)",
    "past": "answer & O request",
    "quoted": 'F("at(A)" & X F "at(B)")',
    "never": "G !alarm",
    "letters": "F(a & X F b) & G !c",
}
EXPRESSIONS = {
    "deliver": "(!item)* item (!delivery)* delivery",
    "patrol": "((!a)* a (!b)* b)+",
    "dot": "(a | b & !c) . c?",
}


@cache
def machines() -> dict[str, praemia.RewardMachine]:
    """Return machines of every kind by name: written by hand, from formulas and expressions, sums, with chances."""
    made = {name: task.machine for name, task in tasks().items()}
    for pay in ("first", "each", "end"):
        made |= {
            f"ltlf-{name}-{pay}": praemia.RewardMachine.from_ltlf(text, pay=pay) for name, text in FORMULAS.items()
        }
        made |= {
            f"regex-{name}-{pay}": praemia.RewardMachine.from_regex(text, pay=pay) for name, text in EXPRESSIONS.items()
        }
    deliver = made["ltlf-deliver-first"]
    made["sum"] = deliver + praemia.RewardMachine.from_ltlf("G !item", reward=-2.0, pay="each")
    made["chance"] = deliver.with_chance({"item": 0.75})
    made["pattern"] = praemia.patterns.respond_within("request", "answer", 3).machine(reward=2.0)
    made["txt"] = praemia.load_machine(HERE / "order.txt")
    made["hoa"] = praemia.load_machine(HERE / "response.hoa")
    return made

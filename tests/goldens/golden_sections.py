"""What is recorded: plans and runs of every learner, exact planning, exploration and inference; by public names alone.

A section yields names and results. Coefficients of learners are multiplied by 1 + ``nudge``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import praemia
from praemia.learners.replanning import ReplanRule

Record = tuple[str, Any]
EPISODES = {"flower-4": 60, "frozen-lake": 80}
USUAL = 120  # episodes elsewhere
BEGINNING, EARLY = "/beginning", 4  # how a run began: so many plans and episodes
PAST = 30  # episodes before the plans of the section ``plans``
DRAWS = 40  # of the likely loss
TOLD = ("optimal", "told-support")  # learners that need the task
WITHOUT_PLANS = ("q-learning", "crm", "random")
COEFFICIENTS = ("bonus_scale", "prior", "prior_visits", "failure_prob")  # those that are nudged
OTHER_SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "headroom-theory": ("headroom", {"constants": "theory"}),
    "headroom-other-scales": ("headroom", {"deviation_scale": 0.8, "headroom_scale": 0.3, "forgotten_scale": 0.0}),
    "headroom-doubling": ("headroom", {"replan": "doubling"}),
    "ucbvi-prm-theory": ("ucbvi-prm", {"bonus_scale": 1.0}),
    "ucbvi-prm-episode": ("ucbvi-prm", {"replan": "episode"}),
    "ucbvi-prm-epoch": ("ucbvi-prm", {"replan": "epoch"}),
    "ucrl2-rm-b-as-published": ("ucrl2-rm-b", {"as_published": True}),
    "opsrl-four": ("opsrl", {"num_samples": 4}),
    "qr-max-three": ("qr-max", {"known_after": 3}),
}
KITCHEN = "#######\n#S..+c#\n#.k.#.#\n#..>#d#\n#######"
BUILT_IN = ("riverswim-5", "rooms-5", "office-coffee", "generated-lake-42", "generated-lock-7", "random-20x4x5-0")


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
        "errands": praemia.load_task(Path(__file__).with_name("errands.yaml")),
    }


@cache
def more_tasks() -> dict[str, praemia.Task]:
    """Return these and tasks that are only planned in."""
    carry = praemia.RewardMachine.from_ltlf("F(coffee & F desk) & G(coffee -> !kitchen)", pay="end")
    names: dict[str, Any] = {"legend": {"c": "coffee", "d": "desk"}, "rooms": {"k": "kitchen"}}
    grid = praemia.envs.grid(KITCHEN, **names, machine=carry, horizon=15, slip=0.25, stay=True)
    return {**tasks(), "kitchen": grid, **{name: praemia.envs.make(name) for name in BUILT_IN}}


def box() -> praemia.BlackBox:
    """Make a black box of a table."""
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    reach = praemia.MachineBuilder("away").edge("away", "goal", "there", reward=1.0).build()
    return praemia.BlackBox(lake, lambda o, a, z, info: {"goal"} if z == 15 else set(), reach, horizon=12)


class FirstPlan:
    """A learner whose first plan is made after some episodes of random policies, which no stream of its own changes."""

    replan_rule = ReplanRule.of("episode")

    def __init__(self, learner: praemia.Learner) -> None:
        self.learner, self.made = learner, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> praemia.LearnerPlan:
        spec, played = experience.spec, experience.episodes_played
        if played == PAST:
            self.made = self.learner.plan(experience, None, np.random.default_rng(7))
            return self.made
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return praemia.LearnerPlan(np.random.default_rng(played).integers(spec.num_actions, size=shape))


def learner(name: str, nudge: float, **parameters: Any) -> praemia.Learner:
    """Make a learner, its coefficients multiplied by 1 + ``nudge``."""
    known = praemia.learners.make(name, **parameters).parameters
    moved = {key: known[key] * (1.0 + nudge) for key in COEFFICIENTS if nudge and key in known}
    return praemia.learners.make(name, **{**parameters, **moved})


def plans(nudge: float) -> Iterator[Record]:
    """Plan from what was counted in a fixed past: V_0, which depends on no tie."""
    players = {name: (name, {}) for name in praemia.learners.names() if name not in WITHOUT_PLANS}
    players |= {name: own for name, own in OTHER_SETTINGS.items() if "replan" not in own[1]}
    for title, (name, parameters) in players.items():
        for task in tasks():
            first = FirstPlan(learner(name, nudge, **parameters))
            praemia.simulate(tasks()[task], first, PAST + 1, seed=4)
            yield f"{title}/{task}", first.made.values


def runs(nudge: float) -> Iterator[Record]:
    """Play every learner on every task."""
    for name in praemia.learners.names():
        for task in tasks():
            yield from played(f"{name}/{task}", learner(name, nudge), task)


def settings(nudge: float) -> Iterator[Record]:
    """Play learners at other settings than their defaults."""
    for title, (name, parameters) in OTHER_SETTINGS.items():
        for task in ("warehouse-3", "errands"):
            yield from played(f"{title}/{task}", learner(name, nudge, **parameters), task)


def boxes(nudge: float) -> Iterator[Record]:
    """Play learners in a black box."""
    for name in praemia.learners.names():
        if name not in TOLD:
            run = praemia.simulate(box(), learner(name, nudge), num_episodes=USUAL, seed=3)
            yield from parts_of(f"table/{name}", run)


def played(title: str, player: praemia.Learner, task: str) -> Iterator[Record]:
    return parts_of(title, praemia.simulate(tasks()[task], player, num_episodes=EPISODES.get(task, USUAL)))


def parts_of(title: str, run: praemia.Run) -> Iterator[Record]:
    """Record a run, and by itself how it began, where the rest may depend on how logarithms are rounded.

    The exact regret follows from the breakpoints and the values of the plans.
    """
    found = {
        "breakpoints": run.plan_episodes,
        "values": run.plan_values,
        "optimistic": run.optimistic_values,
        "returns": run.returns,
        "policy": run.final_policy,
        **({} if run.optimal_value is None else {"optimum": run.optimal_value, "regret": run.regret[-1]}),
    }
    yield title, found
    yield title + BEGINNING, {name: found[name][:EARLY] for name in ("values", "optimistic", "returns")}


def planning(nudge: float) -> Iterator[Record]:
    """Solve tasks, evaluate a randomised policy, and find where it goes."""
    for name, task in more_tasks().items():
        policy = uneven_policy(task)
        plan, found, where = praemia.solve(task), praemia.evaluate(task, policy), praemia.occupancy(task, policy)
        yield f"{name}/solve", {"value": plan.value, "values": plan.values}
        yield f"{name}/evaluate", {"value": found.value, "values": found.values}
        yield f"{name}/occupancy", {"states": where.states, "pairs": where.pairs}


def exploration(nudge: float) -> Iterator[Record]:
    """Explore by every method and plan from the data, for a machine and for rewards on trajectories."""
    scale = 0.01 * (1.0 + nudge)
    worlds: dict[str, Any] = {"warehouse-3": tasks()["warehouse-3"], "errands": tasks()["errands"], "box": box()}
    for name, world in worlds.items():
        ways: dict[str, dict[str, Any]] = {
            f"{name}/euler": {"num_episodes": 150, "method": "euler", "policy_episodes": 20},
            f"{name}/uncertainty": {"num_episodes": 300},
            f"{name}/until": {"num_episodes": 1000, "until": 0.3, "machines": [world.machine]},
        }
        for way, options in ways.items() if name != "box" else [("box", {"num_episodes": 200})]:
            data = praemia.explore(world, seed=7, scale=scale, **options)
            o, a, z = data.transitions
            sums = {"counts": data.counts, "first": data.first_counts}
            yield f"{way}/data", {"observations": o, "actions": a, "successors": z, **sums}
            plan = praemia.plan_from(data, world.machine)
            yield f"{way}/plan", {"value": plan.value, "certificate": certified(plan)}
            yield f"{way}/likely", plan.likely(draws=DRAWS, level=0.9, seed=2).losses
            back = praemia.TrajectoryReward(lambda seen: float(seen.last == seen.observations[0]), bound=1.0)
            home = praemia.plan_from(data, back, horizon=3)
            yield f"{way}/trajectory", {"value": home.value, "certificate": certified(home)}


def inference(nudge: float) -> Iterator[Record]:
    """Infer machines from the traces of a random policy."""
    for name, horizon, episodes, options in (
        ("riverswim-prm-5", 25, 300, {}),
        ("warehouse-3", 9, 200, {}),
        ("flower-4", 12, 200, {"failure_prob": 0.05}),
        ("kitchen", 20, 150, {"deterministic": True}),
    ):
        task = more_tasks()[name].with_horizon(horizon)
        seen = [praemia.rollout(task, uneven_policy(task), seed=seed) for seed in range(episodes)]
        answer = praemia.infer([[(step.label, round(step.reward, 3)) for step in one] for one in seen], **options)
        yield f"{name}/answer", answer.to_json()
        rules = [(rule.source, str(rule.guard)) for rule in answer.machine.rules]
        yield f"{name}/machine", {"states": answer.machine.states, "rules": rules}


def uneven_policy(task: praemia.Task) -> np.ndarray[Any, Any]:
    """Return a randomised policy that prefers another action at each step, machine state and observation."""
    shape = (task.horizon, task.num_machine_states, task.num_observations, task.num_actions)
    h, m, o, a = np.indices(shape)
    weights = 1.0 + (3 * h + 5 * m + 7 * o + a) % task.num_actions
    total = task.num_actions * (task.num_actions + 1) // 2  # every action has one of the weights 1 … A
    return weights / float(total)


def certified(plan: Any) -> dict[str, float]:
    """Return the numbers of a plan's certificate."""
    return {name: getattr(plan.certificate, name) for name in ("bound", "largest", "optimistic", "pessimistic")}


SECTIONS: dict[str, Callable[[float], Iterator[Record]]] = {
    section.__name__: section for section in (plans, runs, settings, boxes, planning, exploration, inference)
}

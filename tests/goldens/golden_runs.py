"""Runs: every learner on every task, learners that learn the machine, other settings, and black boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from golden_tasks import box, tasks

import praemia
from praemia.learners.replanning import ReplanRule

Record = tuple[str, Any]
EPISODES = {"flower-4": 60, "frozen-lake": 80}
USUAL = 120  # episodes elsewhere
BEGINNING, EARLY = "/beginning", 4  # how a run began: so many plans and episodes
TOLD = ("optimal", "told-support")  # those that need the task
COEFFICIENTS = ("bonus_scale", "prior", "prior_visits", "failure_prob")  # those that may be nudged
PAST = 30  # episodes before the plans of the section ``plans``
WITHOUT_PLANS = ("q-learning", "crm", "random")
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
MACHINE_LEARNERS = ("headroom", "ucbvi-prm", "psrl")
WHAT_IS_SEEN = {"states": {"learn_machine": True}, "moves": {"learn_machine": True, "moves_known": True}}


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


def plans(nudge: float) -> Iterator[Record]:
    """Plan from what was counted in a fixed past: V_0, which depends on no tie."""
    names = [name for name in praemia.learners.names() if name not in WITHOUT_PLANS]
    players: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in names}
    players |= {name: own for name, own in OTHER_SETTINGS.items() if "replan" not in own[1]}
    for title, (name, parameters) in players.items():
        for task in tasks():
            first = FirstPlan(learner(name, parameters, nudge))
            praemia.simulate(tasks()[task], first, PAST + 1, seed=4)
            yield f"{title}/{task}", first.made.values


def runs(nudge: float) -> Iterator[Record]:
    """Play every learner on every task."""
    for name in praemia.learners.names():
        for task in tasks():
            yield from played(f"{name}/{task}", name, {}, task, nudge)


def settings(nudge: float) -> Iterator[Record]:
    """Play learners at other settings than their defaults."""
    for title, (name, parameters) in OTHER_SETTINGS.items():
        for task in ("warehouse-3", "errands"):
            yield from played(f"{title}/{task}", name, parameters, task, nudge)


def learn_machine(nudge: float) -> Iterator[Record]:
    """Play learners that learn the machine too."""
    for name in MACHINE_LEARNERS:
        for seen, parameters in WHAT_IS_SEEN.items():
            for task in ("warehouse-3", "errands", "flower-4"):
                yield from played(f"{name}/{seen}/{task}", name, parameters, task, nudge)


def boxes(nudge: float) -> Iterator[Record]:
    """Play learners in a black box."""
    for name in praemia.learners.names():
        if name not in TOLD:
            run = praemia.simulate(box(), learner(name, {}, nudge), num_episodes=USUAL, seed=3)
            yield from recorded(f"table/{name}", run)


def learner(name: str, parameters: dict[str, Any], nudge: float) -> praemia.Learner:
    """Make a learner, its coefficients multiplied by 1 + ``nudge``."""
    known = praemia.learners.make(name, **parameters).parameters
    moved = {key: known[key] * (1.0 + nudge) for key in COEFFICIENTS if nudge and key in known}
    return praemia.learners.make(name, **{**parameters, **moved})


def played(title: str, name: str, parameters: dict[str, Any], task: str, nudge: float) -> Iterator[Record]:
    """Play a learner on a task and record the run."""
    one = learner(name, parameters, nudge)
    return recorded(title, praemia.simulate(tasks()[task], one, num_episodes=EPISODES.get(task, USUAL)))


def recorded(title: str, run: praemia.Run) -> Iterator[Record]:
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


PLAYED = (plans, runs, settings, learn_machine, boxes)

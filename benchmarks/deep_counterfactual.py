"""What counterfactual experience brings to the learners of stable-baselines3.

    .venv-deep/bin/python benchmarks/deep_counterfactual.py     # DQN in the warehouse, SAC in a square

A run is a file in results/deep (--folder): what is there is not done again. A score is the exact value of the greedy
policy in the warehouse, and the mean return of 20 episodes in the square. A learner has reached a return where three
scores in a row are at least that; one that never has counts as having reached it at its last step, so that the ratio
is, if anything, too small. Ratios are of mean numbers of steps, over runs with the same seeds, with 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from deep_worlds import cells, one_hot, square
from matplotlib.figure import Figure
from numpy.typing import NDArray
from stable_baselines3 import DQN, SAC
from stable_baselines3.common.callbacks import BaseCallback

import praemia
from praemia.deep import counterfactual_replay
from praemia.report.styles import styles
from praemia.statistics.intervals import quotient_interval

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from concept_pictures import svg_of

EVERY = 250  # steps between two scores
EPISODES = 20  # of a score in the square
WITH, WITHOUT = "with counterfactuals", "without"
FOR_DQN = {
    "learning_rate": 1e-3,
    "buffer_size": 100_000,
    "learning_starts": 200,
    "batch_size": 64,
    "gamma": 0.95,
    "target_update_interval": 100,
    "train_freq": 1,
    "exploration_fraction": 0.5,
    "exploration_final_eps": 0.1,
    "policy_kwargs": {"net_arch": [64, 64]},
}
FOR_SAC = {
    "learning_rate": 1e-3,
    "buffer_size": 100_000,
    "learning_starts": 500,
    "batch_size": 64,
    "gamma": 0.95,
    "ent_coef": 0.005,
    "policy_kwargs": {"net_arch": [64, 64]},
}


@dataclass(frozen=True)
class Study:
    """A comparison: which learner where, for how many steps, and the return to be reached."""

    title: str
    arms: tuple[str, ...]
    steps: int
    goal: float


STUDIES = {
    "warehouse": Study("DQN, warehouse-5", (WITHOUT, WITH), 8_000, 0.7),
    "square": Study("SAC, square", (WITHOUT, WITH), 4_000, 0.8),
}


class Scores(BaseCallback):
    """Score a learner every few steps."""

    def __init__(self, score: Callable[[Any], float]) -> None:
        super().__init__()
        self.score, self.values = score, list[float]()

    def _on_step(self) -> bool:
        if self.num_timesteps % EVERY == 0:
            self.values.append(self.score(self.model))
        return True


def exact_score(task: praemia.Task, show: Callable[[int, int], Any]) -> Callable[[Any], float]:
    """Return a function that values a learner's greedy policy exactly, given what each (o, m) looks like to it."""
    states, observations = range(task.num_machine_states), range(task.num_observations)
    shown = np.stack([show(o, m) for m in states for o in observations])

    def score(agent: Any) -> float:
        actions = agent.predict(shown, deterministic=True)[0].reshape(len(states), len(observations))
        return float(praemia.evaluate(task, np.tile(actions, (task.max_steps, 1, 1))).value)

    return score


def sampled_score(seed: int) -> Callable[[Any], float]:
    """Return a function that plays episodes of the square, all with the same seeds, and returns the mean return."""

    def score(agent: Any) -> float:
        envs = [square(1_000 * (seed + 1) + number) for number in range(EPISODES)]
        playing = {number: env.reset()[0] for number, env in enumerate(envs)}
        total = 0.0
        while playing:
            actions, _ = agent.predict(np.stack(list(playing.values())), deterministic=True)
            for number, action in zip(list(playing), actions, strict=True):
                playing[number], reward, terminated, truncated, _ = envs[number].step(action)
                total += float(reward)
                if terminated or truncated:
                    del playing[number]
        return total / EPISODES

    return score


def make_agent(study: str, arm: str, seed: int) -> tuple[Any, Callable[[Any], float]]:
    """Return a learner and how it is scored."""
    if study == "square":
        env = square(seed)
        more = counterfactual_replay(env, seed) if arm == WITH else {}
        return SAC("MlpPolicy", env, seed=seed, **FOR_SAC, **more), sampled_score(seed)
    task = praemia.envs.warehouse(size=5)
    env = cells(task)
    more = counterfactual_replay(env, seed) if arm == WITH else {}
    size, states = task.num_observations, task.num_machine_states
    return DQN("MlpPolicy", env, seed=seed, **FOR_DQN, **more), exact_score(
        task, lambda o, m: np.concatenate((one_hot(m, states), one_hot(o, size)))
    )


def play(folder: Path, study: str, arm: str, seed: int, num_steps: int) -> Path:
    """Do a run, unless it is there, and return its file."""
    path = folder / study / f"{arm.replace(' ', '-')}-{seed}.json"
    if path.exists():
        return path
    torch.set_num_threads(1)
    agent, score = make_agent(study, arm, seed)
    scores, begun = Scores(score), time.process_time()
    agent.learn(num_steps, callback=scores)
    record = {"scores": scores.values, "cpu_seconds": time.process_time() - begun}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    print(f"{study}, {arm}, seed {seed}: {scores.values[-1]:.3f} at the end", file=sys.stderr)
    return path


def reached(scores: list[float], goal: float) -> int | None:
    """Return the step of the first of three scores in a row that reach a return, or None."""
    good = np.asarray(scores) >= goal
    runs = np.flatnonzero(good[:-2] & good[1:-1] & good[2:])
    return int(runs[0] + 1) * EVERY if len(runs) else None


def show(study: Study, curves: dict[str, NDArray[np.float64]], seconds: dict[str, float]) -> None:
    """Print a study's table."""
    steps = {arm: [reached(list(scores), study.goal) for scores in found] for arm, found in curves.items()}
    filled = {arm: [study.steps if step is None else step for step in found] for arm, found in steps.items()}
    print(f"\n{study.title}: steps until the return is {study.goal}, {len(steps[WITH])} seeds, {study.steps:,} steps")
    for arm, found in steps.items():
        failed = sum(step is None for step in found)
        end = f"{curves[arm][:, -4:].mean():.3f} in the last 1,000 steps"
        line = f"  {arm:21s} mean {np.mean(filled[arm]):6,.0f}   {failed} never   {end}   {seconds[arm]:.0f} s of CPU"
        if arm != WITH:
            line += f"   ratio to ours {quotient_interval([filled[arm], filled[WITH]], [1, -1])}"
        print(line)


def draw(found: dict[str, dict[str, NDArray[np.float64]]], path: Path) -> None:
    """Plot the curves: the mean over seeds, and each seed thin."""
    figure = Figure(figsize=(3.6 * len(found), 2.8), layout="constrained")
    for axes, (name, curves) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        axes.set(title=STUDIES[name].title, xlabel="steps of the environment", ylabel="return")
        axes.spines[["top", "right"]].set_visible(False)
        for arm, style in styles((arm, arm) for arm in STUDIES[name].arms).items():
            steps = EVERY * np.arange(1, curves[arm].shape[1] + 1)
            axes.plot(steps, curves[arm].T, color=style.on_light, linewidth=0.4, alpha=0.35)
            line = {"color": style.on_light, "dashes": style.dash or (None, None)}
            axes.plot(steps, curves[arm].mean(axis=0), linewidth=2, label=arm, **line)
        axes.axhline(STUDIES[name].goal, color="#6B7280", linewidth=0.8, linestyle=":")
        axes.legend(fontsize=8, frameon=False, loc="lower right")
    path.write_text(svg_of(figure), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", action="append", choices=STUDIES, help="default: warehouse and square")
    parser.add_argument("--folder", type=Path, default=Path("results") / "deep")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--steps", type=int, help="in place of the study's")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draw", type=Path, help="an SVG of the curves")
    chosen = parser.parse_args()
    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        for name in chosen.study or ["warehouse", "square"]:
            study, seeds = STUDIES[name], range(chosen.seeds)
            study = replace(study, steps=chosen.steps or study.steps)
            waiting = {
                arm: [pool.submit(play, chosen.folder, name, arm, seed, study.steps) for seed in seeds]
                for arm in study.arms
            }
            records = {arm: [json.loads(run.result().read_text()) for run in runs] for arm, runs in waiting.items()}
            found[name] = {arm: np.array([record["scores"] for record in own]) for arm, own in records.items()}
            seconds = {arm: float(np.mean([record["cpu_seconds"] for record in own])) for arm, own in records.items()}
            show(study, found[name], seconds)
    if chosen.draw is not None:
        draw(found, chosen.draw)


if __name__ == "__main__":
    main()

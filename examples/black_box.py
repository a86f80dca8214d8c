"""Learn in a black-box Gymnasium environment: it has returns, but no known regret.

Gymnasium's frozen lake, not slippery. The machine asks for the top right corner first, then for the goal. The
environment's own reward is ignored.
"""

import gymnasium

from praemia import CRM, PSRL, UCBVIPRM, BlackBox, MachineBuilder, simulate

CORNER, GOAL = 3, 15

machine = (
    MachineBuilder(initial="first")
    .edge("first", "corner", "second", reward=0.2)
    .edge("second", "goal", "done", reward=1)
    .build()
)


def labels(o: int, a: int, o_next: int, info: dict) -> set[str]:
    """Return what a step makes true; ``info`` is the environment's dictionary for this step."""
    return {CORNER: {"corner"}, GOAL: {"goal"}}.get(o_next, set())


if __name__ == "__main__":
    box = BlackBox(gymnasium.make("FrozenLake-v1", is_slippery=False), labels, machine, horizon=20)
    for learner in (UCBVIPRM(), PSRL(), CRM()):
        returns = simulate(box, learner, num_episodes=200, seed=0).returns
        first, last = returns[:50].mean(), returns[-50:].mean()
        print(f"{learner.name:10} mean return: first 50 episodes {first:.2f}, last 50 {last:.2f}")
    print("the most that can be earned: 1.2")

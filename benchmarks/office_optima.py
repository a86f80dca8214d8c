"""The optima of QR-Max's office settings beside those that were published.

    python benchmarks/office_optima.py [--maps 1 2 3] [--discount .95]

For each building and errand: the stationary optimum with a discount of .9, how often its policy succeeds within 1,000
steps, and how long a successful episode takes; then the published length and success. With a discount of .95 all agree
within what 10,000 sampled episodes can tell but the length of 1/exp2; with .9, 2/exp4 and 2/exp5 do not. The last
column is what the published test sees: the t statistic of 100 episodes of the optimum against a policy that earns
nothing: above 1.66 the test tells the two apart.
"""

from __future__ import annotations

import argparse

import numpy as np

import praemia

STEPS = 1_000
# (map, errand): length of successful episodes, share of episodes that succeed. Trapasso, Iocchi and Patrizi 2026.
PUBLISHED = {
    (1, 1): (21.08, 0.6676), (1, 2): (39.31, 0.3940), (1, 3): (40.94, 0.3868), (1, 4): (42.23, 0.3437),
    (1, 5): (77.86, 0.1547), (2, 1): (52.46, 0.5469), (2, 2): (53.10, 0.3792), (2, 3): (63.04, 0.3725),
    (2, 4): (73.80, 0.2818), (2, 5): (123.39, 0.1415), (3, 1): (55.83, 0.3332), (3, 2): (63.76, 0.3257),
    (3, 3): (68.69, 0.3242), (3, 4): (81.91, 0.2127), (3, 5): (156.46, 0.0655),
}  # fmt: skip


def optimum(map: int, exp: int, discount: float) -> tuple[float, float, float, float]:
    """Return the discounted value at the start, length and success of the optimal policy's episodes, and the t."""
    task = praemia.envs.office_map(map, exp).with_horizon(None).with_discount(discount)
    plan = praemia.solve(task)
    # An errand pays 1, once: V_h without a discount is the chance of success within H − h steps.
    values = praemia.evaluate(task.with_horizon(STEPS).with_discount(1.0), plan).values
    done = values[::-1, task.machine.index[task.machine.initial]] @ task.mdp.start_probs
    # A return is 0, or γ to the power of a number of steps: its square is the same with the discount γ².
    square = praemia.evaluate(task.with_horizon(STEPS).with_discount(task.discount**2), plan).value
    t = np.sqrt(100.0) * plan.value / np.sqrt(square - plan.value**2)
    return plan.value, float(np.arange(1, STEPS + 1) @ np.diff(done) / done[-1]), float(done[-1]), float(t)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--maps", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--discount", type=float, default=0.9)
    chosen = parser.parse_args()
    value_of = f"value, γ = {chosen.discount:g}"
    print(f"| setting | {value_of} | length | published | success | published | t against nothing |")
    print("|---|---|---|---|---|---|---|")
    for (map, exp), (length_published, success_published) in PUBLISHED.items():
        if map not in chosen.maps:
            continue
        value, length, success, t = optimum(map, exp, chosen.discount)
        print(
            f"| map{map}-exp{exp} | {value:.3e} | {length:.2f} | {length_published:.2f} "
            f"| {success:.2%} | {success_published:.2%} | {t:.2f} |"
        )


if __name__ == "__main__":
    main()

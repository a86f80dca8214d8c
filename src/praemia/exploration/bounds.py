"""The bounds behind a certificate, each valid on the event that p lies in the confidence set.

**Distances (Lemma 2 with the roles of the models exchanged).** Let P̂ and P be the laws of the trajectory under one
policy in p̂ and in p. For any F with 0 ≤ F ≤ G, |Ĵ − J| ≤ G·TV(P̂, P). Telescoping as in the proof of Lemma 2, but with p̂
first,

    Ĵ − J = Σ_h E_{μ̂_h}[Σ_z (p̂ − p)(z|o_h, a_h)·E_p[F | η_{≤h}, z]],

so that μ̂ is computed in p̂, which is known, and because the inner expectation lies in [0, G] each term is at most
G·½‖p̂ − p‖₁ — half of Lemma 2's. The same step by step, with the total variation never above 1:

    D_h(η) = min(1, tv(o, a) + Σ_z p̂(z|o, a)·D_{h+1}(η a z)),   |Ĵ − J| ≤ G·D_0.

Maximised over actions, D* depends on (h, o) only and bounds every policy, history-dependent or not.

**Distances, for a machine.** A machine's return is not a function of η: the machine may move by chance, and a policy
may depend on where it went. Then G, the largest *mean*, is not a bound after a rare move into a state that pays much.
So the distance is measured in what can still be paid, in the product: with most[h, m] = the most that the machine can
pay on average from m on,

    B_h(o, m) = min(most[h, m], tv(o, a)·most[h, m] + Σ_z p̂(z|o, a)·Σ_m' τ(m'|m, σ)·B_{h+1}(z, m')),

because V̂ − V = (p̂ − p)(φ + W) + p̂τ(V̂_{h+1} − V_{h+1}) with 0 ≤ φ + W ≤ most[h, m]. |V̂^π − V^π| ≤ B^π along a policy,
and the maximum over actions, B*, bounds every policy of the product, the optimal one among them.

**Values, for a machine.** A pair's *set* holds the laws on all O successors that are within its KL ball and its total
variation. The largest and the smallest mean of Y = φ + W over the set are monotone in Y. A successor never seen counts
with the most (or the least) that any label which can occur there allows. From the last step backwards:

    V̄ = max_a min(most, largest mean of Ȳ) ≥ V*         because pY* ≤ pȲ ≤ the largest mean of Ȳ;
    V̲^π = max(0, smallest mean of Y̲^π) at a = π ≤ V^π   likewise.

With a discount γ, W is γ·Σ τV_{h+1}, most[h, m] is discounted, and B_{h+1} and D_{h+1} count γ times, as V_{h+1} does.

All of this holds for whatever machine, labels and policy, also those chosen after looking at the data: the sets do not
depend on them.

**For a machine fixed before the data.** With the labels and the horizon fixed too, Y* is a function that does not
depend on the data, so part 3 of the confidence bounds its mean by that over a KL ball of another radius, in which O
does not appear; the smaller radius is used. (A machine chosen after the data is a Y* chosen after the data: one that
pays where p̂ exceeds p is overrated by tv, which can be far more.) That bound is monotone in Y* as well, so it may be
taken of Ȳ and Y̲, which are known:

    V̄ as above, and V̲ = smallest mean of Y̲ at a = π ≤ V*,  because V* ≥ Q*(π) = pY*.

π itself may depend on the data, so Y^π and Y* − Y^π always meet the sets of parts 1 and 2.

**The loss, from the optimum and the plan together.** D_h = V*_h − V^π_h ≥ 0 has V* and V^π in the *same* p. At the
policy's own action they differ by p(Y* − Y^π) = pτD_{h+1} alone, whatever they are. At another action a,

    Q*(a) − V^π ≤ Q̄(a) − V̲^π,   and   Q*(a) − V^π = Q*(a) − Q*(π) + pτD_{h+1} ≤ Q̄(a) − Q̲(π) + pτD_{h+1},

so that D ≤ max_a min(Q̄(a) − V̲^π, [a ≠ π]·(Q̄(a) − Q̲(π)) + the largest mean of τD_{h+1} at π). An action with
Q̄(a) < V̲^π adds nothing: it is not optimal. Because V^π = Q*(π) − pτD_{h+1}, Q̲(π) less that mean is one more V̲^π.

For a plan that is optimal in p̂, D ≤ B* + B^π: the largest mean of Ȳ within a total variation is at most
p̂Ȳ + tv·most, so that V̄ ≤ V̂ + B*, and likewise V̲^π ≥ V̂ − B^π. So D alone makes the certificate of a machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.confidence import Confidence, function_radii
from praemia.exploration.estimate import Estimate
from praemia.kernels import certify
from praemia.kernels.records import Actions, padded_width
from praemia.kernels.references import by_reference
from praemia.tasks.model import padded_exits

Values = NDArray[np.float64]


class MachineBounds(NamedTuple):
    """What is known of a machine's values from an estimate, at the first step in the initial machine state."""

    upper: Values  # [O], ≥ V*
    lower: Values  # [O], ≤ V^π
    loss: Values  # [O], ≥ V* − V^π
    farthest: Values  # [O], B*
    distance: Values  # [O], B^π


def machine_bounds(estimate: Estimate, confidence: Confidence, policy: Actions) -> MachineBounds:
    """Bound values, the loss and distances in an estimate; ``policy`` is [H, O, M].

    Part 3 is used when the confidence has it.
    """
    model, data = estimate.model, _bound_arrays(estimate, confidence)
    values = np.zeros((*policy.shape[1:], certify.NUM_BOUNDS))
    certify.bound_values(by_reference(data), np.ascontiguousarray(policy), model.discount, values)
    first = values[:, model.table.initial].T
    return MachineBounds(
        upper=first[certify.UPPER],
        lower=-first[certify.OWN],
        loss=first[certify.LOSS],
        farthest=first[certify.FARTHEST],
        distance=first[certify.DISTANCE],
    )


def _bound_arrays(estimate: Estimate, confidence: Confidence) -> certify.BoundArrays:
    """Return what the kernel works on."""
    model, visits = estimate.model, estimate.dataset.visits
    width = padded_width(model.num_machine_states)
    layers, support = model.table.layers(width), estimate.spec.every_step.support_for(width)
    gains, costs, moves = (
        certify.Payments(
            layers._replace(paid=factor * layers.paid),
            factor * padded_exits(model.exits, width),
            support._replace(layers=support.layers._replace(paid=factor * support.layers.paid)),
        )
        for factor in (1.0, -1.0, 0.0)
    )
    fixed = np.full(visits.size, -1.0)
    if confidence.function_part > 0.0:
        fixed = function_radii(visits, confidence, model.horizon, model.num_machine_states).ravel()
    return certify.BoundArrays(
        model=model.arrays,
        gains=gains,
        costs=costs,
        moves=moves,
        radii=np.stack((confidence.kl.ravel(), fixed, confidence.tv.ravel()), axis=1),
        most=estimate.most,
        tables=np.zeros((certify.NUM_BOUNDS, model.num_rows, width)),
        tops=np.zeros((certify.NUM_OVER_SETS, (len(support.group_indptr) - 1) * width)),
        tops_by_label=np.zeros((len(support.indptr) - 1) * width),
        successors=np.zeros(int(np.diff(model.arrays.indptr).max())),
    )

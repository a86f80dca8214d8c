"""The services that learners plan with: a backward pass with a bonus, and one step of it for any other form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia._support.limits import require_memory
from praemia.errors import ParameterError, PlanError, require_whole, unknown_name
from praemia.kernels import linear
from praemia.kernels.counts import SLOTS
from praemia.kernels.linear import PassArrays, Scratch
from praemia.kernels.records import END, Actions, LayerArrays, action_type, padded_width
from praemia.kernels.ties import new_stream
from praemia.learners.base import LearnerPlan
from praemia.learners.experience import Experience
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.model import read_only
from praemia.tasks.spec import TaskSpec

LARGE = 1 << 28  # from so many bytes on, action values must be known to fit in memory
VARIANCES = ("Y", "W")
FAULTS = {
    linear.WRONG_BONUS: "bonus has NaN or −∞ in it; expected numbers",
    linear.WRONG_SCALE: "deviation_scale has NaN or ∞ in it; expected finite numbers",
}
Machine = tuple[NDArray[np.float64], NDArray[np.float64]]


def plan_with_bonus(
    experience: Experience,
    bonus: ArrayLike,
    *,
    deviation_scale: ArrayLike = 0.0,
    growth: float = 1.0,
    cap: str | ArrayLike = "steps left",
    monotone_with: LearnerPlan | None = None,
    variance_of: str = "Y",
    machine: Machine | None = None,
    rng: np.random.Generator,
) -> LearnerPlan:
    """Plan backwards with optimism that is linear in the mean and the deviation of what follows, V_h = max_a Q_h.

        Q_h(o, m, a) = min{cap_h, Q_h of the previous plan, growth·p̂Y + deviation_scale·√Var_p̂(Y) + bonus},

    where Y = φ + γW_{h+1} is the reward of a step and the value after it, both given the next observation. A pair never
    visited has cap_h. Every learner of this form shares one compiled pass, so a new one compiles nothing.
    Observations never met keep the actions that they have.

    Parameters
    ----------
    bonus, deviation_scale : arrays that broadcast to [H, M, O, A]; [O, A] for what is the same at every step. A bonus
        may be +∞: the pair has the cap then.
    growth : multiplies the mean.
    cap : "steps left", the largest return from step h on (``spec.value_caps[h]``); "horizon", the largest return of an
        episode at every step; or an array [H].
    monotone_with : the previous plan, which Q must not exceed, or None. Pairs that were unvisited then have no bound.
    variance_of : "Y", or "W" for the variance of γW alone, without the reward.
    machine : probs[L, M, M] and rewards[H, L, M] to plan with where the machine is learned. The rewards may include a
        bonus for what is not known of a machine state and a label.
    rng : the run's generator. Equal best actions are sampled uniformly, in the order of steps from the last to the
        first, observations, machine states.

    Examples
    --------
    >>> import numpy as np
    >>> import praemia
    >>> class Curious(praemia.Learner):
    ...     def plan(self, experience, previous, rng):
    ...         bonus = 0.1 / np.sqrt(np.maximum(1, experience.visits))
    ...         return praemia.plan_with_bonus(experience, bonus, rng=rng)
    >>> praemia.simulate(praemia.envs.make("warehouse-3"), Curious(), num_episodes=50).learner
    'curious'
    """
    spec, counts = experience.spec, experience._counts
    task = pass_arrays(spec, variance_of, machine)
    width, slots = len(task.is_done), int(counts.totals[SLOTS])
    sizes = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)
    alpha = _coefficients("deviation_scale", deviation_scale, sizes, width)
    beta = _coefficients("bonus", bonus, sizes, width)
    old = np.empty((spec.horizon, 0)) if monotone_with is None else _action_values(monotone_with, spec, width)
    keeps = monotone_with is not None or experience._policy is None  # the first plan does not know whether it is needed
    if keeps and 8 * spec.horizon * slots * width >= LARGE:
        require_memory(8 * spec.horizon * slots * width, "the action values of a plan")
    new = np.empty((spec.horizon, slots * width if keeps else 0))
    policy, scratch = next_policy(experience, rng), scratch_for(experience, task)
    caps, stream = _caps(cap, spec), new_stream(rng)
    fault = linear.plan_from_counts(task, counts, scratch, alpha, beta, float(growth), caps, old, new, policy, stream)
    if fault:
        raise ParameterError(FAULTS[fault])
    return checked_plan(policy, scratch.tables, new if keeps else None)


def checked_plan(policy: Actions, tables: NDArray[np.float64], memory: Any = None) -> LearnerPlan:
    """Return a plan that a kernel made, policy[H, O, M] and V_0 in tables[0], copied; it need not be checked."""
    _, size, num_states = policy.shape
    width = padded_width(num_states)
    values = tables[0, : size * width].reshape(size, width)[:, :num_states].T
    return LearnerPlan._of_kernel(policy, values.copy(), memory)


def scratch_for(experience: Experience, task: PassArrays) -> Scratch:
    """Return arrays to plan in: the same for every plan of a run, until what is counted needs more room."""
    kept, sizes = experience._kept, (len(task.is_done), len(task.added))
    if sizes not in kept:
        kept[sizes] = linear.new_scratch(task, experience._counts)
    return kept[sizes]  # type: ignore[no-any-return]


def next_policy(experience: Experience, rng: np.random.Generator) -> Actions:
    """Return a copy of the policy [H, O, M] played so far, for a plan to change; a random one before the first plan."""
    spec, policy = experience.spec, experience._policy
    if policy is not None and policy.ndim == 3:
        return policy.copy()
    shape = (spec.horizon, spec.num_observations, spec.num_machine_states)
    return rng.integers(0, spec.num_actions, size=shape, dtype=action_type(spec.num_actions))


def pass_arrays(spec: TaskSpec, variance_of: str = "Y", machine: Machine | None = None) -> PassArrays:
    """Return what a backward pass needs to know of a task."""
    if machine is not None and spec.possible is None:
        raise ParameterError("machine: the machine is known here; expected None")
    if machine is not None:
        return _with_machine(spec, *machine)
    if spec.possible is not None:
        raise ParameterError("the machine is learned here; expected machine=(probs[L, M, M], rewards[H, L, M])")
    passes = spec.kept
    if variance_of not in passes:
        if variance_of not in VARIANCES:
            raise unknown_name("variance_of", variance_of, VARIANCES)
        task = arrays_on(spec, spec.table)
        if variance_of == "W":
            task = task._replace(paid=np.zeros_like(task.paid), added=task.paid[0])
        passes[variance_of] = task
    return passes[variance_of]  # type: ignore[no-any-return]


def arrays_on(spec: TaskSpec, table: MachineTable) -> PassArrays:
    """Return the same for the machine tabulated on other labels."""
    passes = spec.kept
    if table not in passes:
        layers = table.layers(padded_width(spec.num_machine_states))
        passes[table] = _arrays(spec, layers, layers.paid[None], np.zeros(0))
    return passes[table]  # type: ignore[no-any-return]


def _arrays(spec: TaskSpec, layers: LayerArrays, paid: NDArray[np.float64], added: NDArray[np.float64]) -> PassArrays:
    width = padded_width(spec.num_machine_states)
    is_done = np.pad(spec.is_done.astype(np.float64), (0, width - spec.num_machine_states))
    return PassArrays(layers, paid, added, spec.exits[:, END, 0].copy(), is_done, spec.discount)


def _with_machine(spec: TaskSpec, probs: NDArray[np.float64], rewards: NDArray[np.float64]) -> PassArrays:
    """Return the same for a machine that is given as arrays: every machine state is a target of every label."""
    probs, rewards = np.asarray(probs, dtype=np.float64), np.asarray(rewards, dtype=np.float64)
    num_states, width = spec.num_machine_states, padded_width(spec.num_machine_states)
    num_labels = len(probs)
    expected = {"probs": (num_labels, num_states, num_states), "rewards": (spec.horizon, num_labels, num_states)}
    for name, array in (("probs", probs), ("rewards", rewards)):
        if array.shape != expected[name] or not np.isfinite(array).all():
            raise ParameterError(
                f"machine: {name} of shape {array.shape}; expected finite numbers of shape {expected[name]}"
            )
    columns = [(0, 0), (0, 0), (0, width - num_states)]
    layers = LayerArrays(
        indptr=np.arange(num_labels + 1, dtype=np.int64) * num_states,
        common=np.tile(np.arange(num_states, dtype=np.int32), num_labels),
        targets=np.zeros(num_labels * num_states * width, dtype=np.uint32),
        probs=np.pad(probs.swapaxes(1, 2), columns).ravel(),
        paid=np.zeros(num_labels * width),
    )
    return _arrays(spec, layers, np.pad(rewards, columns).reshape(spec.horizon, -1), np.zeros(0))


def _caps(cap: str | ArrayLike, spec: TaskSpec) -> NDArray[np.float64]:
    """Return the cap of each step."""
    if isinstance(cap, str):
        if cap not in spec.named_caps:
            raise unknown_name("cap", cap, spec.named_caps)
        return spec.named_caps[cap]
    caps = np.array(cap, dtype=np.float64)
    if caps.shape != (spec.horizon,) or not np.isfinite(caps).all():
        raise ParameterError(f"cap of shape {caps.shape}; expected a word or finite numbers of shape ({spec.horizon},)")
    return caps


def _coefficients(name: str, numbers: ArrayLike, sizes: tuple[int, int, int, int], width: int) -> NDArray[np.float64]:
    """Return numbers that broadcast to [H, M, O, A] as kernels take them, [H, O, A, W]; axes of length 1 stay so."""
    array = np.asarray(numbers, dtype=np.float64)
    shape = (1,) * (4 - array.ndim) + array.shape
    if len(shape) > 4 or not all(map(_fits, shape, sizes)):
        raise ParameterError(f"{name} of shape {array.shape}; expected one that broadcasts to [H, M, O, A] = {sizes}")
    steps, states, observations, actions = shape
    if states > 1:
        columns = [(0, 0)] * 3 + [(0, width - states)]
        return np.ascontiguousarray(np.pad(array.reshape(shape).transpose(0, 2, 3, 1), columns))
    if not (array.flags.writeable and array.flags.c_contiguous):
        array = array.copy()
    return array.reshape(steps, observations, actions, 1)


def _fits(size: int, most: int) -> bool:
    return size == most or size == 1


def _action_values(previous: LearnerPlan, spec: TaskSpec, width: int) -> NDArray[np.float64]:
    """Return Q of the previous plan, [H, slots·W]."""
    memory = getattr(previous, "memory", None)
    if isinstance(memory, np.ndarray) and memory.dtype == np.float64 and memory.ndim == 2:
        fits = len(memory) == spec.horizon and memory.shape[1] % width == 0
        if fits and memory.flags.c_contiguous and memory.flags.writeable:
            return memory
    raise PlanError(
        "monotone_with is a plan without the action values of plan_with_bonus; pass on its memory: "
        "LearnerPlan(policy, plan.values, plan.memory)"
    )


def back_up_values(
    experience: Experience, values: ArrayLike, step: int, machine: Machine | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the deviation of Y at a step, both [M, O, A] (``Experience.backup``)."""
    spec = experience.spec
    task, after = pass_arrays(spec, "Y", machine), np.asarray(values, dtype=np.float64)
    expected = (spec.num_machine_states, spec.num_observations)
    if after.shape != expected or not np.isfinite(after).all():
        raise ParameterError(f"values of shape {after.shape}; expected finite numbers of shape [M, O] = {expected}")
    step = require_whole("step", step, 0, spec.horizon - 1)
    width, num_pairs = len(task.is_done), spec.num_observations * spec.num_actions
    padded = np.pad(after.T, [(0, 0), (0, width - expected[0])]).ravel()
    mean, deviation = np.zeros(num_pairs * width), np.zeros(num_pairs * width)
    counts = experience._counts
    linear.back_up(task, counts, scratch_for(experience, task), padded, step, mean, deviation)
    shape = (spec.num_observations, spec.num_actions, width)
    shown = (it.reshape(shape)[:, :, : expected[0]].transpose(2, 0, 1) for it in (mean, deviation))
    first, second = map(read_only, shown)
    return first, second

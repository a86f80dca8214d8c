"""Labelled MDPs from Gymnasium environments that carry their transition table.

FrozenLake, CliffWalking, Taxi and others have ``unwrapped.P[s][a] = [(probability, next, reward,
terminated), …]``. The table's rewards are not used: a machine pays here, for labels. Entries with the
same successor are summed.

The table is indexed by what the environment shows and takes: whole numbers for Discrete spaces, from their start on,
and tuples of whole numbers for MultiDiscrete, MultiBinary, Tuple and Dict (its values, in the order of the space). In
the MDP they are numbered from 0, as ``praemia.envs.spaces`` does, and keep their names.

Ended episodes. In the table an episode ends by the flag, whatever the row of the observation that was
reached says (CliffWalking's goal has an ordinary row). Here episodes always last for the horizon, so an
ended one waits in an absorbing observation, where machines halt (``AFTER_THE_END``):

* an observation that is only ever entered with the flag becomes absorbing itself;
* one that is entered both ways, or that episodes may start in, keeps its row, and a *twin* of it that is
  absorbing is appended after the other observations. The label of a transition into a twin is the label of
  the one into the original.

Entries count wherever they stand in the table, even in rows that no episode reaches; Taxi has such rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import require_env
from praemia.envs.gymnasium_maps import with_own_map
from praemia.envs.spaces import FiniteNumbering, number_space
from praemia.errors import ModelError, ParameterError, PraemiaError, UnknownNameError
from praemia.machines.labels import AFTER_THE_END, FunctionLabelling, Indices, Label, Labelling, Labels, as_labelling
from praemia.tasks.mdp import LabeledMDP

if TYPE_CHECKING:
    import gymnasium

# Gymnasium's own wrappers that leave observations, actions and their probabilities as they are.
HARMLESS = {
    *("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics", "Autoreset"),
    *("ClipReward", "TransformReward", "NormalizeReward"),
    *("RecordVideo", "HumanRendering", "RenderCollection", "AddWhiteNoise", "ObstructView"),
}
NUM_STARTS = 20  # resets that tell whether episodes always start alike


@dataclass(frozen=True, eq=False)
class EndingLabelling(Labelling):
    """The labels of a table with twins: a twin is labelled as its original, and machines halt in what has ended.

    Attributes
    ----------
    inner : the labels of the environment's own transitions.
    originals : int64[O], the environment's observation behind each observation.
    ended : bool[O], whether an observation is absorbing.
    """

    inner: Labelling
    originals: NDArray[np.int64]
    ended: NDArray[np.bool_]

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        live = ~self.ended[sources]
        numbers, labels = self.inner.of(self.originals[sources[live]], actions[live], self.originals[targets[live]])
        all_numbers = np.zeros(len(sources), dtype=np.int32)
        all_numbers[live] = numbers + 1
        return all_numbers, [AFTER_THE_END, *labels]

    def propositions(self) -> Label | None:
        return self.inner.propositions()


def from_gymnasium(env_or_id: gymnasium.Env[Any, Any] | str, labels: Labels, **make_kwargs: Any) -> LabeledMDP:
    """Make a labelled MDP from the transition table of a Gymnasium environment.

    Parameters
    ----------
    env_or_id : an environment, or an id such as ``"FrozenLake-v1"``. Wrappers that change observations, actions or what
        happens are refused, because the table does not know of them.
    labels : a function (o, a, o') → propositions of what the environment shows and takes; or label rules, which name
        observations and actions by number, counting from 0.
    make_kwargs : arguments of ``gymnasium.make`` for an id.

    Returns
    -------
    The MDP. Episodes start as in ``unwrapped.initial_state_distrib`` where the environment has one, else always in the
    observation that ``reset`` returns; an environment that starts at random without saying how is refused. Time limits
    of wrappers are left to the task's horizon.

    Examples
    --------
    >>> import praemia
    >>> rules = [praemia.LabelRule("goal", target=15)]
    >>> mdp = praemia.envs.from_gymnasium("FrozenLake-v1", rules, is_slippery=True)
    >>> mdp.num_actions
    4
    """
    if isinstance(env_or_id, str):
        env = _make(env_or_id, make_kwargs)
        try:
            return with_own_map(_convert(env, labels), env)
        finally:
            env.close()
    if make_kwargs:
        raise ParameterError(f"{', '.join(make_kwargs)}: arguments are for an id, not for an environment")
    require_env(env_or_id)
    return with_own_map(_convert(env_or_id, labels), env_or_id)


def _make(env_id: str, kwargs: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    import gymnasium

    try:
        env: gymnasium.Env[Any, Any] = gymnasium.make(env_id, **kwargs)
    except PraemiaError:
        raise
    except (gymnasium.error.UnregisteredEnv, ModuleNotFoundError) as error:
        raise UnknownNameError(f"Gymnasium has no environment {env_id!r}: {_first_line(error)}") from None
    except Exception as error:  # a constructor may raise anything about its arguments
        raise ParameterError(f"Gymnasium cannot make {env_id!r}: {_first_line(error)}") from error
    return env


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _convert(env: gymnasium.Env[Any, Any], labels: Labels) -> LabeledMDP:
    _check_wrappers(env)
    observations, actions = _numberings(env)
    num_observations, num_actions = observations.size, actions.size
    start = _start(env, observations)
    o, a, z, probs, flags = _columns(env, observations, actions)
    alive, over = start > 0.0, np.zeros(num_observations, dtype=bool)
    alive[z[~flags]] = True
    over[z[flags]] = True

    twins = np.flatnonzero(alive & over)
    originals = np.concatenate([np.arange(num_observations), twins])
    ended = np.concatenate([over & ~alive, np.ones(len(twins), dtype=bool)])
    waiting_place = np.arange(num_observations)
    waiting_place[twins] = num_observations + np.arange(len(twins))

    kept = ~ended[o]
    waiting = np.repeat(np.flatnonzero(ended), num_actions)
    return LabeledMDP.from_entries(
        len(originals),
        num_actions,
        np.concatenate([o[kept], waiting]),
        np.concatenate([a[kept], np.tile(np.arange(num_actions), int(ended.sum()))]),
        np.concatenate([np.where(flags, waiting_place[z], z)[kept], waiting]),
        np.concatenate([probs[kept], np.ones(len(waiting))]),
        labels=EndingLabelling(_own_terms(labels, observations, actions), originals, ended),
        start=np.concatenate([start, np.zeros(len(twins))]),
        observations=_with_twins(observations.names(), twins),
        actions=actions.names(),
    )


def _check_wrappers(env: gymnasium.Env[Any, Any]) -> None:
    from gymnasium import Wrapper

    layer = env
    while isinstance(layer, Wrapper):
        kind = type(layer)
        if kind.__name__ not in HARMLESS or not kind.__module__.startswith("gymnasium."):
            raise ModelError(
                f"{_name(env)} is wrapped in {kind.__name__}, which the table does not know; give env.unwrapped, or "
                "use BlackBox"
            )
        layer = layer.env


def _own_terms(labels: Labels, observations: FiniteNumbering, actions: FiniteNumbering) -> Labelling:
    """Return the labels of numbered transitions; a function is asked in the environment's own terms."""
    labelling = as_labelling(labels)
    if not isinstance(labelling, FunctionLabelling):
        return labelling
    ask, shown, taken = labelling.function, observations.element, actions.element
    return FunctionLabelling(lambda o, a, z: ask(shown(o), taken(a), shown(z)))


def _with_twins(names: tuple[str, ...] | None, twins: NDArray[np.int64]) -> tuple[str, ...] | None:
    return None if names is None else (*names, *(f"{names[o]} (ended)" for o in twins.tolist()))


def _numberings(env: gymnasium.Env[Any, Any]) -> tuple[FiniteNumbering, FiniteNumbering]:
    """Number observations and actions, or say why there is no table to use."""
    remedy = "only finite spaces have a table; BlackBox takes any environment"
    observations = number_space(env.observation_space, f"{_name(env)}'s observation", remedy)
    actions = number_space(env.action_space, f"{_name(env)}'s action", remedy)
    if not hasattr(env.unwrapped, "P"):
        raise ModelError(
            f"{_name(env)} has no transition table (unwrapped.P); only environments with one, such as "
            "FrozenLake-v1, can be converted"
        )
    if getattr(env.unwrapped, "fickle_passenger", False):
        raise ModelError(f"{_name(env)}: the table does not know of fickle passengers; make it without them")
    return observations, actions


def _columns(
    env: gymnasium.Env[Any, Any], observations: FiniteNumbering, actions: FiniteNumbering
) -> tuple[Indices, Indices, Indices, NDArray[np.float64], NDArray[np.bool_]]:
    """Return the table's entries of positive probability as columns o, a, o', probability, terminated."""
    table: Any = env.unwrapped.P  # type: ignore[attr-defined]
    numbers = {observations.key(o): o for o in range(observations.size)}
    taken = [(a, actions.key(a)) for a in range(actions.size)]
    try:
        entries = [
            (o, a, numbers.get(z, -1), float(probability), bool(terminated))
            for key, o in numbers.items()
            for a, action in taken
            for probability, z, _, terminated in table[key][action]
            if probability != 0.0
        ]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"{_name(env)}: its table is not P[s][a] = [(probability, next, reward, terminated), …] "
            f"for every s and a ({type(error).__name__}: {error})"
        ) from None
    if not entries or min(z for _, _, z, _, _ in entries) < 0:
        raise ModelError(f"{_name(env)}: its table leads outside the observation space {env.observation_space}")
    o, a, z, probs, flags = zip(*entries, strict=True)
    return np.array(o), np.array(a), np.array(z), np.array(probs), np.array(flags)


def _start(env: gymnasium.Env[Any, Any], observations: FiniteNumbering) -> NDArray[np.float64]:
    """Return the distribution of the first observation."""
    given = getattr(env.unwrapped, "initial_state_distrib", None)
    if given is not None:
        start = np.array(given, dtype=np.float64)
        if start.shape != (observations.size,):
            raise ModelError(f"{_name(env)}: initial_state_distrib has shape {start.shape}")
        return start
    firsts = {observations.number(env.unwrapped.reset(seed=seed)[0]) for seed in range(NUM_STARTS)}
    if len(firsts) > 1:
        raise ModelError(
            f"{_name(env)}: {NUM_STARTS} resets gave {len(firsts)} different first observations, and their "
            "probabilities are not known; give them as env.unwrapped.initial_state_distrib, an array with one "
            f"probability for each of the {observations.size:,} observations"
        )
    start = np.zeros(observations.size)
    start[firsts.pop()] = 1.0
    return start


def _name(env: gymnasium.Env[Any, Any]) -> str:
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__

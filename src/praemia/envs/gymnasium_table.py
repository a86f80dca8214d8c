"""Labelled MDPs from Gymnasium environments that carry their transition table.

FrozenLake, CliffWalking, Taxi and others have ``unwrapped.P[s][a] = [(probability, next, reward,
terminated), …]``. The table's rewards are not used: a machine pays here, for labels. Entries with the
same successor are summed.

The table is indexed by what the environment shows and takes: whole numbers for Discrete spaces, from their start on,
and tuples of whole numbers for MultiDiscrete, MultiBinary, Tuple and Dict (its values, in the order of the space). In
the MDP they are numbered from 0, as ``praemia.envs.spaces`` does, and keep their names.

An episode ends by the table's flag, whatever the row of the observation that was reached says (CliffWalking's goal has
an ordinary row). Entries count wherever they stand in the table, even in rows that no episode reaches; Taxi has such
rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import require_env
from praemia.envs.gymnasium_maps import with_own_map
from praemia.envs.spaces import FiniteNumbering, number_space
from praemia.errors import ModelError, ParameterError, PraemiaError, UnknownNameError
from praemia.machines.labels import FunctionLabelling, Indices, Labelling, Labels, as_labelling
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
    o, a, z, probs, ends = _columns(env, observations, actions)
    return LabeledMDP.from_entries(
        observations.size,
        actions.size,
        o,
        a,
        z,
        probs,
        labels=_own_terms(labels, observations, actions),
        start=_start(env, observations),
        ends=ends,
        observations=observations.names(),
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

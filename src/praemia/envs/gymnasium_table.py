"""Labelled MDPs from Gymnasium environments that carry their transition table.

FrozenLake, CliffWalking, Taxi and others have ``unwrapped.P[s][a] = [(probability, next, reward, terminated), …]``. The
table's rewards are ignored: the machine has the rewards. Entries with the same successor are summed.

Keys of the table are integers for Discrete spaces, from their start on, and tuples of integers for MultiDiscrete,
MultiBinary, Tuple and Dict (its values, in the order of the space). In the MDP observations and actions have indices
from 0, as in ``praemia.envs.indexing``, and keep their names. An episode ends by the table's flag, whatever the row of
the observation that was reached says (CliffWalking's goal has an ordinary row).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import require_env
from praemia.envs.indexing import FiniteIndex
from praemia.errors import ModelError, ParameterError, PraemiaError, UnknownNameError, located
from praemia.labels import Predicates
from praemia.machines.labels import Labelling, Labels, as_labelling
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Spot

if TYPE_CHECKING:
    import gymnasium

# Gymnasium's own wrappers that leave observations, actions and their probabilities as they are.
HARMLESS = {
    *("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics", "Autoreset"),
    *("ClipReward", "TransformReward", "NormalizeReward"),
    *("RecordVideo", "HumanRendering", "RenderCollection", "AddWhiteNoise", "ObstructView"),
}
ACTIONS = {"FrozenLakeEnv": ("left", "down", "right", "up"), "CliffWalkingEnv": ("up", "right", "down", "left")}
MARKS = {
    "S": Mark("S", is_start=True),
    "H": Mark("H", "a hole, which ends the episode", role="danger"),
    "G": Mark("G", "the goal"),
    "C": Mark("C", "the cliff: back to the start", role="danger"),
}
NUM_STARTS = 20  # resets, to see whether episodes always start alike


def from_gymnasium(env_or_id: gymnasium.Env[Any, Any] | str, labels: Labels, **make_kwargs: Any) -> LabeledMDP:
    """Make a labelled MDP from the transition table of a Gymnasium environment.

    Parameters
    ----------
    env_or_id : an environment, or an id such as ``"FrozenLake-v1"``. Wrappers that change observations, actions or
        transitions are an error, because the table ignores them.
    labels : a function (o, a, o') → propositions, or a dictionary, from next observations to propositions or from
        propositions to functions, in the environment's own terms; predicates (``praemia.labels``); or label rules,
        which name observations and actions by their indices, from 0.
    make_kwargs : arguments of ``gymnasium.make`` for an id.

    Returns
    -------
    The MDP. Episodes start as in ``unwrapped.initial_state_distrib`` where the environment has one, else always in the
    observation that ``reset`` returns; an environment that starts at random without saying how is refused. Time limits
    of wrappers are left to the task's horizon.

    Examples
    --------
    >>> import praemia
    >>> mdp = praemia.envs.from_gymnasium("FrozenLake-v1", {15: "goal"}, is_slippery=True)
    >>> mdp.num_actions
    4
    """
    is_id = isinstance(env_or_id, str)
    if make_kwargs and not is_id:
        raise ParameterError(f"{', '.join(make_kwargs)}: arguments are for an id, not for an environment")
    env: Any = make_env(env_or_id, make_kwargs) if isinstance(env_or_id, str) else env_or_id
    require_env(env)
    try:
        return _convert(env, labels)
    finally:
        if is_id:
            env.close()


def make_env(env_id: str, kwargs: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Make an environment by its id, or raise an error of one line."""
    import gymnasium

    try:
        return gymnasium.make(env_id, **kwargs)
    except PraemiaError:
        raise
    except Exception as error:  # a constructor may raise anything about its arguments
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, gymnasium.error.UnregisteredEnv | ModuleNotFoundError):
            raise UnknownNameError(f"Gymnasium has no environment {env_id!r}: {reason}") from None
        raise ParameterError(f"Gymnasium cannot make {env_id!r}: {reason}") from error


def _convert(env: gymnasium.Env[Any, Any], labels: Labels) -> LabeledMDP:
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    _check_wrappers(env, name)
    remedy = "only finite spaces have a table; BlackBox takes any environment"
    observations = FiniteIndex(env.observation_space, f"{name}'s observation", remedy)
    actions = FiniteIndex(env.action_space, f"{name}'s action", remedy)
    mdp = LabeledMDP.from_entries(
        observations.size,
        actions.size,
        **_columns(env, name, observations, actions),
        labels=_own_terms(labels, observations, actions),
        start=_start(env, name, observations),
        observations=observations.names(),
        actions=actions.names(),
    )
    picture = _map_of(env, mdp)
    return mdp if picture is None else mdp.with_map(picture)


def _check_wrappers(env: gymnasium.Env[Any, Any], name: str) -> None:
    from gymnasium import Wrapper

    layer = env
    while isinstance(layer, Wrapper):
        kind = type(layer)
        if kind.__name__ not in HARMLESS or not kind.__module__.startswith("gymnasium."):
            raise ModelError(
                f"{name} is wrapped in {kind.__name__}, which the table does not know; give env.unwrapped, or use "
                "BlackBox"
            )
        layer = layer.env
    if getattr(layer, "fickle_passenger", False):
        raise ModelError(f"{name}: the table does not know of fickle passengers; make it without them")


def _own_terms(labels: Labels, observations: FiniteIndex, actions: FiniteIndex) -> Labelling:
    """Return the labels of transitions between indices, from a function or dictionary in the environment's terms."""
    if isinstance(labels, Mapping) and not any(map(callable, labels.values())):
        with located("labels"):
            labels = {observations.number(o): names for o, names in labels.items()}  # type: ignore[assignment]
    if isinstance(labels, Predicates):
        labels.require_spaces(observations.space, actions.space)
    labelling = as_labelling(labels)
    if labelling.function is None:
        return labelling
    label, observation, action = labelling.function, observations.element, actions.element
    return Labelling(function=lambda o, a, z: label(observation(o), action(a), observation(z)))


def _columns(
    env: gymnasium.Env[Any, Any], name: str, observations: FiniteIndex, actions: FiniteIndex
) -> dict[str, NDArray[Any]]:
    """Return the table's entries of positive probability as columns."""
    table: Any = getattr(env.unwrapped, "P", None)
    if table is None:
        raise ModelError(
            f"{name} has no transition table (unwrapped.P); only environments with one, such as FrozenLake-v1, can be "
            "converted"
        )
    indices = {observations.key(o): o for o in range(observations.size)}
    try:
        entries = [
            (o, a, indices.get(z, -1), float(probability), bool(terminated))
            for key, o in indices.items()
            for a in range(actions.size)
            for probability, z, _, terminated in table[key][actions.key(a)]
            if probability != 0.0
        ]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"{name}: its table is not P[s][a] = [(probability, next, reward, terminated), …] for every s and a "
            f"({type(error).__name__}: {error})"
        ) from None
    if not entries or min(z for _, _, z, _, _ in entries) < 0:
        raise ModelError(f"{name}: its table leads outside the observation space {env.observation_space}")
    return dict(zip(("o", "a", "z", "probs", "ends"), map(np.array, zip(*entries, strict=True)), strict=True))


def _start(env: gymnasium.Env[Any, Any], name: str, observations: FiniteIndex) -> Any:
    """Return the distribution of the first observation."""
    own = getattr(env.unwrapped, "initial_state_distrib", None)
    if own is not None:
        return np.array(own, dtype=np.float64)
    firsts = {observations.number(env.unwrapped.reset(seed=seed)[0]) for seed in range(NUM_STARTS)}
    if len(firsts) > 1:
        raise ModelError(
            f"{name}: {NUM_STARTS} resets gave {len(firsts)} different first observations, and their probabilities are "
            "not known; give them as env.unwrapped.initial_state_distrib, an array with one probability for each of "
            f"the {observations.size:,} observations"
        )
    return firsts.pop()


def _map_of(env: gymnasium.Env[Any, Any], mdp: LabeledMDP) -> GymnasiumMap | None:
    """Return the map of an environment, with the labels of an MDP, if it is known to have one."""
    world: Any = env.unwrapped
    kind = next((base.__name__ for base in type(world).__mro__ if base.__name__ in ACTIONS), None)
    if kind is None or world.observation_space.n != mdp.num_observations:
        return None
    if kind == "FrozenLakeEnv":
        letters = np.char.decode(np.asarray(world.desc, dtype="S1"))
    else:
        letters = np.full(world.shape, ".")
        letters[-1, 0], letters[-1, 1:-1] = "S", "C"
    rows, columns = letters.shape
    spots = []
    for o, (letter, label) in enumerate(zip(letters.ravel().tolist(), mdp.arrival_labels, strict=True)):
        mark = MARKS.get(letter)
        if label:
            mark = (mark or Mark(min(label)[0]))._replace(label=label, meaning=", ".join(sorted(label)))
        spots.append(Spot(o % columns + 0.5, o // columns + 0.5, mark))
    walls = [(c, r, c + 1, r) for c in range(columns) for r in (0, rows)]
    walls += [(c, r, c, r + 1) for r in range(rows) for c in (0, columns)]
    made = {} if env.spec is None else env.spec.kwargs
    return GymnasiumMap(
        tuple(spots),
        walls=tuple(walls),
        actions=ACTIONS[kind],
        id="" if env.spec is None else env.spec.id,
        options={key: value for key, value in made.items() if key != "render_mode"},
    )


@dataclass(frozen=True, kw_only=True)
class GymnasiumMap(Picture):
    """The map of an environment, with the arguments of ``gymnasium.make`` that make it again; ``id`` may be empty."""

    id: str
    options: Mapping[str, Any]

    def makes(self, mdp: LabeledMDP) -> bool:
        """Return whether an environment made again has the transitions of an MDP; a random map is another each time."""
        return opens_no_files(self.id) and from_gymnasium(self.id, [], **self.options).has_transitions_of(mdp)


def opens_no_files(env_id: str) -> bool:
    """Return whether an environment is one of Gymnasium's tables, none of whose options is the name of a file."""
    import gymnasium

    spec = gymnasium.registry.get(env_id)
    return spec is not None and str(spec.entry_point).startswith("gymnasium.envs.toy_text.")

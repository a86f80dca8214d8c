"""Labelled MDPs from Gymnasium environments that carry their transition table.

FrozenLake, CliffWalking, Taxi and others have ``unwrapped.P[s][a] = [(probability, next, reward,
terminated), …]``. The table's rewards are not used: a machine pays here, for labels. Entries with the
same successor are summed.

The table is indexed by what the environment shows and takes: whole numbers for Discrete spaces, from their start on,
and tuples of whole numbers for MultiDiscrete, MultiBinary, Tuple and Dict (its values, in the order of the space). In
the MDP they are numbered from 0, as ``praemia.envs.numbering`` does, and keep their names.

An episode ends by the table's flag, whatever the row of the observation that was reached says (CliffWalking's goal has
an ordinary row). Entries count wherever they stand in the table, even in rows that no episode reaches; Taxi has such
rows.

``with_own_map`` gives FrozenLake, CliffWalking and Taxi their maps, to be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import require_env
from praemia.envs.numbering import FiniteNumbering, number_space
from praemia.errors import ModelError, ParameterError, PraemiaError, UnknownNameError
from praemia.machines.labels import Label, Labelling, Labels, as_labelling
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Segment, Spot

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
    entries = (o, a, z, probs)
    return LabeledMDP.from_entries(
        observations.size,
        actions.size,
        *entries,
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
    if labelling.function is None:
        return labelling
    label, observation, action = labelling.function, observations.element, actions.element
    return Labelling(function=lambda o, a, z: label(observation(o), action(a), observation(z)))


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
) -> list[NDArray[Any]]:
    """Return the table's entries of positive probability as columns o, a, o', probability, terminated."""
    table: Any = env.unwrapped.P  # type: ignore[attr-defined]
    numbers = {observations.key(o): o for o in range(observations.size)}
    action_keys = [(a, actions.key(a)) for a in range(actions.size)]
    try:
        entries = [
            (o, a, numbers.get(z, -1), float(probability), bool(terminated))
            for key, o in numbers.items()
            for a, action in action_keys
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
    return [np.array(column) for column in zip(*entries, strict=True)]


def _start(env: gymnasium.Env[Any, Any], observations: FiniteNumbering) -> NDArray[np.float64]:
    """Return the distribution of the first observation."""
    own = getattr(env.unwrapped, "initial_state_distrib", None)
    if own is not None:
        start = np.array(own, dtype=np.float64)
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


LAKE_MOVES = ("left", "down", "right", "up")
CLIFF_MOVES = ("up", "right", "down", "left")
TAXI_MOVES = ("down", "up", "right", "left", "pick up", "drop off")
LAKE_MARKS = {
    "S": Mark("S", is_start=True),
    "H": Mark("H", "a hole, which ends the episode", role="danger"),
    "G": Mark("G", "the goal"),
}
TAXI_SIDE, TAXI_GAP, IN_TAXI = 5, 1, 4


def with_own_map(mdp: LabeledMDP, env: gymnasium.Env[Any, Any]) -> LabeledMDP:
    """Give the MDP of an environment the environment's own map, if it is known to have one."""
    inner: Any = env.unwrapped
    kind = {base.__name__ for base in type(inner).__mro__}
    if "FrozenLakeEnv" in kind:
        letters = np.char.decode(np.asarray(inner.desc, dtype="S1"))
        picture = _grid(letters, LAKE_MARKS, _labels(mdp), LAKE_MOVES)
    elif "CliffWalkingEnv" in kind:
        letters = np.where(inner._cliff, "C", ".")
        letters.flat[inner.start_state_index] = "S"
        marks = {"S": LAKE_MARKS["S"], "C": Mark("C", "the cliff: back to the start", role="danger")}
        picture = _grid(letters, marks, _labels(mdp), CLIFF_MOVES)
    elif "TaxiEnv" in kind:
        picture = taxi_picture(np.char.decode(np.asarray(inner.desc, dtype="S1")).tolist(), inner.locs)
    else:
        return mdp
    return mdp.with_map(picture) if len(picture.spots) == mdp.num_observations else mdp


def _labels(mdp: LabeledMDP) -> dict[int, Label]:
    """Return the propositions that are true whenever an observation is reached from another one."""
    labels: dict[int, Label] = {}
    sources = mdp.edge_pairs // mdp.num_actions
    for o, z, label in zip(sources.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True):
        if o != z:
            labels[z] = labels.get(z, mdp.label_sets[label]) & mdp.label_sets[label]
    return labels


def _grid(letters: Any, marks: Mapping[str, Mark], labels: Mapping[int, Label], actions: tuple[str, ...]) -> Picture:
    """Draw a grid of letters str[R, C], in which every cell is an observation."""
    spots = []
    for o, letter in enumerate(letters.ravel().tolist()):
        row, column = divmod(o, letters.shape[1])
        mark, label = marks.get(letter), labels.get(o, frozenset())
        if label:
            bare = mark or Mark(min(label)[0])
            mark = bare._replace(label=label, meaning=", ".join(sorted(label)))
        spots.append(Spot(column + 0.5, row + 0.5, mark))
    return Picture(tuple(spots), walls=_frame(0, 0, *letters.shape), actions=actions)


def taxi_picture(desc: list[list[str]], places: list[tuple[int, int]]) -> Picture:
    """Draw the taxi's city once for each place of the passenger and each destination, in columns and rows."""
    spots: list[Spot] = []
    walls: list[Segment] = []
    letters = {place: desc[place[0] + 1][2 * place[1] + 1] for place in places}
    shift = TAXI_SIDE + TAXI_GAP
    for row, column, passenger, destination in np.ndindex(TAXI_SIDE, TAXI_SIDE, len(places) + 1, len(places)):
        mark = None
        if (row, column) == places[destination]:
            mark = Mark(letters[row, column], "the destination", role="goal")
        elif passenger != IN_TAXI and (row, column) == places[passenger]:
            mark = Mark(letters[row, column], "the passenger waits here", role="waypoint")
        x, y = float(passenger * shift + column), float(destination * shift + row)
        spots.append(Spot(x + 0.5, y + 0.5, mark))
        if column + 1 < TAXI_SIDE and desc[row + 1][2 * column + 2] == "|":
            walls.append((x + 1, y, x + 1, y + 1))
    for passenger, destination in np.ndindex(len(places) + 1, len(places)):
        walls += _frame(passenger * shift, destination * shift, TAXI_SIDE, TAXI_SIDE)
    names = ", ".join(letters[place] for place in places)
    caption = (
        f"from left to right: the passenger waits at {names} or is in the taxi; from top to bottom: the destination"
    )
    return Picture(tuple(spots), walls=tuple(walls), caption=caption, actions=TAXI_MOVES)


def _frame(x: int, y: int, rows: int, columns: int) -> tuple[Segment, ...]:
    """Return the outer walls of a grid, a segment for each cell at the rim."""
    level = ((x + c, y + r, x + c + 1, y + r) for c in range(columns) for r in (0, rows))
    upright = ((x + c, y + r, x + c, y + r + 1) for r in range(rows) for c in (0, columns))
    return (*level, *upright)

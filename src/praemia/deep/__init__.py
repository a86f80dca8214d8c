"""Counterfactual experience for the deep learners of stable-baselines3 (the extra ``deep``).

The label of a step is enough to compute what the machine would have done in any of its states. So one step of the
environment is experience for every machine state, and a learner that replays old steps can learn from all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from praemia.deep.counterfactuals import view_of
from praemia.errors import missing_extra, require_whole

if TYPE_CHECKING:
    import gymnasium

__all__ = ["counterfactual_replay"]


def counterfactual_replay(env: gymnasium.Env[Any, Any], seed: int = 0) -> dict[str, Any]:
    """Return the arguments that give DQN, SAC, TD3 or DDPG a replay buffer with counterfactual experience.

    Each step is also stored for every other machine state, of all machines if there are several: with the same action
    and the same move of the environment, the machine's next state and reward sampled for that state, and terminated if
    the episode would have ended there (``until_done``). Stage rewards and shaping are those of that state. A time limit
    does not count as termination, as always in stable-baselines3.

    Among the arguments is ``n_steps=1``, because counterfactual steps are not consecutive: passing another number too
    is a TypeError.

    ``buffer_size`` counts everything stored: with M machine states a buffer of a million holds a million / M
    steps of the environment. ``learning_starts`` and ``train_freq`` count steps of the environment, as always.

    Parameters
    ----------
    env : a ``praemia.MachineWrapper`` or a ``praemia.envs.TaskEnv``, perhaps within other wrappers, or a vector
        environment of stable-baselines3 made of such. Wrappers around it must leave rewards and the machine state in
        the observations alone; ``gymnasium.wrappers.FlattenObservation`` may be the outermost one.
    seed : of the generator for the machine's moves in counterfactual steps.

    Examples
    --------
    >>> import praemia
    >>> from praemia.deep import counterfactual_replay
    >>> from stable_baselines3 import DQN
    >>> env = praemia.envs.TaskEnv(praemia.envs.warehouse(size=4))
    >>> agent = DQN("MultiInputPolicy", env, seed=0, buffer_size=30_000, **counterfactual_replay(env))
    >>> agent.learn(120).replay_buffer.size()  # 120 steps, each in 3 machine states
    360
    """
    try:
        from praemia.deep import replay_buffers
    except ImportError:
        raise missing_extra("counterfactual replay needs stable-baselines3", "deep") from None

    return replay_buffers.arguments(view_of(env), env.observation_space, require_whole("seed", seed, 0))

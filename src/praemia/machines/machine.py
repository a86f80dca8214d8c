"""Probabilistic reward machines.

In state q, on a transition with the label σ, the rule of q whose guard holds on σ applies: the machine moves to q' with
probability τ(q'|q, σ), and the reward is sampled from ν(q, σ, q'). Where no rule holds, it stays and the reward is the
idle reward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.displayed import Displayed
from praemia._support.text_tables import plural
from praemia.errors import ModelError, unknown_name
from praemia.machines.diagrams import MAX_STATES, Growth
from praemia.machines.labels import Label, as_label, distinct_names, several
from praemia.machines.rewards import Reward, RewardRange
from praemia.machines.rules import (
    ZERO,
    Outcomes,
    Rule,
    build_diagrams,
    derive_rules,
    make_exclusive,
    paying_states,
    validate_rules,
)
from praemia.machines.state_diagrams import StateDiagrams

if TYPE_CHECKING:
    from praemia.machines.arrays import DenseMachine
    from praemia.pictures.drawing import Drawing


class RewardMachine(Displayed):
    """A probabilistic reward machine, immutable and validated.

    Two machines are equal if they have the same states in the same order, the same initial state, the same propositions
    in any order, and the same outcomes in every state on every label, however the rules are written.

    Parameters
    ----------
    rules : each a ``Rule``, or a mapping as in files: ``{"from": "a", "when": "item & !b", "to": "b", "reward": 1}``. A
        rule whose guard is ``else`` applies if no other rule of its state does, wherever it stands.
    first_match : whether the rules of a state are tried in order and the first whose guard holds applies.

    Attributes
    ----------
    idle_reward : the reward of a step on which no rule holds, and of the steps left when an episode has ended: 0, or
        the number to which ``in_unit_range`` maps 0.
    rules : the rules with mutually exclusive guards, one for each written rule; derived from the diagrams if there is
        none.
    written_rules : the rules as they were written; None if there are none.
    diagrams : for each state, a diagram from a label to the outcomes there, in the order in which they were written.
    source : the keys of a file that define the machine in short, such as ``ltlf`` and ``pay``; None if there are none.
    meanings : the meaning of each state, in words or as a formula; by default its name.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.envs.warehouse().machine
    >>> machine.states, machine.initial, machine.is_deterministic
    (('empty', 'loaded', 'done'), 'empty', False)
    >>> [(outcome.target, outcome.probability) for outcome in machine.outcomes("empty", {"item"})]
    [('loaded', 0.8), ('empty', 0.2)]
    """

    states: tuple[str, ...]
    initial: str
    propositions: tuple[str, ...]
    diagrams: StateDiagrams
    written_rules: tuple[Rule, ...] | None
    first_match: bool
    idle_reward: Reward
    source: Mapping[str, Any] | None
    meanings: Mapping[str, str]

    def __init__(
        self,
        states: Iterable[str],
        initial: str,
        propositions: Iterable[str],
        rules: Iterable[Rule | Mapping[str, Any]],
        first_match: bool = False,
    ) -> None:
        states, propositions = distinct_names("state", states), distinct_names("proposition", propositions)
        if not states:
            raise ModelError("a machine without states; give at least one")
        if initial not in states:
            raise unknown_name("machine state", initial, states)
        written = tuple(map(Rule.of, rules))
        validate_rules(written, dict.fromkeys(states), propositions)
        parts = {"states": states, "initial": initial, "propositions": propositions, "first_match": first_match}
        parts |= {"diagrams": build_diagrams(states, written, ZERO, first_match), "written_rules": written}
        meanings = dict(zip(states, states, strict=True))
        self.__dict__.update(parts, idle_reward=ZERO, source=None, meanings=meanings)

    @classmethod
    def from_diagrams(
        cls,
        states: Sequence[str],
        propositions: Iterable[str],
        diagrams: StateDiagrams,
        meanings: Mapping[str, str] | None = None,
    ) -> RewardMachine:
        """Return the machine of diagrams whose values are tuples of outcomes; the first state is initial."""
        machine = cls(states, states[0], propositions, ())
        return machine.changed(diagrams=diagrams, written_rules=None, meanings=meanings or machine.meanings)

    def changed(self, **changes: Any) -> RewardMachine:
        """Return a copy with other stored attributes, without building the diagrams again."""
        machine = RewardMachine.__new__(RewardMachine)
        machine.__dict__.update({name: self.__dict__[name] for name in RewardMachine.__annotations__} | changes)
        return machine

    def replace(self, **changes: Any) -> RewardMachine:
        """Return a copy with other parameters: states, initial, propositions, rules, first_match.

        >>> RewardMachine.from_ltlf("F item").replace(initial="done").expected_rewards([{"item"}])
        array([0.])
        """
        names = ("states", "initial", "propositions", "first_match")
        parts = {name: getattr(self, name) for name in names} | changes
        if "rules" not in parts:
            parts["rules"] = self.rules if self.written_rules is None else self.written_rules
        machine = RewardMachine(**parts)
        if self.idle_reward == machine.idle_reward:
            return machine
        diagrams = build_diagrams(machine.states, machine.written_rules or (), self.idle_reward, machine.first_match)
        return machine.changed(diagrams=diagrams, idle_reward=self.idle_reward)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a machine is never changed; machine.replace({name}=…) makes a changed copy")

    @classmethod
    def from_ltlf(
        cls,
        formula: str | Mapping[str, Any],
        reward: float | Reward = 1.0,
        pay: str = "first",
        *,
        syntax: str = "praemia",
        propositions: Iterable[str] | None = None,
        max_states: int = MAX_STATES,
    ) -> RewardMachine:
        """Return the smallest machine that rewards traces which satisfy a formula of LTL on finite traces.

        Parameters
        ----------
        formula : such as ``F(item & X F delivery)``, or several with the reward of each: rewards are added up. In
            place of a reward there may be ``{"reward": …, "pay": …}``.
        pay : ``"first"``: when the trace so far satisfies the formula for the first time; ``"each"``: at every step at
            which it does; ``"end"``: rewards add up to ``reward`` if the whole episode satisfies the formula, else 0.
        syntax : ``"praemia"``, ``"spot"`` or ``"ltlf2dfa"``: which tool's formula syntax to read.
        propositions : those that labels may have; by default, those of the formula.
        """
        from praemia.machines.from_formulas import machine_from

        return machine_from("formula", formula, reward, pay, propositions, Growth(max_states), syntax)

    @classmethod
    def from_regex(
        cls,
        expression: str | Mapping[str, Any],
        reward: float | Reward = 1.0,
        pay: str = "first",
        *,
        propositions: Iterable[str] | None = None,
        max_states: int = MAX_STATES,
    ) -> RewardMachine:
        """Return the smallest machine that rewards traces which match a regular expression as a whole.

        Letters are guards: ``(!item)* item (!delivery)* delivery``. The rest is as for formulas.
        """
        from praemia.machines.from_formulas import machine_from

        return machine_from("regex", expression, reward, pay, propositions, Growth(max_states))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RewardMachine):
            return NotImplemented
        return self is other or (self._key == other._key and self.diagrams.is_same_as(other.diagrams))

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """The parts of equal machines that are hashed."""
        outcomes = frozenset(self.diagrams.values())
        return self.states, self.initial, frozenset(self.propositions), outcomes

    def __repr__(self) -> str:
        return f"RewardMachine({', '.join(self.sizes)})"

    def draw(self, title: str | None = None) -> Drawing:
        """Draw the machine: a notebook displays the drawing, ``print`` writes Mermaid text, ``save`` writes a file."""
        from praemia.pictures.diagrams import draw_machine

        return draw_machine(self, title)

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each state, by its name."""
        return {state: number for number, state in enumerate(self.states)}

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules with mutually exclusive guards: as written where possible, else derived from the diagrams."""
        if self.written_rules is not None:
            return make_exclusive(self.written_rules, self.first_match)
        return derive_rules(self.states, self.diagrams, self.idle_reward)

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def sizes(self) -> list[str]:
        """The size of the machine as text: states, written rules, propositions."""
        rules = [] if self.written_rules is None else [plural(len(self.written_rules), "rule")]
        return [plural(self.num_states, "machine state"), *rules, plural(len(self.propositions), "proposition")]

    def outcomes(self, state: str, label: Set[str]) -> Outcomes:
        """Return the outcomes of a state on a label; where no rule holds, it stays with the idle reward."""
        outcomes: Outcomes = self.diagrams.at(self.index[state], label)
        return outcomes

    def possible_outcomes(self, state: str) -> list[Outcomes]:
        """Return the possible results of ``outcomes`` in a state, over all labels."""
        return list(self.diagrams.store.values([self.diagrams.roots[self.index[state]]]))

    @property
    def is_deterministic(self) -> bool:
        return all(len(outcomes) == 1 for outcomes in self.diagrams.values())

    @property
    def rewards(self) -> list[Reward]:
        """All rewards that a step can have; the idle reward comes first."""
        return [self.idle_reward, *(outcome.reward for outcomes in self.diagrams.values() for outcome in outcomes)]

    @cached_property
    def mean_rewards(self) -> tuple[float, ...]:
        """The mean rewards that a step can have, increasing, the idle reward's included."""
        return tuple(sorted({reward.mean for reward in self.rewards}))

    @cached_property
    def reward_range(self) -> RewardRange:
        """The smallest range that contains its rewards and 0."""
        return RewardRange.of(self.rewards)

    @cached_property
    def in_unit_range(self) -> RewardMachine:
        """The machine with the range of its rewards mapped onto [0, 1]; itself, if that is their range."""
        to_unit = self.reward_range.to_unit
        if self.reward_range.is_unit:
            return self

        def mapped(outcomes: Outcomes) -> Outcomes:
            return tuple(replace(outcome, reward=to_unit(outcome.reward)) for outcome in outcomes)

        derived = {"written_rules": None, "first_match": False, "source": None}
        unit = self.changed(diagrams=self.diagrams.map_values(mapped), idle_reward=to_unit(self.idle_reward), **derived)
        unit.__dict__["terminal_states"] = self.terminal_states  # decided before rewards are rounded
        return unit

    @cached_property
    def terminal_states(self) -> frozenset[int]:
        """The indices of the states from which every further reward is the idle reward, on all labels."""
        following = {state: self.possible_outcomes(state) for state in self.states}
        return frozenset(self.index[state] for state in set(self.states) - paying_states(following, self.idle_reward))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The propositions that some state's behaviour depends on."""
        return self.diagrams.reads()

    def over(self, propositions: Iterable[str]) -> RewardMachine:
        """Return the machine over more propositions, which it ignores."""
        more = several("propositions", propositions)
        return self.changed(propositions=tuple(dict.fromkeys((*self.propositions, *more))))

    def __add__(self, other: RewardMachine) -> RewardMachine:
        """Return the sum of two machines: rewards are added, and they move independently, given the label."""
        from praemia.machines.algebra import add

        return add(self, other) if isinstance(other, RewardMachine) else NotImplemented

    def __radd__(self, other: int) -> RewardMachine:
        """Let ``sum(machines)`` begin with its 0."""
        return self if other == 0 else NotImplemented

    def with_chance(self, chances: Mapping[str, float]) -> RewardMachine:
        """Return the machine that detects each of the given events only with a probability, independently at each step.

        >>> RewardMachine.from_ltlf("F item").with_chance({"item": 0.8}).expected_rewards([{"item"}, {"item"}])
        array([0.8 , 0.16])
        """
        from praemia.machines.algebra import with_chance

        return with_chance(self, chances)

    def to_arrays(self, propositions: Iterable[str]) -> DenseMachine:
        """Return the machine as arrays over all labels; bit i of a label is proposition i of those given."""
        from praemia.machines.arrays import dense

        return dense(self, propositions)

    def potential(self, discount: float) -> NDArray[np.float64]:
        """Return the optimal value of the machine alone in each state, whatever the environment: float64[M].

        It serves reward shaping. The discount must be below 1 unless no cycle of the machine has a reward.
        """
        from praemia.machines.potential import potential

        return potential(self, discount)

    def difference(self, other: RewardMachine) -> list[Label] | None:
        """Return the shortest word whose last step has different expected rewards in the two machines, or None.

        Labels range over the propositions of both. Expected rewards differ if they do by more than 1e-9, relatively;
        two distributions with one mean count as equal.
        """
        from praemia.machines.difference import difference

        return difference(self, other)

    def expected_rewards(self, word: Iterable[Iterable[str]]) -> NDArray[np.float64]:
        """Return the mean reward of each step of a word, a sequence of labels: float64[n], exact."""
        chances = {self.initial: 1.0}
        means = []
        for number, propositions in enumerate(word, start=1):
            label = as_label(propositions, f"the label of step {number}", self.propositions)
            after: dict[str, float] = {}
            mean = []
            for state, chance in chances.items():
                for out in self.outcomes(state, label):
                    after[out.target] = after.get(out.target, 0.0) + chance * out.probability
                    mean.append(chance * out.probability * out.reward.mean)
            means.append(fsum(mean))
            chances = after
        return np.array(means, dtype=np.float64)

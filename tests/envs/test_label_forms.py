"""Labels may be given in any of several forms, which mean the same in boxes, wrappers and tables."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import praemia
from praemia.errors import ModelError, PraemiaWarning

MACHINE = praemia.RewardMachine.from_ltlf("F(ice & F goal)")
LABELS = {15: {"goal"}, 14: {"ice", "goal"}, 13: "ice"}


class Told(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Put the propositions of a step into ``info``."""

    def step(self, action: Any) -> Any:
        o, reward, terminated, truncated, info = self.env.step(action)
        return o, reward, terminated, truncated, info | {"events": LABELS.get(o, [])}


FORMS: dict[str, Any] = {
    "next observations": LABELS,
    "function": lambda o, a, o_next, info: LABELS.get(o_next, ()),
    "functions": {
        "goal": lambda o, a, o_next, info: o_next >= 14,
        "ice": lambda o, a, o_next, info: np.bool_(o_next in (13, 14)),
    },
    "predicates": praemia.labels.predicates({"goal": "observation >= 14", "ice": "13 <= observation <= 14"}),
    "info": "events",
}


def lake() -> Any:
    return Told(gymnasium.make("FrozenLake-v1", is_slippery=False))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_labels_the_steps_of_a_black_box_alike(form: str) -> None:
    traces: list[Any] = []
    praemia.simulate(praemia.BlackBox(lake(), FORMS[form], MACHINE, 12, record=traces), "ucbvi-prm", 80)
    expected: list[Any] = []
    praemia.simulate(praemia.BlackBox(lake(), LABELS, MACHINE, 12, record=expected), "ucbvi-prm", 80)
    assert traces == expected
    assert any(label == ["goal", "ice"] for episode in traces for label, _ in episode)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_labels_the_steps_of_a_wrapper_alike(form: str) -> None:
    env = praemia.MachineWrapper(lake(), FORMS[form], MACHINE)
    env.reset(seed=0)
    labels = [env.step(action)[4]["label"] for action in (1, 1, 2, 1, 2, 2)]
    assert labels == [(), (), (), ("ice",), ("goal", "ice"), ("goal",)]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "info"])
def test_every_form_labels_a_table_alike(form: str) -> None:
    mdp = praemia.envs.from_gymnasium("FrozenLake-v1", FORMS[form])
    expected = praemia.envs.from_gymnasium("FrozenLake-v1", LABELS)
    pairs = [[table.label_sets[i] for i in table.labels] for table in (mdp, expected)]
    assert pairs[0] == pairs[1]
    own = praemia.LabeledMDP.from_dense(np.full((16, 4, 16), 1 / 16), FORMS[form])
    assert {own.label_sets[i] for i in own.labels} == {
        frozenset(),
        *map(frozenset, [{"goal"}, {"goal", "ice"}, {"ice"}]),
    }


def test_observations_of_several_numbers_are_named_by_tuples() -> None:
    class Pair(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.MultiDiscrete([2, 3])
        action_space = gymnasium.spaces.MultiDiscrete([2, 3])

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return np.array([0, 0]), {}

        def step(self, action: Any) -> Any:
            return action, 0.0, False, False, {}

    env = praemia.MachineWrapper(Pair(), {(1, 2): "goal", (0, 1): "ice"}, MACHINE)
    env.reset()
    assert [env.step(np.array(cell))[4]["label"] for cell in ((1, 2), (0, 2), (0, 1))] == [("goal",), (), ("ice",)]
    with pytest.raises(ModelError, match=r"labels: found \(2, 0\), outside the space"):
        praemia.MachineWrapper(Pair(), {(2, 0): "goal"}, MACHINE)


def test_functions_of_three_arguments_are_taken_where_there_is_no_info() -> None:
    for labels in ({"goal": lambda o, a, z: z == 15}, lambda o, a, z, there=15: ["goal"] if z == there else []):
        mdp = praemia.envs.from_gymnasium("FrozenLake-v1", labels)
        assert {mdp.label_sets[i] for i in mdp.labels} == {frozenset(), frozenset({"goal"})}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"goal": lambda *step: True, 15: "goal"}, "'goal' has a function and 15 has none; expected functions by"),
        ({15: lambda *step: True}, "labels: 15 has a function; expected a proposition, a text, before a function"),
        (
            {15: "gaol"},
            r"labels: .* 'gaol', which is not one of the machine's \(did you mean 'goal'\?\); use machine.over",
        ),
        ({"gaol": lambda *step: True}, "has the proposition 'gaol'"),
        (praemia.labels.predicates({"gaol": "observation == 15"}), "has the proposition 'gaol'"),
        (praemia.labels.predicates({"goal": "position > 15"}), "predicate 'goal', column 1: unknown name 'position'"),
        ({15: 3}, "a label is 3; expected a set of proposition names"),
        ({15: {"goal": False}}, "a label is {'goal': False}; expected a set of proposition names"),
        ({15: "goal", 16: "ice"}, r"labels: found 16, outside the space Discrete\(16\)"),
        ({"15": "goal"}, r"labels: found '15', outside the space Discrete\(16\)"),
        (3, "labels=3; expected a function"),
    ],
)
def test_labels_that_make_no_sense_are_refused_when_they_are_given(labels: Any, message: str) -> None:
    for make in (praemia.MachineWrapper, lambda *parts: praemia.BlackBox(*parts, horizon=5)):
        with pytest.raises(ModelError, match=message):
            make(lake(), labels, MACHINE)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            lambda *step: {"goal": True},
            r"the label of \(0, 1, 4\) is {'goal': .*}; expected a set of proposition names",
        ),
        (lambda *step: {"goal": False}, r"the label of \(0, 1, 4\) is {'goal': .*}; expected a set"),
        ("event", r"labels='event', and the info of a step has no such entry.*did you mean 'events'"),
    ],
)
def test_labels_that_make_no_sense_are_refused_at_the_step(labels: Any, message: str) -> None:
    env = praemia.MachineWrapper(lake(), labels, MACHINE)
    env.reset(seed=0)
    with pytest.raises(ModelError, match=message):
        env.step(1)


def test_a_policy_is_shown_where_labels_need_info() -> None:
    box = praemia.BlackBox(lake(), "events", MACHINE, 12)
    policy = praemia.simulate(box, "ucbvi-prm", 80).policy
    assert "estimated from 100 episodes: a policy, value 1" in str(praemia.show(box, policy))


def test_a_table_has_no_info() -> None:
    with pytest.raises(ModelError, match="an entry of info, which a table of transitions does not have"):
        praemia.envs.from_gymnasium("FrozenLake-v1", "events")  # type: ignore[arg-type]


def test_a_proposition_without_a_label_is_warned_of_when_the_box_is_made() -> None:
    for labels in (
        {15: "goal"},
        {"goal": lambda *step: False},
        praemia.labels.predicates({"goal": "observation == 15"}),
    ):
        with pytest.warns(
            PraemiaWarning, match="FrozenLake-v1: the machine reads the proposition 'ice', which no label has"
        ) as w:
            praemia.BlackBox(lake(), labels, MACHINE, 12)
        assert [warning.filename for warning in w] == [__file__]


@pytest.mark.parametrize("learner", ["ucbvi-prm", "ucbvi"])  # the second one sees the product
def test_a_proposition_that_never_occurs_is_warned_of_after_a_hundred_episodes(
    learner: str, recwarn: pytest.WarningsRecorder
) -> None:
    box = praemia.BlackBox(lake(), lambda o, a, o_next, info: {"goal"} if o_next % 2 else set(), MACHINE, 3)
    praemia.simulate(box, learner, 99)
    assert not [str(one.message) for one in recwarn if "proposition" in str(one.message)]
    with pytest.warns(PraemiaWarning, match="'ice', which no label had in 100 episodes") as warned:
        praemia.simulate(box, learner, 110)
    assert len(warned) == 1

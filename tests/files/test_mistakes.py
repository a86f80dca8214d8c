"""A mistake in a file of any format is one message, with the file, the line and what is expected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from task_texts import SPOILED, TASK
from test_boxes import BINS, CAR, LABELS
from test_event_formats import MOORE, SPEC, START, STOCHASTIC, read_spec
from test_formulas_in_files import CELLS
from test_hoa_format import STATES
from test_loading import ENVIRONMENT, GYMNASIUM
from txt_machines import PLAIN

from praemia.errors import PraemiaError
from praemia.files.building import parse_task
from praemia.files.formats.dot import read_dot
from praemia.files.formats.hoa import read_hoa
from praemia.files.formats.txt import read_txt

TABLE_LABELS = "  labels: [{to: 1, label: [left]}]\n"
AUTOMATON = [
    ("HOA: v1", "HOA: v2", "m.hoa:1:6: stopped at 'v2'; expected a deterministic automaton"),
    ("1 Inf(0)", "2 Inf(0) & Inf(1)", "m.hoa:7:13: stopped at '2 Inf(0) & Inf(1)'; expected"),
    ("1 Inf(0)", "1 Fin(0)", "m.hoa:7:15: stopped at 'Fin(0)'; expected"),
    ("Acceptance: 1 Inf(0)\n", "", "m.hoa: a header is missing: Start: with one of the states, or Acceptance:"),
    ("Start: 0\n", "Start: 0\nStart: 1\n", "m.hoa:5: this header is given twice"),
    ("Start: 0\n", "Start: 0 & 1\n", "m.hoa:4:10: stopped at '& 1'; expected"),
    ("Start: 0\n", "Start: 7\n", "m.hoa: a header is missing: Start: with one of the states"),
    ("Start: 0\n", "", "m.hoa: a header is missing: Start: with one of the states"),
    ("[!0 & !1] 0\n", "[!1] 0\n", "m.hoa:12: state 'even': rules 'a' and '!b' both match the label {a}"),
    ("[0] 0 /*", "[0] 1 & 0 /*", "m.hoa:14:7: stopped at '& 0 /* back */'; expected"),
    ("[0] 0 /*", "[0] 9 /*", "m.hoa:14: state 'odd' on 'a': unknown state '9'"),
    ("[0] 0 /*", "[2] 0 /*", "m.hoa:14: 2 in a label: no alias, and no index of a proposition, counted from 0"),
    ("[0] 0 /*", "[@x] 0 /*", "m.hoa:14: @x in a label"),
    ("[0] 0 /*", "0 /*", "m.hoa:14:1: stopped at '0 /* back */'; expected a deterministic automaton"),
    ('AP: 2 "a" "b"', 'AP: 3 "a" "b"', "m.hoa:5: 3 propositions are announced and 2 named"),
    ("State: 1", "State: 0", "m.hoa: a state is given twice"),
    ("acc-name: Buchi", "Strange: 3", "m.hoa:6:1: stopped at 'Strange: 3'; expected"),
    ("--END--", "", "m.hoa:19:1: it ends too early"),
    ("AP: 2", "AP: " + "1" * 5_000, "m.hoa:5: a number of 5,000 digits; at most 300 are read"),
    ('"b"', '"a"', "m.hoa: proposition 'a' is listed twice"),
    ("[!0&!1] 1", "[!0&&1] 1", 'm.hoa:15: guard \'! "a" & & "b"\': stopped at \'& "b"\''),
]
TEXT = [
    ("0      #", "q      #", "m.txt:1:1: stopped at 'q      # initial sta'; expected the initial state"),
    ("[2]", "2", "m.txt:2:1: stopped at '2    # terminal stat'; expected the initial state, the list of"),
    ("(0,1,'f&!n'", "(0,'f&!n'", "m.txt:4:4: stopped at"),
    ("(0,1,'f&!n'", "(0,1,f&!n", "m.txt:4:6: stopped at"),
    ("ConstantRewardFunction(1))", "ConstantRewardFunction(1)", "m.txt:7:1: it ends too early"),
    ("ConstantRewardFunction(1)", "RewardControl()", "m.txt:6: RewardControl depends on the environment's"),
    ("ConstantRewardFunction(1)", "ConstantRewardFunktion(1)", "(did you mean 'ConstantRewardFunction'?)"),
    ("ConstantRewardFunction(1)", "ConstantRewardFunction(1,2)", "m.txt:6: ConstantRewardFunction with other"),
    ("ConstantRewardFunction(1)", "LabelRewardFunction({'a': (1,2)})", "m.txt:6: LabelRewardFunction with other"),
    ("ConstantRewardFunction(1)", "__import__('os').system('ls')", "m.txt:6:"),
    ("ConstantRewardFunction(1)", "ConstantRewardFunction(len('a'))", "m.txt:6:"),
    ("'f&!n'", "'food&!n'", "m.txt:4: guard 'food&!n': the proposition 'food'; in this format"),
    ("'f&!n'", "'!(f|n)'", "m.txt:4: guard '!(f|n)': it has brackets"),
    ("(1,2,'g&!n',ConstantRewardFunction(1))\n", "(1,2", "m.txt:6:5: it ends too early"),
    ("(1,2,", f"(1,{'2' * 5000},", "m.txt:6: a number of 5,000 digits; at most 300 are read"),
]
EVENTS = [
    ('"q0", "event"', '"q9", "event"', "m.json:8: state 'q9' on"),
    ('"event": "at(B)"', '"event": "at(C)"', "m.json:9: unknown event 'at(C)'"),
    ('"initial_state": "q0"', '"initial_state": "q7"', "m.json:4: unknown machine state 'q7'"),
    ('["q2"]', '["q3"]', "m.json:5: unknown machine state 'q3'"),
    (
        '"q1", "event": "at(B)"',
        '"q0", "event": "at(A)"',
        "at(B)\"': probabilities sum to 2",
    ),
    ('"reward": 0.25', '"reward": "r1"', "m.json:8:72: transitions[0].reward: it should be a valid number"),
    (
        '"to_state"',
        '"two_state"',
        "m.json:8:44: transitions[0]: unknown key 'two_state' (did you mean 'to_state'?)",
    ),
    ('"states": ["q0", "q1", "q2"],', "", "m.json:1:1: the key 'states' is missing"),
    ('"q1", "q2"]', '"q1", "q1", "q2"]', "m.json:3: state 'q1' is listed twice"),
]
GRAPH = [
    ("item/0:0.8", "item/ok:0.8", "m.dot:3: the output, which is the reward, is 'ok'; expected a number"),
    ("item/0:0.8", "item/0:lots", "m.dot:3: the probability is 'lots'; expected a number"),
    ("item/0:0.8", "item", "m.dot:3: the output, which is the reward, is 's1'; expected a number"),
    ("item/0:0.8", "item/0:0.7", "m.dot:3: state 's0' on 'item & !delivery': probabilities sum to 0.9"),
    ("item/0:0.2", "item/0", "m.dot:3: state 's0' on 'item & !delivery': probabilities sum to 1.8"),
    ("item/0:0.8", "item/nan:0.8", "m.dot:3: the output, which is the reward, is 'nan'"),
    ("__start0 -> s0\n", "", "m.dot: 0 edges from __start0; expected one"),
    ("__start0 -> s0\n", "__start0 -> s0\n__start1 -> s1\n", "m.dot: 2 edges from __start0"),
    ("digraph g {", "graph g {", "m.dot:1:1: stopped at 'graph g {'; expected a graph"),
    ("__start0 -> s0\n}", "__start0 -> s0\n", "m.dot:10:1: it ends too early"),
]
FORMULA = [
    (
        "X F delivery)",
        "X F delivry)",
        "cells.yaml:7: unknown proposition 'delivry' (did you mean 'delivery'?)",
    ),
    ('delivery)"', 'delivery"', "cells.yaml:7: formula, column 22: unexpected end of expression"),
    (
        "horizon",
        "  pay: frist\nhorizon",
        "cells.yaml:8:8: machine.pay: it should be 'first', 'each' or 'end'; found 'frist'",
    ),
    ("horizon", "  regex: a\nhorizon", "expected one of 'ltlf' and 'regex'"),
    ("horizon", "  rewad: 1\nhorizon", "cells.yaml:8:3: machine: unknown key 'rewad' (did you mean 'reward'?)"),
    ("horizon", "  chance: {itm: 0.5}\nhorizon", "cells.yaml:8: unknown proposition 'itm'"),
    (
        "horizon",
        "  chance: {item: 1.5}\nhorizon",
        "cells.yaml:8: the chance of noticing 'item' is 1.5; it must lie in [0, 1]",
    ),
    ("horizon", "  propositions: [item]\nhorizon", "unknown proposition 'delivery'"),
    ('"F(item & X F delivery)"', "{F item: 1, F home: 1}\n  reward: 2", "rewards of their own"),
    ('"F(item & X F delivery)"', "[F item]", "expected a formula, or {formula: reward} for several"),
    ('"F(item & X F delivery)"', "{}", "it should not be empty"),
]
BUILT_IN = [
    ("warehouse", "warhouse", ":1: unknown environment 'warhouse'"),
    ("size", "sise", ":1: warehouse has no parameter 'sise'"),
    ("3", "1", ":1: size=1"),
    ("3", "[4]", ":1: size=[4]"),
    ("3", "1000000000000", ":1: size=1000000000000"),
    ("{name: warehouse, size: 3}", "{name: random, seed: x}", ":1: "),
    ("{name: warehouse, size: 3}", "4", ":1:14: environment: "),
]
TABLE = [
    ("FrozenLake-v1", "FrozenPond-v1", ":2: "),
    ("FrozenLake-v1", "os:FrozenLake-v1", ":2: found 'os:FrozenLake-v1'; expected the id of a registered"),
    ("is_slippery", "slipperiness", ":2: "),
    ("is_slippery: false", "labels: 3", ":3:12: gymnasium.options: "),
    ("to: 15", "to: 16", ":5: unknown observation '16'"),
    ("label: [goal]", "label: [gaol]", ":5: the label {gaol}"),
    ("  id: FrozenLake-v1\n", "", ":2:3: gymnasium: the key 'id' is missing"),
]
BOX = [
    (BINS, "", ":2: MountainCar-v0 shows Box"),
    ("position: 12, ", "", ":3: bins has 1 entries; expected one number, or an entry for each of 2"),
    ("[-0.01, 0.0, 0.01]", "[0.1, 0.0]", ":3: bins[1]=[0.1, 0.0]; expected"),
    ("position: 12", "position: many", ":3:28: gymnasium.observations.position: it should be"),
    ("position: 12", "position: 0", ":3:28: gymnasium.observations.position: it should be greater"),
    ("position < -1.0", "positoin < -1.0", ":5: predicate 'left', column 1: unknown name"),
    ("'position >=", "'1 < flag & positoin >=", ":6: predicate 'flag', column 5"),
    ("position < -1.0", "abs(position) < 1", ":5:"),
    ("position < -1.0", "position.real < 1", ":5:"),
    ("position < -1.0", "position", ":5: predicate 'left', column 1: this is a number"),
    (LABELS, f"{TABLE_LABELS}{LABELS}", "expected one: a table has labels here, a black box"),
    (BINS, TABLE_LABELS, ":1:1: labels stand in two places"),
    (LABELS, "", ":1:1: labels are missing: a black box has"),
    (
        CAR[: CAR.index("labels")],
        "environment: {name: warehouse}\n",
        ":1:1: 'labels' beside 'gymnasium' are those of a black box",
    ),
    ("MountainCar-v0", "MountainCr-v0", "Did you mean: `MountainCar`?"),
    ("MountainCar-v0", "os:MountainCar-v0", ":2: found 'os:MountainCar-v0', which names a module"),
    ("  observations", "  options: {gaol: 1}\n  observations", ":3: Gymnasium cannot make"),
    ("F flag", "F flg", ":7: unknown proposition 'flg' (did you mean 'flag'?)"),
    ("horizon: 200\n", "", "the key 'horizon' is missing"),
    (
        LABELS,
        "labels: own.py:labels\n",
        ":4: found 'own.py:labels', which names code; a file executes code only",
    ),
    (BINS, "  encode: own:encode\n", ":3: found 'own:encode', which names code"),
    ("labels:", "  encode: own:encode\nlabels:", "found observations and encode; expected one"),
]
MISTAKES: dict[str, tuple[Callable[[str, str], object], str, list[tuple[str, str, str]]]] = {
    "m.hoa": (partial(read_hoa, pay="each"), STATES, AUTOMATON),
    "m.txt": (read_txt, PLAIN, TEXT),
    "m.json": (lambda text, name: read_spec(text), SPEC, EVENTS),
    "m.dot": (read_dot, STOCHASTIC, GRAPH),
    "moore.dot": (read_dot, MOORE + START, [("|", "", "moore.dot:5: the output, which is the reward, is 's10.25'")]),
    "cells.yaml": (parse_task, CELLS, FORMULA),
    "task.yaml": (partial(parse_task, allow_code=False), TASK, [*SPOILED.values()]),
    "environment.yaml": (parse_task, ENVIRONMENT, BUILT_IN),
    "table.yaml": (partial(parse_task, allow_code=False), GYMNASIUM, TABLE),
    "box.yaml": (partial(parse_task, allow_code=False), CAR, BOX),
}
ROWS = [(name, *row) for name, (_, _, rows) in MISTAKES.items() for row in rows]


@pytest.mark.parametrize(("name", "old", "new", "message"), ROWS)
def test_a_mistake_has_its_place(name: str, old: str, new: str, message: str) -> None:
    read, text, _ = MISTAKES[name]
    assert old in text
    with pytest.raises(PraemiaError) as caught:
        read(text.replace(old, new), name)
    said = str(caught.value)
    assert said.startswith(f"{name}:")
    assert message in said
    assert said.partition("\n")[0].count(f"{name}:") == 1

"""A task file that is right, and the ways to spoil it with the message that each should give."""

from __future__ import annotations

TASK = """\
mdp:
  observations: 2
  actions: [stay, go]
  start: 0
  transitions:
    - [0, stay, {0: 1}]
    - [0, go, {1: 0.75, 0: 0.25}]
    - [1, stay, {1: 1}]
    - [1, go, {0: 1}]
  labels:
    - {to: 1, label: [goal]}
    - {from: 1, action: go, label: [left]}
machine:
  states: [out, back]
  initial: out
  propositions: [goal, left]
  transitions:
    - {from: out, when: goal & !left, to: {back: {probability: 0.5, reward: 1}, out: 0.5}}
    - {from: back, when: left, to: out, reward: 0.25}
horizon: 2
"""

# name: (what is replaced, by what, the message after the file's name)
# fmt: off
SPOILED = {
    "unknown key": ("horizon: 2", "horizont: 2", ":20:1: unknown key 'horizont' (did you mean 'horizon'?)"),
    "unknown key within": ("start: 0", "begin: 0", ":4:3: mdp: unknown key 'begin'"),
    "key is missing": ("  initial: out\n", "", ":14:3: machine: the key 'initial' is missing"),
    "no horizon": ("horizon: 2", "", ":1:1: the key 'horizon' is missing"),
    "nothing to play in": ("mdp:", "environment:", ":2:3: environment: the key 'name' is missing"),
    "row sums to less": ("1: 0.75", "1: 0.7", ":7: observation 0, action go: probabilities sum to 0.95; they must"),
    "a key of thousands of digits": (
        "{1: 0.75, 0: 0.25}", '{? "' + "1" * 5_000 + '" : 0.75, 0: 0.25}',
        ":7: observation 0, action go: unknown observation",
    ),
    "row is missing": ("    - [1, go, {0: 1}]\n", "", ":6: observation 1, action go has no successors; every pair"),
    "row is doubled": ("[1, go,", "[0, go,", ":9: observation 0, action go: this pair already has a row"),
    "row is short": ("[1, go, {0: 1}]", "[1, go]", ":9:7: mdp.transitions[3]: a row is [observation, action,"),
    "row is empty": ("[1, go, {0: 1}]", "[1, go, {}]", ":9:15: mdp.transitions[3][2]: it should not be empty"),
    "negative probability": ("0: 0.25", "0: -0.25", ":7: observation 0, action go: probability -0.25; it must"),
    "probability is NaN": ("0: 0.25", "0: .nan", ":7:28: mdp.transitions[1][2].0: it should be a finite"),
    "probability is true": ("[1, go, {0: 1}]", "[1, go, {0: true}]", ":9:19: mdp.transitions[3][2].0: it should be"),
    "unknown observation": ("[1, go, {0: 1}]", "[1, go, {2: 1}]", ":9: observation 1, action go: unknown observ"),
    "unknown start": ("start: 0", "start: 7", ":4: unknown observation '7'; expected 0 … 1"),
    "start sums to more": ("start: 0", "start: {0: 0.5, 1: 0.75}", ":4: probabilities sum to 1.25"),
    "huge": ("observations: 2", "observations: 1000000000000", ":2: transition probabilities of 1,000,000,000,000"),
    "actions are a mapping": ("[stay, go]", "{stay: 1}", ":3:12: mdp.actions: expected a count or a list of names"),
    "action named twice": ("[stay, go]", "[go, go]", ":3: action 'go' is listed twice"),
    "label reads nothing": ("label: [goal]", "label: [gaol]", ":11: the label {gaol} has the proposition 'gaol'"),
    "label is a word": ("label: [goal]", "label: goal", ":11:22: mdp.labels[0].label: it should be a list"),
    "rule sums to less": ("out: 0.5}", "out: 0.47}", ":18: state 'out' on 'goal & !left': probabilities sum to 0.97"),
    "rules overlap": (
        "    - {from: back", "    - {from: out, when: goal, to: back}\n    - {from: back",
        ":19: state 'out': rules 'goal & !left' and 'goal' both match the label {goal}",
    ),
    "reward too large": ("reward: 0.25", "reward: 1e300", ":19: a reward of 1e+300; expected a number between"),
    "uniform reward upside down": ("reward: 1}", "reward: {uniform: [2, 1]}}", ":18: a uniform reward from 2 to 1; th"),
    "reward law sums to less": (
        "reward: 0.25", "reward: {values: [0, 1], probabilities: [0.5, 0.25]}",
        ":19: a reward: probabilities sum to 0.75",
    ),
    "reward law misspelt": ("reward: 0.25", "reward: {bernouli: 0.5}", "unknown key 'bernouli' (did you mean 'bern"),
    "reward beside several": ("out: 0.5}}", "out: 0.5}, reward: 1}", ":18:7: machine.transitions[0]: 'reward' stands"),
    "unknown machine state": ("to: out, reward", "to: outt, reward", ":19: state 'back' on 'left': unknown state 'out"),
    "unknown initial": ("initial: out", "initial: in", ":15: unknown machine state 'in'"),
    "unknown proposition": ("when: left", "when: lfet", ":19: state 'back' on 'lfet': unknown proposition 'lfet'"),
    "guard is broken": ("when: left", "when: left &", ":19: guard 'left &'"),
    "first_match is a word": ("  states: [out", "  first_match: maybe\n  states: [out", ":14:16: machine.first_match:"),
    "horizon too long": ("horizon: 2", "horizon: 99999999", ":20:10: horizon: it should be less than"),
    "machine is a list": ("machine:\n", "machine: [1]\nrest:\n", ":13:10: machine: expected a machine or the name"),
    "alias": ("start: 0", "start: *x", ":4:10: not valid YAML: found undefined alias"),
    "tag": ("start: 0", "start: !!python/name:os.system 0", ":4:10: the tag"),
    "key given twice": ("horizon: 2", "horizon: 2\nhorizon: 3", ":21:1: the key 'horizon' is given twice"),
    "broken": ("[stay, go]", "[stay, go", ": not valid YAML"),
}
# fmt: on


def spoil(name: str) -> str:
    """Return the task with one of the ways to spoil it."""
    old, new, _ = SPOILED[name]
    if TASK.count(old) != 1:
        raise ValueError(f"{name}: {old!r} is not once in the text")
    return TASK.replace(old, new)

"""Machines in Toro Icarte's text format, in every style that occurs, and what the original makes of them.

``Original`` follows the original's own rules as plainly as possible: lines are evaluated, entries are kept in dicts by
(from, to), a label is a string of letters. The samples are our own, so evaluating them is safe.
"""

from __future__ import annotations

from typing import Any

PLAIN = """\
0      # initial state
[2]    # terminal state
(0,0,'!f&!n',ConstantRewardFunction(0))
(0,1,'f&!n',ConstantRewardFunction(0))
(1,1,'!g&!n',ConstantRewardFunction(0))
(1,2,'g&!n',ConstantRewardFunction(1))
"""

SAMPLES = {
    "plain": PLAIN,
    "the first that holds is taken": """\
0
[]
(0,1,'a',ConstantRewardFunction(0.5))
(0,2,'b',ConstantRewardFunction(1))
(0,0,'True',ConstantRewardFunction(0))
(1,0,'b|a&c',ConstantRewardFunction(0.25))
(1,1,'c',ConstantRewardFunction(0.125))
(2,0,'!a&!b',ConstantRewardFunction(0.75))
(2,2,'a|!b',ConstantRewardFunction(0))
""",
    "a later line replaces an earlier one": """\
0
[3]
(0,1,'a',ConstantRewardFunction(1))
(0,2,'b',ConstantRewardFunction(0.5))
(0,1,'b&c',ConstantRewardFunction(0.25))
(1,0,'True',ConstantRewardFunction(0))
(2,0,'a',ConstantRewardFunction(0.5))
(2,0,'b',ConstantRewardFunction(0.75))
(2,2,'!b',ConstantRewardFunction(0))
""",
    "where no line holds it ends": """\
0
[1]
(0,0,'!a',ConstantRewardFunction(0.1))
(0,2,'a&b',ConstantRewardFunction(0))
(2,1,'c',ConstantRewardFunction(1))
""",
    "all terminal states are one": """\
1
[2,3]
(1,2,'a',ConstantRewardFunction(1))
(1,1,'b',ConstantRewardFunction(0.5))
(1,3,'c',ConstantRewardFunction(0.25))
(2,1,'a',ConstantRewardFunction(1))
(3,3,'True',ConstantRewardFunction(1))
""",
    "constants and empty guards": """\
0
[]
(0,1,'False',ConstantRewardFunction(1))
(0,2,'a&True',ConstantRewardFunction(0.5))
(0,0,'',ConstantRewardFunction(0.25))
(2,0,'!False&!a|!True',ConstantRewardFunction(0.75))
(2,2,'True',ConstantRewardFunction(0))
(1,0,'True',ConstantRewardFunction(0))
""",
    "blanks, comments and quotes": """\
# a machine

 0
[ 2 , ]   # with a comma
( 0 , 1 , "a & !b | c" , ConstantRewardFunction( .5 ) )   # to 1, 'half'

# between
(0, 0, 'True', ConstantRewardFunction(0.)),
\t(1,2,"b",ConstantRewardFunction(1e-1))
(1,1,'!b', ConstantRewardFunction(+0))
""",
    "rewards by label": """\
0
[2]
(0,0,'!f&!n',ConstantRewardFunction(0))
(0,1,'f|n',LabelRewardFunction({"f&n": 0.5, "f": 1.0, 'g': 0.25, "f&n": 0.125}))
(1,2,'g',LabelRewardFunction({}))
(1,1,'True',NoisyContLabelRewardFunction({'f': (0.5, 0), 'n': (1, 0.0)}))
""",
    "starts at the end": "2\n[2]\n(0,2,'a',ConstantRewardFunction(1))\n",
    "other characters": "0\n[]\n(0,0,'*|!A&é',ConstantRewardFunction(1))\n(0,1,'A',ConstantRewardFunction(0))\n",
    "penalties": PLAIN.replace("Function(0)", "Function(-0.1)", 1).replace("Function(1)", "Function(1000)"),
    "noise": "0\n[1]\n(0,1,'a',NoisyContRewardFunction(0.9, 0.3))\n(0,0,'True',NoisyContRewardFunction(0.5, 0.25))\n",
    "noise by label": "0\n[1]\n(0,1,'a|b',NoisyContLabelRewardFunction({'a': (1, 0.5), 'b': (-1, 0.25)}))\n",
}


def _constant(mean: float, width: float = 0.0) -> Any:
    return lambda label: mean


def _by_label(rewards: dict[str, Any]) -> Any:
    def reward(label: str) -> float:
        for guard, value in rewards.items():
            if holds(guard, label):
                return float(value[0] if isinstance(value, tuple) else value)
        return 0.0

    return reward


_NAMES = {
    "ConstantRewardFunction": _constant,
    "NoisyContRewardFunction": _constant,
    "LabelRewardFunction": _by_label,
    "NoisyContLabelRewardFunction": _by_label,
}


def holds(guard: str, label: str) -> bool:
    """Decide a guard on a label, a string of letters."""
    if "|" in guard:
        return any(holds(part, label) for part in guard.split("|"))
    if "&" in guard:
        return all(holds(part, label) for part in guard.split("&"))
    guard = guard.strip()
    if guard.startswith("!"):
        return not holds(guard[1:], label)
    return guard == "True" or (guard != "False" and guard in label)


class Original:
    """A machine as the original keeps it; None is the one terminal state."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
        # The original evaluates its files, and so does this copy of its meaning, on the samples above alone.
        terminals = eval(lines[1])
        self.moves: dict[int, dict[int | None, str]] = {}
        self.rewards: dict[int, dict[int | None, Any]] = {}
        start = eval(lines[0])
        self.initial = None if start in terminals else start
        for line in lines[2:]:
            entry = eval(line, dict(_NAMES))
            source, target, guard, reward = entry[0] if len(entry) == 1 else entry
            if source not in terminals:
                end = None if target in terminals else target
                self.moves.setdefault(source, {})[end] = guard
                self.rewards.setdefault(source, {})[end] = reward

    def step(self, state: int | None, label: str) -> tuple[int | None, float]:
        """Return the next state and the mean reward."""
        if state is not None:
            for target, guard in self.moves.get(state, {}).items():
                if holds(guard, label):
                    return target, self.rewards[state][target](label)
        return None, 0.0

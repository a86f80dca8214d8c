"""How well deterministic machines are merged from random traces, beside RPNI (Oncina and García 1992).

Machines like a message broker with two clients, of 17 or 18 states and 10 inputs; traces of 30 random inputs
each. A word of 30 further random inputs is wrong if a model answers it otherwise than the machine, or not at all.
Run with: python benchmarks/merge_states.py [--machines 20] [--traces 300 1000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import count, islice, product

import numpy as np

from praemia.inference.merging import fold_states
from praemia.inference.reading import as_traces

LENGTH, NUM_TESTS = 30, 200
ACTIONS = ("connect", "disconnect", "subscribe", "unsubscribe", "publish")
INPUTS = tuple(product((0, 1), ACTIONS))

Step = tuple[int, int]  # the number of an input, and of what it pays
Model = tuple[list[dict[int, int]], list[dict[int, int]]]  # by state: the next state and the output of each input


class Broker:
    """Two clients, each off, on or subscribed, and a message that may be retained; details are drawn."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.closes_on_second_connect = rng.random(2) < 0.5
        self.closes_on_odd_unsubscribe = rng.random(2) < 0.5
        self.retains = rng.permutation([True, bool(rng.random() < 0.5)])
        self.forgets_when_all_off = rng.random() < 0.5
        self.tells_of_disconnect = rng.random(2) < 0.5
        self.publisher_hears_itself = rng.random(2) < 0.5

    def step(self, state: tuple[str, str, bool], client: int, action: str) -> tuple[tuple[str, str, bool], str]:
        """Return the next state and what is sent back."""
        first, second, retained = state
        mine, other = (first, second) if client == 0 else (second, first)
        after, sent, told = mine, "nothing", "nothing"
        if mine == "off":
            if action == "connect":
                after, sent = "on", "acknowledged"
        elif action == "connect":
            after, sent = ("off", "closed") if self.closes_on_second_connect[client] else (mine, "nothing")
        elif action == "disconnect":
            after, sent = "off", "closed"
            told = "gone" if self.tells_of_disconnect[client] and other == "subscribed" else "nothing"
        elif action == "subscribe":
            after, sent = "subscribed", "acknowledged with message" if retained else "acknowledged"
        elif action == "unsubscribe":
            is_odd = mine == "on" and self.closes_on_odd_unsubscribe[client]
            after, sent = ("off", "closed") if is_odd else ("on", "acknowledged")
        else:
            retained = retained or bool(self.retains[client])
            sent = "message" if mine == "subscribed" and self.publisher_hears_itself[client] else "acknowledged"
            told = "message" if other == "subscribed" else "nothing"
        if self.forgets_when_all_off and after == other == "off":
            retained = False
        first, second = (after, other) if client == 0 else (other, after)
        return (first, second, retained), f"{sent}, {told}"


def minimal(broker: Broker) -> Model:
    """Return the smallest machine that answers as a broker does."""
    start = ("off", "off", False)
    states, outputs = [start], dict[str, int]()
    moves: list[list[int]] = []
    paid: list[list[int]] = []
    for state in states:
        moves.append([])
        paid.append([])
        for client, action in INPUTS:
            after, output = broker.step(state, client, action)
            if after not in states:
                states.append(after)
            moves[-1].append(states.index(after))
            paid[-1].append(outputs.setdefault(output, len(outputs)))
    blocks = [0] * len(states)
    while True:
        keys = [(*paid[q], *(blocks[z] for z in moves[q])) for q in range(len(states))]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        refined = [numbers[key] for key in keys]
        if len(set(refined)) == len(set(blocks)):
            first = [refined.index(block) for block in range(len(numbers))]
            return (
                [{i: refined[z] for i, z in enumerate(moves[q])} for q in first],
                [dict(enumerate(paid[q])) for q in first],
            )
        blocks = refined


def play(model: Model, word: Sequence[int]) -> list[Step] | None:
    """Return a trace of a model; None if it does not know what to do."""
    state, trace = 0, []
    for i in word:
        if i not in model[0][state]:
            return None
        trace.append((i, model[1][state][i]))
        state = model[0][state][i]
    return trace


def rpni(traces: Sequence[Sequence[Step]]) -> Model:
    """Merge states of the prefix tree in the order of their access, each with the first that does not conflict."""
    moves, outputs = [dict[int, int]()], [dict[int, int]()]
    for trace in traces:
        node = 0
        for i, output in trace:
            if i not in moves[node]:
                moves.append({})
                outputs.append({})
                moves[node][i] = len(moves) - 1
                outputs[node][i] = output
            node = moves[node][i]
    red = [0]
    while blue := [(q, i) for q in red for i in sorted(moves[q]) if moves[q][i] not in red]:
        source, letter = blue[0]
        node = moves[source][letter]
        for state in red:
            undo: list[tuple[dict[int, int], int, int | None]] = []
            _set(moves[source], letter, state, undo)
            if _fold(moves, outputs, state, node, undo):
                break
            for table, key, old in reversed(undo):
                table.pop(key) if old is None else table.update({key: old})
        else:
            red.append(node)
    number = {q: k for k, q in enumerate(red)}
    return [{i: number[z] for i, z in moves[q].items()} for q in red], [outputs[q] for q in red]


def _set(table: dict[int, int], key: int, value: int, undo: list[tuple[dict[int, int], int, int | None]]) -> None:
    undo.append((table, key, table.get(key)))
    table[key] = value


def _fold(
    moves: list[dict[int, int]],
    outputs: list[dict[int, int]],
    state: int,
    node: int,
    undo: list[tuple[dict[int, int], int, int | None]],
) -> bool:
    """Lay a tree on a state; False if some outputs differ."""
    queue = [(state, node)]
    for one, two in queue:
        for i, after in moves[two].items():
            if i in outputs[one]:
                if outputs[one][i] != outputs[two][i]:
                    return False
                queue.append((moves[one][i], after))
            else:
                _set(outputs[one], i, outputs[two][i], undo)
                _set(moves[one], i, after, undo)
    return True


def merged(traces: Sequence[Sequence[Step]]) -> Model:
    """Merge states as ``praemia.infer`` does."""
    data = as_traces([[((f"i{i}",), float(output)) for i, output in trace] for trace in traces])
    delta = fold_states(data)
    moves: list[dict[int, int]] = [{} for _ in range(len(delta))]
    outputs: list[dict[int, int]] = [{} for _ in range(len(delta))]
    for state, symbol in np.argwhere(delta >= 0).tolist():
        (name,) = data.labels[data.label_of[symbol]]
        moves[state][int(name[1:])] = int(delta[state, symbol])
        outputs[state][int(name[1:])] = int(data.rewards[data.reward_of[symbol]])
    return moves, outputs


def brokers(num_machines: int) -> list[Model]:
    """Sample machines of 17 or 18 states."""
    drawn = (minimal(Broker(np.random.default_rng(seed))) for seed in count())
    return list(islice((model for model in drawn if 17 <= len(model[0]) <= 18), num_machines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument("--traces", type=int, nargs="+", default=[300, 1_000])
    chosen = parser.parse_args()
    truths = brokers(chosen.machines)
    methods: dict[str, Callable[[Sequence[Sequence[Step]]], Model]] = {"RPNI": rpni, "praemia": merged}
    for num_traces, (name, method) in product(chosen.traces, methods.items()):
        sizes, wrong, seconds = [], [], []
        for number, truth in enumerate(truths):
            words = np.random.default_rng([number, 1]).integers(len(INPUTS), size=(num_traces + NUM_TESTS, LENGTH))
            answers = [play(truth, word) or [] for word in words.tolist()]
            began = time.process_time()
            model = method(answers[:num_traces])
            seconds.append(time.process_time() - began)
            sizes.append(len(model[0]))
            tests = zip(words[num_traces:].tolist(), answers[num_traces:], strict=True)
            wrong.append(np.mean([play(model, word) != answer for word, answer in tests]))
        print(
            f"{num_traces:>5,} traces, {name:<8} {min(sizes)}–{max(sizes)} states, median {np.median(sizes):.0f}; "
            f"{np.mean(wrong):.1%} of words wrong; {np.mean(seconds):.2f} s"
        )


if __name__ == "__main__":
    main()

"""Draw an inferred machine with its support, beside the truth where it is known.

A state shows how many steps were taken in it and, beside the truth, the true states it stands for. An edge shows how
often it was taken. What differs from the truth is red in both drawings: rewards that only one of them can pay, and true
chances outside their intervals.
"""

from __future__ import annotations

from praemia.inference.answer import Inference
from praemia.inference.comparing import Comparison, compare_machines
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule
from praemia.pictures.diagrams import MachineDrawing
from praemia.pictures.machine_graph import Annotated
from praemia.text_tables import plural


def inference_drawing(inference: Inference, truth: RewardMachine | None = None) -> MachineDrawing:
    """Draw an inferred machine; beside the true machine, if it is given."""
    if truth is None:
        return MachineDrawing(_annotated(inference))
    truth = truth.over(inference.machine.propositions)
    compared = compare_machines(inference.machine, truth, inference.edges)
    wrong = {(true_state, label) for _, true_state, label in compared.differences}
    marked = Annotated(truth, "the truth", {}, {}, _marked(truth, wrong), frozenset(s for s, _ in wrong))
    return MachineDrawing(_annotated(inference, compared), marked)


def _annotated(inference: Inference, compared: Comparison | None = None) -> Annotated:
    """Return an inferred machine with its support as notes, and what differs from the truth marked."""
    machine = inference.machine
    notes = {state: plural(count, "step") for state, count in inference.visits.items()}
    wrong = set() if compared is None else {(state, label) for state, _, label in compared.differences}
    if compared is not None:
        notes = {
            state: f"{text} · {' or '.join(compared.partners[state]) or 'no true state'}"
            for state, text in notes.items()
        }
    edge_notes = {
        (rule.source, out.target, str(rule.guard)): f"{_count(inference, rule, out):,}×"
        for rule in machine.rules
        for out in rule.outcomes
    }
    title = f"inferred from {plural(inference.num_episodes, 'episode')}"
    return Annotated(machine, title, notes, edge_notes, _marked(machine, wrong), frozenset(s for s, _ in wrong))


def _marked(machine: RewardMachine, wrong: set[tuple[str, Label]]) -> frozenset[tuple[str, str, str]]:
    """Return the edges of the rules that hold on one of some labels in its state."""
    return frozenset(
        (rule.source, out.target, str(rule.guard))
        for rule in machine.rules
        for out in rule.outcomes
        if any(state == rule.source and rule.guard.holds(label) for state, label in wrong)
    )


def _count(inference: Inference, rule: Rule, outcome: Outcome) -> int:
    """Return how often an outcome of a rule was seen."""
    return sum(
        edge.count
        for edge in inference.edges
        if edge.source == rule.source and edge.target == outcome.target and rule.guard.holds(edge.label)
    )

"""Draw an inferred machine with its support, beside the truth where it is known.

A state shows how many steps were taken in it and, beside the truth, the true states it stands for. An edge shows how
often it was taken. What differs from the truth is red in both drawings: rewards that only one of them can pay, and true
chances outside their intervals.
"""

from __future__ import annotations

from praemia.inference.answer import Inference
from praemia.inference.comparing import compare_with_truth
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule
from praemia.pictures.diagrams import MachineDrawing
from praemia.pictures.machine_graph import Annotated
from praemia.text_tables import plural


def inference_drawing(inference: Inference, truth: RewardMachine | None = None) -> MachineDrawing:
    """Draw an inferred machine; beside the true machine, if it is given."""

    def count(rule: Rule, outcome: Outcome) -> str:
        """Write how often an outcome of a rule was observed, or is expected to have happened."""
        edges = (edge for edge in inference.edges if (edge.source, edge.target) == (rule.source, outcome.target))
        return f"{sum(edge.count for edge in edges if rule.guard.holds(edge.label)):,.0f}×"

    title = f"inferred from {plural(inference.num_episodes, 'episode')}"
    if inference.is_fitted:
        title = (
            f"fitted to {plural(inference.num_episodes, 'episode')}: some moves are hidden, counts are expected ones"
        )
    notes = {state: plural(steps, "step") for state, steps in inference.visits.items()}
    if truth is None:
        return MachineDrawing(Annotated(inference.machine, title, notes, count))
    truth = truth.over(inference.machine.propositions)
    compared = compare_with_truth(inference, truth)
    for state in notes:
        notes[state] += f" · {' or '.join(compared.partners[state]) or 'no true state'}"
    wrong = {(item.state, item.label) for item in compared.differences}
    truly_wrong = {(item.true_state, item.label) for item in compared.differences}
    return MachineDrawing(
        Annotated(inference.machine, title, notes, count, wrong), Annotated(truth, "the truth", wrong=truly_wrong)
    )

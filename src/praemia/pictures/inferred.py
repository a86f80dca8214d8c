"""Draw an inferred machine with how often each edge was observed, beside the true machine where that is given.

What differs from the truth is red in both; each inferred state names the true states that it stands for.
"""

from __future__ import annotations

from praemia._support.text_tables import plural
from praemia.inference.answer import Inference
from praemia.inference.comparing import compare_machines
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule
from praemia.pictures.diagrams import machine_drawing
from praemia.pictures.drawing import Drawing
from praemia.pictures.machine_graph import Annotated


def inference_drawing(inference: Inference, truth: RewardMachine | None = None) -> Drawing:
    """Draw an inferred machine; beside the true machine, if it is given."""

    def count(rule: Rule, outcome: Outcome) -> str:
        edges = (edge for edge in inference.edges if (edge.source, edge.target) == (rule.source, outcome.target))
        return f"{sum(edge.count for edge in edges if rule.guard.holds(edge.label)):,}×"

    title = f"inferred from {plural(inference.num_episodes, 'episode')}"
    notes = {state: plural(steps, "step") for state, steps in inference.visits.items()}
    if truth is None:
        return machine_drawing(Annotated(inference.machine, title, notes, count))
    truth = truth.over(inference.machine.propositions)
    compared = compare_machines(inference.machine, truth, inference.edges)
    notes = {
        state: f"{own} · {' or '.join(compared.partners[state]) or 'no true state'}" for state, own in notes.items()
    }
    wrong, truly_wrong = ({(ends[i], label) for *ends, label in compared.differences} for i in (0, 1))
    return machine_drawing(
        Annotated(inference.machine, title, notes, count, wrong), Annotated(truth, "the truth", wrong=truly_wrong)
    )

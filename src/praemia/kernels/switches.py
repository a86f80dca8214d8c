"""What a plan is compiled for: switches and functions that take the place of those here.

The text of a plan is the same for all learners. A kernel that depends on the learner imports its names from here, and
``praemia.kernels.plans`` compiles it with the learner's own in their place: what a learner does not do is not compiled
for it. ``praemia.learners.rules.PlanRule`` says what belongs to a learner.
"""

from __future__ import annotations

from typing import Any

LANES = 4  # machine states that are done at a time
LIMIT_LABELS = False  # whether the limit is what the labels allow
MONOTONE = False  # whether Q never rises above that of the previous plan
UNSEEN = False  # whether ``pair_value`` covers pairs never visited too, over the rows of every (o, a, o')
SORTS_ROWS = False  # whether the rows are sorted at every step (``praemia.kernels.confidence_sets``)
LEARN_MACHINE = False  # whether the machine's layers are estimates, rewritten for every plan; drawn ones if ``UNSEEN``
HAS_LOWER = False  # whether there are lower values
ORDERED = False  # whether ties are broken by what is certain and what is soonest, not drawn
REPAIRS = False  # whether tables of all steps are kept, so that a plan can be repaired
VARIANCE_OF_W = False  # whether rows hold W alone, and the mean of φ is added to a pair's value
SPREAD = False  # whether the spread is measured (``praemia.kernels.bonus``)
BY_STEP = False  # whether pairs have numbers that depend on the step
LATER_VISITS = False  # whether these are computed from the visits at later steps
NUM_NUMBERS = 1  # how many numbers ``numbers`` returns
TELLS_EPISODES = False  # whether ``numbers`` is told the episodes
FOR_ALL_STATES = False  # whether every machine state learns from a step (``praemia.kernels.q_learning``)

# Once for a plan: the numbers of a pair and of its successors; and what a pair is worth, and a lower bound if any.
prepare_pair: Any = None
pair_value: Any = None
# Of a learner with a bonus (``praemia.kernels.bonus``).
numbers: Any = None
worth: Any = None
lower: Any = None

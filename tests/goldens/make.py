"""Write goldens.json, what the package computes, which the tests compare with (make goldens).

A learner that meets a tie breaks it otherwise if a logarithm is rounded otherwise, and then goes another way. So only
records are kept that stay the same when all coefficients of learners are moved a little; where a whole run does not,
its beginning may.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from golden_records import differences, records
from golden_sections import BEGINNING, SECTIONS

NUDGES = (1e-14, -1e-14, 1e-13)


def stable(section: str) -> dict[str, Any]:
    """Return the records of a section that do not depend on how logarithms are rounded."""
    forms = records(section)
    for nudge in NUDGES:
        nudged = records(section, nudge)
        forms = {name: form for name, form in forms.items() if not list(differences({name: form}, nudged))}
    return {name: form for name, form in forms.items() if name.removesuffix(BEGINNING) not in forms.keys() - {name}}


if __name__ == "__main__":
    made = {name: form for section in SECTIONS for name, form in stable(section).items()}
    lines = (f"{json.dumps(name)}: {json.dumps(form, ensure_ascii=False)}" for name, form in made.items())
    Path(__file__).with_name("goldens.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

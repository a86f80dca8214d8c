"""Write golden records: what the package computes, to be compared after a change that should not change it.

    python tests/goldens/make.py                     write goldens.json, which the tests compare with (make goldens)
    python tests/goldens/make.py --only runs plans   write these sections of it anew, and leave the others
    python tests/goldens/make.py --out before.json   write every record with every bit, for compare.py on this machine

A learner that meets a tie breaks it otherwise if a logarithm is rounded otherwise, and then goes another way. So
goldens.json has only records that stay the same when all coefficients of learners are moved a little; where a whole run
does not, its beginning may.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from golden_records import differences, exact_forms, portable_forms, write
from golden_runs import whole_run
from golden_sections import SECTIONS, records

GOLDENS = Path(__file__).with_name("goldens.json")
NUDGES = (1e-14, -1e-14, 1e-13)


def portable(section: str) -> dict[str, Any]:
    """Return the records of a section that do not depend on how logarithms are rounded."""
    forms = portable_forms(records(section))
    for nudge in NUDGES if forms else ():
        nudged = portable_forms(records(section, nudge))
        forms = {name: form for name, form in forms.items() if not list(differences(form, nudged[name]))}
    return {name: form for name, form in forms.items() if whole_run(name) not in forms.keys() - {name}}


def exact(section: str) -> dict[str, Any]:
    """Return all records of a section with every bit."""
    return exact_forms(records(section))


def main(arguments: Iterable[str]) -> None:
    """Write golden records."""
    parser = argparse.ArgumentParser(description="Write golden records.")
    parser.add_argument("--out", type=Path, help="write every record with every bit to this file")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="these sections alone")
    chosen = parser.parse_args(list(arguments))
    old = json.loads(GOLDENS.read_text(encoding="utf-8")) if chosen.out is None else {}
    forms: dict[str, Any] = {}
    for section in SECTIONS:
        if section not in chosen.only:
            forms |= {name: form for name, form in old.items() if name.partition("/")[0] == section}
            continue
        began = time.process_time()
        made = portable(section) if chosen.out is None else exact(section)
        forms |= made
        print(f"{section}: {len(made):,} records, {time.process_time() - began:.1f} s", file=sys.stderr)
    (chosen.out or GOLDENS).write_text(write(forms), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""List what differs between two files that ``make.py --out`` wrote on one machine: compare.py BEFORE AFTER."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from golden_records import differences


def main(arguments: list[str]) -> int:
    """Print a line for every difference; return 1 if there are any."""
    before, after = (json.loads(Path(name).read_text(encoding="utf-8")) for name in arguments)
    lines = list(differences(before, after))
    print("\n".join([*lines, f"{len(lines):,} differences in {len(before | after):,} records"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

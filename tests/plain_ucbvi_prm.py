"""UCBVI-PRM in plain Python, as a module: the code of docs/concepts/ucbvi-prm-line-by-line.md.

The last block of the page compares it with the fast learner and is left out. No kernel of the package is used.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "concepts" / "ucbvi-prm-line-by-line.md"

_blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
for _block in _blocks[:-1]:
    exec(compile(_block, str(PAGE), "exec", dont_inherit=True))

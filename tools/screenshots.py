"""Take pictures of what users see first: ``python tools/screenshots.py [NAME …]``, after ``make docs reproduce`` and

    praemia watch examples/car.yaml --episodes 120 -o results/car.html

Each page is taken at the widths of a screen and of a phone, light and dark, and kept in docs/screenshots/ as a small
file, so that a change of looks can be seen in a commit. Needs Chromium.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from browser import Page, browser  # noqa: E402

FOLDER = ROOT / "docs" / "screenshots"
SITE = ROOT / "site"
PAGES = {
    "home": SITE / "index.html",
    "tutorial": SITE / "tutorials" / "own-grid.html",
    "formulas": SITE / "concepts" / "headroom.html",
    "reference": SITE / "reference" / "praemia.Task.html",
    "learner": SITE / "reference" / "learners.html",
    "environment": SITE / "reference" / "environments.html",
    "report": ROOT / "results" / "report.html",
    "watch": SITE / "pictures" / "watch.html",
    "watch-box": ROOT / "results" / "car.html",
}
PLACES = {"environment": "warehouse", "learner": "eqo", "tutorial": "3-its-optimum"}  # headings to scroll to
SIZES = {1280: 900, 390: 844}
COLOURS = 256
SETTLED = "new Promise(done => setTimeout(() => done(true), 400))"  # colours fade in


def take(page: Page, name: str, width: int, scheme: str) -> None:
    """Write the first screen of the page that is open."""
    size = {"width": width, "height": SIZES[width], "deviceScaleFactor": 1, "mobile": width < 500}
    page.call("Emulation.setDeviceMetricsOverride", **size)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    for place in ("", PLACES.get(name, "")):  # twice: at another width, the same place is somewhere else
        page.ask(f"location.hash = {place!r}")
    page.ask(SETTLED)
    shot = base64.b64decode(page.call("Page.captureScreenshot", format="png")["data"])
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(FOLDER / f"{name}-{width}-{scheme}.png", optimize=True)


def main(names: list[str]) -> None:
    """Take pictures of the pages that are there, and say which are not."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        for name in names:
            if not PAGES[name].is_file():
                print(f"{name}: no {PAGES[name].relative_to(ROOT)}", file=sys.stderr)
                continue
            page.open(PAGES[name])
            for width in SIZES:
                for scheme in ("light", "dark"):
                    take(page, name, width, scheme)


if __name__ == "__main__":
    main(sys.argv[1:] or list(PAGES))

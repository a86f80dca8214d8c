"""A real browser for tests: headless Chromium, driven by the DevTools protocol over two pipes.

Standard library only: messages are JSON, each ended by a zero byte (``--remote-debugging-pipe``).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

REQUIRE = "PRAEMIA_REQUIRE_BROWSER"
PATIENCE = 600.0  # far more than anything takes on a busy machine
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1200,1000",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name leads anywhere: there is no network
    "--remote-debugging-pipe",
)

# The browser reads from descriptor 3 and writes to 4; copies above both keep one from overwriting the other.
LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> str:
    """Return the browser; where there is none, skip the test and say so, or fail where one is required."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "no chromium here: the report was not opened in a browser (Debian: apt-get install chromium)"
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class Page:
    """One page of the browser: call its protocol, and see what it reported."""

    def __init__(self, to_browser: IO[bytes], from_browser: IO[bytes]) -> None:
        self._out, self._in, self._rest = to_browser, from_browser, b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = self._in.read(65536)
            assert chunk, "the browser has gone"
            self._rest += chunk
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def close(self) -> None:
        """Ask the browser to go."""
        self._session = None
        self.call("Browser.close")

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_until(self, expression: str) -> None:
        """Wait until an expression is true in the page."""
        deadline = time.monotonic() + PATIENCE
        while not self.ask(expression):
            assert time.monotonic() < deadline, f"still not so: {expression}"
            time.sleep(0.05)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_until("location.protocol === 'file:' && document.readyState === 'complete'")

    def click(self, element: str) -> None:
        """Press and release the mouse in the middle of the element that an expression gives."""
        self.ask(f"({element}).scrollIntoView({{block: 'center'}})")
        box = self.ask(
            f"(() => {{ const b = ({element}).getBoundingClientRect(); return [b.x, b.y, b.width, b.height] }})()"
        )
        place = {"x": box[0] + box[2] / 2, "y": box[1] + box[3] / 2}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def reported(self, method: str) -> list[dict[str, Any]]:
        """Return what events of a kind have said so far."""
        self.ask("0")  # reads what has come meanwhile
        return [event["params"] for event in self.events if event["method"] == method]

    def complaints(self) -> list[str]:
        """Return the errors and warnings of the console, and exceptions that nobody caught."""
        found = [str(p["exceptionDetails"]) for p in self.reported("Runtime.exceptionThrown")]
        found += [
            str(p["args"]) for p in self.reported("Runtime.consoleAPICalled") if p["type"] in {"error", "warning"}
        ]
        levels = {"error", "warning"}
        return found + [str(p["entry"]) for p in self.reported("Log.entryAdded") if p["entry"]["level"] in levels]

    def requests(self) -> list[str]:
        """Return all addresses that the page asked for."""
        return [str(p["request"]["url"]) for p in self.reported("Network.requestWillBeSent")]


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start the browser with an empty profile and give a page of it."""
    program = find_browser()
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), program, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(theirs_in, theirs_out),
        env={**os.environ, "LANG": "en_US.UTF-8"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        with (
            os.fdopen(ours_out, "wb", buffering=0) as to_browser,
            os.fdopen(ours_in, "rb", buffering=0) as from_browser,
        ):
            page = Page(to_browser, from_browser)
            yield page
            page.close()
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)

"""How long it will still take: from how fast the work went of late, without the time that compiling took."""

from __future__ import annotations

from bisect import bisect_right

ENOUGH_SECONDS = 1.0  # of work, before anything can be said
ENOUGH_WORK = (
    0.05  # the part of the work, if no run is finished yet: a run starts slowly, because it plans often at first
)
LATELY = 0.75  # the speed is that since this part of the time


class TimeLeft:
    """Estimate the time left of a number of runs, from how many are done, parts of runs included.

    The clock stands still while workers compile or load what is compiled.
    """

    def __init__(self, total: float) -> None:
        self._total = total
        self._clock, self._work = [0.0], [0.0]

    def note(self, work: float, seconds: float, num_working: int, num_waiting: int) -> None:
        """Note how much is done, and how many workers worked or waited in the seconds since the last note."""
        active = num_working + num_waiting
        # Workers of a cluster tell nothing but their results; others that tell nothing are only being started.
        alone = 1.0 if work > 0 else 0.0
        passed = seconds * (num_working / active if active else alone)
        self._clock.append(self._clock[-1] + passed)
        self._work.append(work)

    def seconds(self) -> float | None:
        """Return the time left in seconds; None while nothing can be said."""
        now, work = self._clock[-1], self._work[-1]
        if now < ENOUGH_SECONDS or work < min(1.0, ENOUGH_WORK * self._total):
            return None
        since = bisect_right(self._clock, LATELY * now) - 1
        lately = work - self._work[since]
        passed = now - self._clock[since]
        speed = lately / passed if lately > 0 else work / now
        return (self._total - work) / speed

    def __str__(self) -> str:
        left = self.seconds()
        if left is None:
            return ""
        if left < 90:
            return f"about {left:.0f} s left"
        minutes = round(left / 60)
        return f"about {minutes} min left" if minutes < 90 else f"about {left / 3600:.1f} h left"

"""Look up keys without pause in a separate thread, and count the look-ups."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from kafka_replica.demo.output import DemoOutput

_BATCH_KEYS = 1000
_LINE_S = 2.0
_UPDATE_S = 0.25
_PAUSE_S = 1e-6


class LookUps:
    """A thread that looks up keys without pause, except for a microsecond after every 1,000 look-ups.

    Args:
        look_up: looks up a key; an exception is a failure of the demonstration.
        keys: the keys, which are looked up in random order.
    """

    def __init__(self, look_up: Callable[[str], object], keys: Sequence[str]) -> None:
        self._look_up = look_up
        self._keys = random.sample(list(keys), len(keys))
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="look-ups", daemon=True)
        self.count = 0
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._thread.join()

    def show_rate(self, output: DemoOutput, seconds: float, describe: Callable[[], str]) -> float:
        """Show the number of look-ups per second for a while; return its mean.

        Args:
            output: the output.
            seconds: the duration, in seconds.
            describe: returns further text to show.
        """
        began_s, first = time.monotonic(), self.count
        line_s, line_count = began_s, first
        with output.waiting("look-ups") as update:
            while (now_s := time.monotonic()) < began_s + seconds:
                time.sleep(_UPDATE_S)
                rate = (self.count - line_count) / max(time.monotonic() - line_s, _UPDATE_S)
                update(f"{rate:,.0f} per second; {describe()}")
                if now_s - line_s >= min(_LINE_S, seconds / 2):
                    output.print(f"{rate:>12,.0f} look-ups per second; {describe()}")
                    line_s, line_count = time.monotonic(), self.count
        return (self.count - first) / (time.monotonic() - began_s)

    def _run(self) -> None:
        look_up, keys, start = self._look_up, self._keys, 0
        try:
            while not self._closing.is_set():
                batch = keys[start : start + _BATCH_KEYS]
                for key in batch:
                    look_up(key)
                self.count += len(batch)
                start = (start + _BATCH_KEYS) % len(keys)
                time.sleep(_PAUSE_S)  # releases Python's global lock, for which other threads wait
        except Exception as error:  # noqa: BLE001 - the demonstration reports it
            self.failure = error

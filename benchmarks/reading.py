"""The experiment on readers of structure messages: this project's, the bare parser under it, and others."""

from __future__ import annotations

from typing import Final

from benchmarks.stage import Stage

Figures = dict[str, float]

_LONG_TIMES, _SMALL_PASSES = 3, 9
_PEERS: Final = (("ml21", "lxml"), ("ml30", "lxml"), ("ml20", "lxml"), ("json", "json"), ("fusion", "pysdmx"))


def reading(stage: Stage) -> Figures:
    """Measure each format against its peer, on one long codelist and on many small messages."""
    figures: Figures = {}
    for format_, peer in _PEERS:
        for which in ("long", "small"):
            peer_s, read_s, walk_s = _seconds(stage, format_, which, peer, "read", "walk")
            figures[f"reading.{format_}.{which}"] = read_s / peer_s
            figures[f"reading.{format_}.{which}.walk"] = walk_s / peer_s
    sdmx1_s, read_s, walk_s = _seconds(stage, "ml21", "long", "sdmx1", "read", "walk")
    figures["reading.sdmx1"] = sdmx1_s / read_s
    figures["reading.sdmx1.walk"] = sdmx1_s / walk_s
    return figures


def _seconds(stage: Stage, format_: str, which: str, *readers: str) -> list[float]:
    """Return the time of each reader, run in turn; for the long message the best of a few new processes each."""
    if which == "small":
        return [stage.measure("reading", format_, which, reader, _SMALL_PASSES)["s"] for reader in readers]
    times = 1 if "sdmx1" in readers else _LONG_TIMES
    rounds = [[stage.measure("reading", format_, which, reader, 1)["s"] for reader in readers] for _ in range(times)]
    return [min(taken) for taken in zip(*rounds, strict=True)]

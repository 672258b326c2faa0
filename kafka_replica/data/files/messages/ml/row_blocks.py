"""Group the rows of a message into blocks, which share the values that their rows inherit."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.ml.data_set import Located, Run, Taken, run_of


def blocks_of(rows: list[Taken], skipped: int) -> Iterator[tuple[int, Block]]:
    """Group consecutive rows into blocks if they inherit the same values and have the same components of their own.

    Args:
        rows: the rows.
        skipped: the number of lines before the first line that the parser counts.
    """
    waiting: list[Located] = []
    names: tuple[str, ...] = ()
    for row in rows:
        if isinstance(row, Run):
            if waiting:
                yield _block(_run_of(waiting, names), skipped)
                waiting = []
            yield _block(row, skipped)
            continue
        own = tuple(row[2])
        if waiting and (row[1] is not waiting[0][1] or own != names):
            yield _block(_run_of(waiting, names), skipped)
            waiting = []
        waiting.append(row)
        names = own
    if waiting:
        yield _block(_run_of(waiting, names), skipped)


def _run_of(rows: list[Located], names: tuple[str, ...]) -> Run:
    lines, (above, *_), values = zip(*rows, strict=True)
    return run_of(names, above, lines, values)


def _block(run: Run, skipped: int) -> tuple[int, Block]:
    varying = dict(zip(run.names, run.columns, strict=True))
    lines = [line + skipped for line in run.lines] if skipped else run.lines
    if len(lines) == 1:
        return lines[0], Block(1, run.above | {name: value for name, (value,) in varying.items()}, {})
    shared = {name: each for name, each in run.above.items() if name not in varying}
    return lines[0], Block(len(lines), shared, varying, lines)

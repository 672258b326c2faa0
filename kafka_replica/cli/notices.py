"""Print the notices of producers and sources as lines of output."""

from __future__ import annotations

from collections.abc import Callable

from kafka_replica.cli.output import json_line, print_line
from kafka_replica.producer.notices import Notice


def notice_printer(*, as_json: bool) -> Callable[[Notice], None]:
    """Return a function that prints a notice as a line of text or JSON."""

    def print_notice(notice: Notice) -> None:
        words = {"event": type(notice).__name__.lower(), **notice._asdict()}
        if as_json:
            json_line(words)
        else:
            text = ", ".join(f"{name} {value}" for name, value in words.items() if name != "event" and value)
            print_line(f"{words['event']}{': ' if text else ''}{text}")

    return print_notice

"""Print the notices of producers and sources as lines of output."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias, assert_never

from kafka_replica.cli.log_output import time_text
from kafka_replica.cli.output import OutputClosedError, check_reader, print_json_line, print_line
from kafka_replica.common.wording import counted
from kafka_replica.producer.notices.notices import (
    Acknowledgement,
    Arrival,
    DatabaseWait,
    Notice,
    Retry,
    SendStart,
    SourceFailure,
    SourceRead,
    StandBy,
    Suspension,
    TableComparison,
    Takeover,
)

_Warned: TypeAlias = DatabaseWait | Retry | SourceFailure
"""The notices that their senders also log as warnings."""
_Printed: TypeAlias = (
    Takeover | StandBy | SendStart | Acknowledgement | Arrival | Suspension | SourceRead | TableComparison
)
_word_starts: Final = re.compile(r"(?<!^)(?=[A-Z])")


def notice_printer(*, as_json: bool) -> Callable[[Notice], None]:
    """Return a function that prints a notice as a line of JSON, or of text with the local time.

    As text, a notice that is also a warning on stderr is not printed, so that a log of both has it once.
    """

    def print_notice(notice: Notice) -> None:
        if as_json:
            print_json_line({"event": event_of(notice), **notice._asdict()})
        elif isinstance(notice, _Warned):
            check_reader()
        else:
            print_line(f"{time_text()} {sentence_of(notice)}")

    return print_notice


class StoppingPrinter:
    """An observer that prints notices, and stops their sender when the reader of the standard output has ended.

    Raising an exception would not stop the sender, because a sender ignores the exceptions of its observers.

    Args:
        as_json: whether to print JSON.
        stop: stops the sender.
    """

    def __init__(self, *, as_json: bool, stop: Callable[[], None]) -> None:
        self._print = notice_printer(as_json=as_json)
        self._stop = stop
        self._is_closed = False

    def __call__(self, notice: Notice) -> None:
        """Print a notice, unless the reader has ended."""
        if self._is_closed:
            return
        try:
            self._print(notice)
        except OutputClosedError:
            self._is_closed = True
            self._stop()

    def raise_if_closed(self) -> None:
        """Raise an error if the reader of the standard output has ended.

        Raises:
            OutputClosedError: the reader has ended.
        """
        if self._is_closed:
            raise OutputClosedError


def event_of(notice: Notice) -> str:
    """Return the name of a notice in JSON: the name of its class, such as ``database_wait`` for ``DatabaseWait``."""
    return _word_starts.sub("_", type(notice).__name__).lower()


def sentence_of(notice: _Printed) -> str:
    """Return a notice that is not logged as a warning as a sentence."""
    match notice:
        case SendStart(tx_id):
            return f"sending transaction {tx_id}"
        case Acknowledgement():
            lost = f"; {counted(notice.not_carried, 'record')} left out, which the format cannot represent"
            contents = f"{counted(notice.messages, 'record')}, {notice.size:,} bytes"
            return f"Kafka has transaction {notice.tx_id}: {contents}{lost if notice.not_carried else ''}"
        case Arrival(tx_id):
            return f"all transactions up to {tx_id} have arrived"
        case SourceRead():
            return _of_source(notice)
        case TableComparison():
            keys = f"{counted(notice.changed, 'key')} written, {notice.deleted:,} deleted"
            return f"the table was compared with its topic ({notice.reason}): {keys}"
        case _:
            return _of_state(notice)


def _of_state(notice: Takeover | StandBy | Suspension) -> str:
    match notice:
        case Takeover():
            return "this instance publishes from now on"
        case StandBy():
            return "another instance publishes; this one waits"
        case Suspension(tx_id, _, reason):
            at = "" if tx_id is None else f" at transaction {tx_id}"
            return f"suspended{at}: {reason}"
        case _:
            assert_never(notice)


def _of_source(notice: SourceRead) -> str:
    found = "nothing has changed"
    if notice.tx_ids:
        found = f"{counted(len(notice.tx_ids), 'transaction')} recorded, the last is {notice.tx_ids[-1]}"
    unreadable = f"; cannot be read: {'; '.join(notice.unreadable)}" if notice.unreadable else ""
    return f"the source was read: {found}{unreadable}"

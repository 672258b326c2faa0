"""Notices are printed as sentences, or as JSON with a name that programs rely on."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from kafka_replica.cli.notices import event_of, notice_printer, sentence_of
from kafka_replica.producer.notices import notices
from kafka_replica.producer.notices.notices import Notice

WARNINGS: list[notices.DatabaseWait | notices.Retry | notices.SourceFailure] = [
    notices.DatabaseWait("no answer"),
    notices.Retry(2, "transitory", "no broker"),
    notices.SourceFailure("no answer"),
]
SENTENCES: list[tuple[Any, str]] = [
    (notices.Takeover(), "this instance publishes from now on"),
    (notices.StandBy(), "another instance publishes; this one waits"),
    (notices.SendStart(7), "sending transaction 7"),
    (notices.Acknowledgement(7, 1234, 1, 0), "Kafka has transaction 7: 1 record, 1,234 bytes"),
    (
        notices.Acknowledgement(7, 10, 2, 3),
        ("Kafka has transaction 7: 2 records, 10 bytes; 3 records left out, which the format cannot represent"),
    ),
    (notices.Arrival(9), "all transactions up to 9 have arrived"),
    (notices.Suspension(3, 4, "refused"), "suspended at transaction 3: refused"),
    (notices.Suspension(None, 4, "refused"), "suspended: refused"),
    (notices.SourceRead(()), "the source was read: nothing has changed"),
    (
        notices.SourceRead((4, 5), ("a: bad", "b: bad")),
        ("the source was read: 2 transactions recorded, the last is 5; cannot be read: a: bad; b: bad"),
    ),
    (
        notices.TableComparison("start", 1, 1200),
        "the table was compared with its topic (start): 1 key written, 1,200 deleted",
    ),
]


@pytest.mark.parametrize(("notice", "words"), SENTENCES)
def test_notices(notice: Any, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each notice has a time and a sentence; its JSON has the name of its class and all fields."""
    assert sentence_of(notice) == words
    notice_printer(as_json=False)(notice)
    notice_printer(as_json=True)(notice)
    text, line = capsys.readouterr().out.splitlines()
    assert re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ", "TIME ", text) == f"TIME {words}"
    fields = json.loads(json.dumps(notice._asdict()))
    assert json.loads(line) == {"event": event_of(notice), **fields}


@pytest.mark.parametrize("notice", WARNINGS)
def test_a_problem_that_is_a_warning_on_stderr_is_printed_only_as_json(
    notice: Notice, capfd: pytest.CaptureFixture[str]
) -> None:
    """A log of both outputs has a retry once; programs still read it as an event."""
    notice_printer(as_json=False)(notice)
    assert capfd.readouterr().out == ""
    notice_printer(as_json=True)(notice)
    assert json.loads(capfd.readouterr().out)["event"] == event_of(notice)


def test_names_of_notices_in_json_are_those_that_programs_read() -> None:
    """Programs that read the lines depend on the names."""
    assert sorted({event_of(notice) for notice in [*WARNINGS, *(notice for notice, _ in SENTENCES)]}) == [
        "acknowledgement", "arrival", "database_wait", "retry", "send_start", "source_failure", "source_read",
        "stand_by", "suspension", "table_comparison", "takeover",
    ]  # fmt: skip


def test_all_notices_are_tested() -> None:
    """Each class of notices has a case in this file, so that a new class needs a sentence."""
    assert {*map(type, WARNINGS), *(type(notice) for notice, _ in SENTENCES)} == set(get_args(Notice))

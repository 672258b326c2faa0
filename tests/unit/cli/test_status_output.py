"""The output of ``kafka-replica status``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from kafka_replica import Partition
from kafka_replica.cli.commands import status as status_command
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.testing import FakeTopic
from support.core.unconfirmed_ends import set_unconfirmed


@pytest.mark.parametrize(
    ("unconfirmed", "shown"),
    [
        (frozenset(), "none"),
        (
            frozenset({Partition("codes", 1), Partition("codes", 0)}),
            "of codes-0, codes-1: too few brokers answer to exclude a newer leader",
        ),
    ],
)
def test_status_names_partitions_whose_end_is_unconfirmed(
    monkeypatch: pytest.MonkeyPatch, unconfirmed: frozenset[Partition], shown: str
) -> None:
    """All partitions are named, in their order; without any, the line says so."""
    topic = FakeTopic("codes", partitions=2)
    set_unconfirmed(monkeypatch).update(unconfirmed)
    monkeypatch.setattr(status_command, "command_replica", lambda _options: topic.replica())
    found = CliRunner().invoke(kafka_replica, ["status", "-b", "localhost:1", "-t", "codes"], standalone_mode=False)
    lines = dict(line.strip().split("  ", 1) for line in found.stdout.splitlines()[1:])
    assert lines["unconfirmed ends"].strip() == shown
    assert lines["boundaries"].strip() in {"markers", "quiescence"}

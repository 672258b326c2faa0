"""The checker of `make chaos` for the producer, on handmade data: each flaw is found, correct data passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from chaos.outbox.checker import Flaw, Flaws, check_end, check_log, check_marks, check_versions
from chaos.outbox.expected import expected_of
from chaos.outbox.store import Row
from chaos.outbox.watch import Logged, Version
from kafka_replica.headers.transactions import TransactionHeaders
from kafka_replica.records import Partition

GHOSTS = {"ghost": "old"}
ROWS = [
    Row(1, "changes", {"head": "a", "own-a": "a"}),
    Row(2, "deletions", {"own-a": None}),
    Row(3, "flush", {}),
    Row(4, "sweep", {}),
    Row(5, "changes", {"head": "b", "own-b": "b"}),
    Row(6, "flush", {}),
    Row(7, "sweep", {}),
    Row(8, "changes", {"head": "c"}),
]
EXPECTED = expected_of(ROWS, GHOSTS)
END = {"head": "c", "own-b": "b"}
VERSIONS = [
    Version({"ghost": "old"}),
    Version({"head": "a", "own-a": "a"}, {1}),
    Version({"own-a": None}),
    Version({"head": "a"}, {3}),
    Version({"ghost": None}),
    Version({"head": "b", "own-b": "b"}, {5}),
    Version({"head": "b", "own-b": "b"}, {6}),
    Version({"head": "c"}, {8}),
]


def log() -> list[Logged]:
    """Return a correct log, whose first record is of another producer."""
    place = Partition("chaos", 0)
    found = [Logged(place, 0, "ghost", "old", None)]
    for each in EXPECTED:
        for number, (key, value) in enumerate(each.content.items(), 1):
            transaction_headers = TransactionHeaders(f"chaos/{each.tx_id}", number, len(each.content), 0)
            found.append(Logged(place, len(found), key, value, transaction_headers))
    return found


def test_correct_histories_pass_without_flaws() -> None:
    """Flushes, sweeps with and without ghosts, and a version of several transactions pass without flaws."""
    flaws = Flaws()
    assert [dict(each.content) for each in EXPECTED[2:4]] == [{"head": "a"}, {"ghost": None}]
    check_log(EXPECTED, log(), flaws)
    check_marks(EXPECTED, dict.fromkeys(range(1, 9), 1), flaws)
    check_end(EXPECTED, GHOSTS, END, flaws)
    check_versions(EXPECTED, VERSIONS, GHOSTS, flaws)
    assert (flaws.wrong, flaws.together, flaws.versions) == (0, 0, 8), flaws.texts
    lagging = [*VERSIONS[:1], Version({"head": "b", "own-b": "b", "ghost": None}, {6}), VERSIONS[-1]]
    check_versions(EXPECTED, lagging, GHOSTS, flaws)
    assert (flaws.wrong, flaws.together) == (0, 1), flaws.texts


def of(found: list[Logged], tx_id: int) -> list[Logged]:
    """Return the records of one transaction."""
    return [
        each
        for each in found
        if each.transaction_headers is not None and each.transaction_headers.transaction == f"chaos/{tx_id}"
    ]


def moved(found: list[Logged], tx_id: int, offset: int) -> list[Logged]:
    """Return one transaction's records at other offsets."""
    return [replace(each, offset=offset + number) for number, each in enumerate(of(found, tx_id))]


@pytest.mark.parametrize(
    ("flaw", "change"),
    [
        (Flaw.MISSING, lambda found: [each for each in found if each not in of(found, 5)]),
        (Flaw.TWICE, lambda found: [*found, *moved(found, 8, 100)]),
        (Flaw.DISORDERED, lambda found: [*found, *moved(found, 5, 100)]),
        (Flaw.TORN, lambda found: [each for each in found if each not in of(found, 5)[1:]]),
        (Flaw.TORN, lambda found: [replace(each, value="x") if each.key == "own-b" else each for each in found]),
        (
            Flaw.CONTRADICTED,
            lambda found: [*found, replace(found[-1], transaction_headers=TransactionHeaders("chaos/9", 1, 1, 0))],
        ),
    ],
)
def test_a_flaw_of_the_log_is_found(flaw: Flaw, change: Callable[[list[Logged]], list[Logged]]) -> None:
    """A transaction that is missing, duplicated, late, partial, damaged, or never recorded is found."""
    flaws = Flaws()
    check_log(EXPECTED, change(log()), flaws)
    assert flaws.found[flaw] > 0, flaws.texts


@pytest.mark.parametrize(
    ("flaw", "versions"),
    [
        (Flaw.MISSING, VERSIONS[:-1]),
        (Flaw.TORN, [*VERSIONS[:5], Version({"head": "b"}, {5}), Version({"own-b": "b"}, {5}), *VERSIONS[6:]]),
        (Flaw.TORN, [*VERSIONS[:2], *VERSIONS[3:]]),
        (Flaw.TWICE, [*VERSIONS[:6], VERSIONS[5], *VERSIONS[6:]]),
        (Flaw.TWICE, [*VERSIONS[:5], VERSIONS[6], VERSIONS[5], VERSIONS[7]]),
    ],
)
def test_a_flaw_of_the_versions_is_found(flaw: Flaw, versions: list[Version]) -> None:
    """A version that is missing, split, incomplete, duplicated or out of order is found."""
    flaws = Flaws()
    check_versions(EXPECTED, versions, GHOSTS, flaws)
    assert flaws.found[flaw] > 0, flaws.texts


def test_a_flaw_of_the_marks_or_of_the_end_is_found() -> None:
    """A transaction that is not marked or missing in the table, and an old key at the end, are found."""
    flaws = Flaws()
    check_marks(EXPECTED, {**dict.fromkeys(range(1, 8), 1), 8: 0}, flaws)
    assert flaws.found == {Flaw.FAILED: 1}
    check_marks(EXPECTED, dict.fromkeys(range(1, 8), 1), flaws)
    check_end(EXPECTED, GHOSTS, {**END, "ghost": "old"}, flaws)
    assert flaws.found[Flaw.MISSING] == 2

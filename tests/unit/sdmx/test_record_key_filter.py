"""Structures selected by their keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_replica import KeyFilter
from kafka_replica.sdmx import only
from kafka_replica.testing import FakeTopic

BASE = "urn:sdmx:org.sdmx.infomodel"
FREQ = f"{BASE}.codelist.Codelist=SDMX:CL_FREQ(2.1)".encode()
AREA = f"{BASE}.codelist.Codelist=ESTAT.A:CL_AREA(1.0)".encode()
DSD = f"{BASE}.datastructure.DataStructure=ESTAT:EXR(1.0)".encode()
OTHER = b"no urn at all"
KEYS = {FREQ, AREA, DSD, OTHER}


@pytest.mark.parametrize(
    ("make", "kept"),
    [
        (only, {FREQ, AREA, DSD}),
        (lambda: only(cls="Codelist"), {FREQ, AREA}),
        (lambda: only(cls=["Codelist", "DataStructure"], agency="ESTAT*"), {AREA, DSD}),
        (lambda: only(agency=["SDMX", "ESTAT"]), {FREQ, DSD}),
        (lambda: only(id="CL_*", version="1.0"), {AREA}),
        (lambda: only(version=("2.1", "3.*")), {FREQ}),
        (lambda: only(cls="Codelist") & ~only(agency="SDMX"), {AREA}),
        (lambda: only(cls="DataStructure") | KeyFilter.prefix("no urn"), {DSD, OTHER}),
    ],
)
def test_the_key_decides(make: Callable[[], KeyFilter], kept: set[bytes]) -> None:
    """Class, agency, id and version are each selected by one or several patterns; other keys are excluded."""
    assert {key for key in KEYS if make()(key)} == kept


def test_the_name_of_a_filter_depends_on_its_patterns() -> None:
    """The name of a filter depends on its patterns, but not on their order."""
    assert str(only(cls=["A", "B"])) == str(only(cls=("B", "A")))
    assert len({str(only()), str(only(cls="A")), str(only(agency="A")), str(only(cls=["A", "B"]))}) == 4


def test_a_replica_keeps_only_these() -> None:
    """Structures that are not selected are never in the replica, neither at first nor later."""
    topic = FakeTopic()
    topic.put(FREQ, b"1")
    topic.put(DSD, b"1")
    with topic.replica(key_filter=only(cls="Codelist")) as replica:
        assert set(replica.wait_ready(timeout_s=10)) == {FREQ}
        topic.put(AREA, b"1")
        topic.put(OTHER, b"1")
        assert set(replica.wait_for(topic.end(), timeout_s=10)) == {FREQ, AREA}

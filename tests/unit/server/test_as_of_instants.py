"""Random instants of a long history: the answer over HTTP is that of a service that stood at that version."""

from __future__ import annotations

import random
import shutil
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_replica import RocksStore
from kafka_replica.history import VersionHistory
from kafka_replica.sdmx import Format, write_message
from kafka_replica.server import create_app
from kafka_replica.testing import FakeTopic
from support.core.rocks_tools import new_folder
from support.effort import usual_or_long
from support.server.app_tools import client_of
from support.server.registry import codelist

pytestmark = pytest.mark.thorough

_FORMATS = (Format.SDMX_JSON_2_0, Format.SDMX_ML_3_0, Format.FUSION_JSON)
_QUERIES = tuple(
    (f"/sdmx/{path}", {"Accept": str(format_)})
    for path in ("v2/structure/codelist/ECB/*/*?", "v2/structure/codelist/*/CL_1/1.0?detail=allstubs&", "v1/codelist?")
    for format_ in _FORMATS
)
_LISTS, _CODES = 6, 8


class Stood(NamedTuple):
    """A version: a service's answers while it was the current one, and two instants between which it certainly was."""

    answers: tuple[tuple[int, bytes], ...]
    first: datetime
    last: datetime


def write(topic: FakeTopic, dice: random.Random) -> None:
    """Change a few codelists in one transaction: replace them in a random format, or delete them."""
    with topic.transaction() as transaction:
        for number in dice.sample(range(_LISTS), dice.randint(1, 3)):
            ids = [f"C{place}" for place in range(_CODES) if dice.random() < 0.6] or ["C0"]
            artefact = codelist(f"Codelist ECB:CL_{number}(1.0)", " ".join(ids))
            if dice.random() < 0.2:
                transaction.delete(str(artefact.urn))
                continue
            format_ = dice.choice(_FORMATS)
            content_type = (("content-type", str(format_).encode()),)
            transaction.put(str(artefact.urn), write_message(artefact, format_), content_type)


def last_instant(first: datetime) -> datetime:
    """Return an instant, not before the first, that is certainly before the instant of the next version.

    Versions have instants in whole milliseconds: one that is published in the present millisecond has its beginning
    as its instant, which is before now. So the millisecond before the present one is the last that is certain.
    """
    while True:
        now = datetime.now(UTC)
        last = now.replace(microsecond=now.microsecond // 1000 * 1000) - timedelta(milliseconds=1)
        if last >= first:
            return last
        time.sleep(0.001)


def history_of(topic: FakeTopic, folder: Path, versions: int, dice: random.Random) -> list[Stood]:
    """Make versions while two services stand side by side: one with a history, and one whose answers are returned."""
    found = []
    with (
        VersionHistory(folder) as history,
        topic.replica() as recorded,
        topic.replica() as stopped,
    ):
        history.follow(recorded)
        client = client_of(create_app(stopped))
        for _ in range(versions):
            write(topic, dice)
            recorded.wait_for(topic.end(), 30)
            first = datetime.now(UTC)
            stopped.wait_for(topic.end(), 30)
            answers = (client.get(target, headers=headers) for target, headers in _QUERIES)
            stood = tuple((answer.status_code, answer.content) for answer in answers)
            found.append(Stood(stood, first, last_instant(first)))
    return found


def test_two_versions_with_a_number_are_not_confused() -> None:
    """After a power cut that only the store has lost, another version gets the number of the lost one.

    Each request gets its version, whatever was requested before, and a client's copy of the one is not confirmed as the
    other.
    """
    topic, target = FakeTopic(), "/sdmx/v2/structure/codelist/ECB/CL_1?format=json"

    def put(codes: str) -> None:
        artefact = codelist("Codelist ECB:CL_1(1.0)", codes)
        topic.put(str(artefact.urn), write_message(artefact, Format.SDMX_JSON_2_0))

    put("ONE")
    with new_folder() as folder:
        with topic.replica(RocksStore(folder / "store")) as replica:
            replica.wait_ready(30)
        shutil.copytree(folder / "store", folder / "earlier")
        with VersionHistory(folder / "history") as history, topic.replica(RocksStore(folder / "store")) as replica:
            history.follow(replica)
            replica.wait_ready(30)
            put("TWO")
            replica.wait_for(topic.end(), 30)
            lost, incarnation = replica.snapshot().version, replica.incarnation
            path = f"/version/{lost}.{incarnation}{target}"
            seen = client_of(create_app(replica, history=history)).get(path)
            assert "TWO" in seen.text
            then = last_instant(datetime.now(UTC)).isoformat()
        put("THREE")
        topic.compact()  # so that the replica cannot make the lost version again
        with VersionHistory(folder / "history") as history, ExitStack() as stack:
            replica = topic.replica(RocksStore(folder / "earlier"))
            history.follow(replica)  # before the start, so that the version from before is recorded again
            stack.enter_context(replica)
            replica.wait_ready(30)
            put("FOUR")
            assert replica.wait_for(topic.end(), 30).version > lost
            assert replica.incarnation == incarnation
            for first, second in (("path", "instant"), ("instant", "path")):
                client = client_of(create_app(replica, history=history))
                for which in (first, second):
                    if which == "path":
                        found, code = client.get(path, headers={"If-None-Match": seen.headers["etag"]}), "THREE"
                    else:
                        found, code = client.get(target, params={"asOf": then}), "TWO"
                    assert (found.status_code, code in found.text) == (200, True), (first, which)


@pytest.mark.scaled
def test_answers_as_of_random_instants_are_those_of_that_time() -> None:
    """Status and bytes are equal for each instant, in every format, also across a restart of the service."""
    instants, versions = usual_or_long(50, 100, 1_000), usual_or_long(15, 30, 150)
    dice, topic = random.Random(4), FakeTopic()
    write(topic, dice)
    with new_folder() as folder:
        stood = [one for _ in range(2) for one in history_of(topic, folder, versions, dice)]
        with VersionHistory(folder) as history, topic.replica() as replica:
            history.follow(replica)
            replica.wait_ready(30)
            client = client_of(create_app(replica, history=history))
            for _ in range(instants):
                past, number = dice.choice(stood), dice.randrange(len(_QUERIES))
                instant = past.first + dice.random() * (past.last - past.first)
                target, headers = _QUERIES[number]
                found = client.get(f"{target}asOf={instant.isoformat()}", headers=headers)
                assert (found.status_code, found.content) == past.answers[number], (instant, target)
    assert len({one.answers for one in stood}) > len(stood) // 2

"""Clients that issue several requests about one state, while versions are made all the time."""

from __future__ import annotations

import asyncio
import re
import sys
import threading

import pytest

from kafka_replica import Replica
from kafka_replica.server import create_app
from kafka_replica.server.answers.versions import Versions
from kafka_replica.testing import FakeTopic
from support.effort import usual_or_long
from support.server.app_tools import URN, fetch
from support.server.worker_tools import codelist

pytestmark = pytest.mark.thorough

STRUCTURES = "/sdmx/v2/structure"
PATHS = (
    f"{STRUCTURES}/codelist", f"{STRUCTURES}/codelist/SDMX/CL_A,CL_B/1.0", f"{STRUCTURES}/*/SDMX/*/~",
    "/sdmx/v1/codelist/SDMX/all/latest",
)  # fmt: skip


def write_until(ended: threading.Event, topic: FakeTopic, replica: Replica) -> None:
    """Replace both codelists in each transaction, so that in every version both have the same number as their name."""
    number = 0
    while not ended.is_set():
        number += 1
        with topic.transaction() as transaction:
            for letter in "AB":
                transaction.put(URN.format(letter), codelist(letter, number))
        replica.wait_for(topic.end(), 30)


@pytest.mark.timeout(3600)
@pytest.mark.scaled
def test_sessions_on_pinned_paths_never_mix_versions() -> None:
    """Each answer has both keys of one transaction, and all answers of a session those of the same version."""
    sessions, topic, ended = usual_or_long(300, 2_000, 100_000), FakeTopic(), threading.Event()
    numbers: set[str] = set()
    gone = 0

    async def run() -> None:
        nonlocal gone
        for _ in range(sessions):
            _, headers, body = await fetch(app, "/sdmx/v2/structure/codelist")
            version = headers["kafka-replica-version"]
            number = number_in(body)
            numbers.add(number)
            for path in PATHS:
                status, headers, body = await fetch(app, f"/version/{version}{path}")
                if status == 410:
                    gone += 1
                    break
                assert (status, headers["kafka-replica-version"], number_in(body)) == (200, version, number)

    with topic.transaction() as transaction:
        for letter in "AB":
            transaction.put(URN.format(letter), codelist(letter, 0))
    with topic.replica(kept_versions=100) as replica:
        replica.wait_ready(30)
        app = create_app(replica)
        writer = threading.Thread(target=write_until, args=[ended, topic, replica])
        writer.start()
        try:
            asyncio.run(run())
        finally:
            ended.set()
            writer.join(30)
    assert len(numbers) > sessions // 100  # versions changed all the time
    assert gone < sessions // 10


def number_in(body: bytes) -> str:
    """Return the number that both codelists of an answer have as their name, in SDMX-JSON or SDMX-ML."""
    found = re.findall(rb'"names?":\s*(?:{"en":\s*)?"(\d+)"|Name[^>]*>(\d+)<', body)
    numbers = {first or second for first, second in found}
    assert len(found) >= 2, body
    assert len(numbers) == 1
    return numbers.pop().decode()


def test_look_ups_and_headers_belong_to_one_version() -> None:
    """A version that is published between the two steps of an answer never separates the content from its headers."""
    topic, ended = FakeTopic(), threading.Event()
    topic.put(URN.format("A0"), b"value")
    interval_s = sys.getswitchinterval()
    with topic.replica() as replica:
        replica.wait_ready(30)
        versions, seen = Versions(replica), set[int]()
        writer = threading.Thread(target=write_until, args=[ended, topic, replica])
        writer.start()
        sys.setswitchinterval(1e-6)
        try:
            while len(seen) < 150:
                served = versions.current()
                assert served.structures.version == served.snapshot.version
                seen.add(served.snapshot.version)
        finally:
            sys.setswitchinterval(interval_s)
            ended.set()
            writer.join(30)

"""Shared fixtures of the tests on a real broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from support.broker.secured_kafka import Secured
from support.effort import first_in_usual


@pytest.fixture(params=first_in_usual(["markers", "quiescence"], 1))
def boundaries(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of boundaries, one after the other: every replica of the test uses this kind."""
    kind: str = request.param
    defaults = dict(Replica.__init__.__kwdefaults__ or {})
    monkeypatch.setattr(Replica.__init__, "__kwdefaults__", {**defaults, "boundaries": kind})
    return kind


@pytest.fixture(scope="session")
def own_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    """A broker that can be stopped and started, with accessible files (``log_tools.folder_of``) and ACLs."""
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": True,
    }
    with LocalKafka(data_dir=tmp_path_factory.mktemp("kafka"), settings=settings) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with TLS and SASL, shared by all tests."""
    made = Secured(tmp_path_factory.mktemp("secured"))
    yield made
    made.kafka.stop()

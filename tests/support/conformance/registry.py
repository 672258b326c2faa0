"""The registry for the kit's tests: at least one artefact of each class that it requests, in SDMX-ML 2.1."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx import Format, read_message
from kafka_replica.testing import FakeTopic
from support.paths import TESTS
from support.server.page_topic import publish

MESSAGE: Final = TESTS / "support" / "conformance" / "data" / "registry.sdmx21.xml"


def registry_topic() -> FakeTopic:
    """Return a topic with the artefacts of the registry."""
    topic = FakeTopic()
    publish(topic, read_message(MESSAGE.read_bytes()), Format.SDMX_ML_2_1)
    return topic

"""Messages made from kept parts equal those that are written as a whole, byte for byte, and what is kept is bounded."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError, UnwritableError
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writing.message_writer import MessageWriter
from kafka_replica.sdmx.writing.messages import media_types, verified_element, write_message
from support.effort import examples, first_in_usual
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.sdmx_variations import varied

pytestmark = pytest.mark.thorough

KINDS = [("sdmx-ml", one) for one in ("2.1", "3.0")] + [("sdmx-json", "2.0"), ("fusion-json", "")]


def outcome(write: Callable[[list[Artefact], str], bytes], artefacts: list[Artefact], media_type: str) -> bytes | str:
    """Return the message, or the text of the error."""
    try:
        return write(artefacts, media_type)
    except UnwritableError as error:
        return str(error)


@pytest.mark.parametrize("row", first_in_usual(rows(*KINDS), 8))
def test_real_artefacts_in_any_company(row: dict[str, str]) -> None:
    """All artefacts of a file, and pairs of them, are written or refused as without a memory, in every format."""
    try:
        found = list(read_message(data_of(row)))[:20]
    except (MessageError, UnreadableContentError):
        pytest.skip("this file is not read")
    writer = MessageWriter(1 << 24)
    for media_type in media_types():
        for together in [found, *map(list, pairwise(found)), found[::-1]]:
            expected = outcome(write_message, together, media_type)
            assert outcome(writer.write, together, media_type) == expected
            assert outcome(writer.write, together, media_type) == expected


@pytest.mark.long
@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(varied(), max_size=4), st.sampled_from(media_types()), st.integers(0, 20_000), st.data())
def test_any_artefacts_and_any_room(
    artefacts: list[Artefact], media_type: str, max_bytes: int, data: st.DataObject
) -> None:
    """Whatever is kept or dropped between messages, they are those of a writer without a memory."""
    writer = MessageWriter(max_bytes)
    for _ in range(3):
        some = data.draw(st.lists(st.sampled_from(artefacts), max_size=4)) if artefacts else []
        assert outcome(writer.write, some, media_type) == outcome(write_message, some, media_type)
        assert writer.size_bytes <= max_bytes


def test_an_artefact_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is written with the first message that needs it; an equal artefact that is another object is not it."""
    from kafka_replica.sdmx.writing import message_writer

    written: list[str] = []

    def counting(artefact: Artefact, format_: object) -> object:
        written.append(artefact.urn.id)
        return original(artefact, format_)  # type: ignore[arg-type]

    original = verified_element
    monkeypatch.setattr(message_writer, "verified_element", counting)
    head = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:CL_{}(1.0)"
    text = (
        '{"Codelist": [{"id": "CL_%s", "agencyId": "A", "version": "1.0", "names": [{"locale": "en", "value": "x"}]}]}'
    )
    first, second, again = (next(iter(read_message((text % one).encode()))) for one in ("X", "Y", "X"))
    assert str(first.urn) == head.format("X")
    writer = MessageWriter(100_000)
    media_type = "application/vnd.sdmx.structure+json;version=2.0.0"
    one, two = writer.write([first, second], media_type), writer.write([first, second], media_type)
    assert one == two
    assert written == ["CL_X", "CL_Y"]
    assert writer.write([again, second], media_type) == one
    assert written == ["CL_X", "CL_Y", "CL_X"]

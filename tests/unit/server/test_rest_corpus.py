"""Queries over real structure files: each answer equals a direct read of what the query selects."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_replica.sdmx import (
    Format,
    SdmxError,
    Structures,
    UnwritableError,
    read_message,
    split_readable,
    write_message,
)
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest import RestRequest, answer
from kafka_replica.server.rest.stubs import path_of
from support.effort import first_in_usual
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, rows

USUAL_BYTES = 40_000
LARGEST_BYTES = 2_000_000
KINDS = [
    ("fusion-json", ""), ("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1"), ("sdmx-json", "1.0"),
    ("sdmx-json", "2.0"), ("sdmx-json", "2.1"),
]  # fmt: skip


def files() -> list[Any]:
    """Return the files up to a size; those that are not small are left to `make long`."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for row in rows(*KINDS):
        size = 0 if row.values[0] is None else int(row.values[0]["bytes"])
        if size <= LARGEST_BYTES:
            found[size > USUAL_BYTES].append(row)
    return first_in_usual([*found[0], *found[1]], len(found[0]))


def direct(structures: Structures, artefacts: list[Artefact], format_: Format) -> dict[Any, Artefact] | None:
    """Return artefacts as a format represents them; None if it cannot."""
    try:
        return dict(read_message(write_message(artefacts, format_)).artefacts)
    except UnwritableError:
        return None


@pytest.mark.thorough
@pytest.mark.parametrize("row", files())
def test_answers_equal_a_direct_read(row: dict[str, str]) -> None:
    """The first artefacts by their address, alone and with their references, in SDMX-ML 2.1, 3.0 and SDMX-JSON."""
    parts = split_readable(data_of(row)).parts
    structures = Structures(FakeSnapshot.of(parts), companions=False)
    for urn in list(structures)[:3]:
        try:
            artefact = structures.get(urn)
        except SdmxError:
            continue
        assert isinstance(artefact, Artefact)
        for format_ in (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_JSON_2_0):
            _check(structures, artefact, format_)


def _check(structures: Structures, artefact: Artefact, format_: Format) -> None:
    path = path_of(artefact.urn)
    raw = answer(RestRequest(path, "detail=raw" if path.startswith("/structure") else "", format_), structures)
    wanted = direct(structures, [artefact], format_)
    if raw.status == 200:
        # Stored bytes are served in their own format even if they violate its schema, so that a writer would refuse.
        assert dict(read_message(raw.body).artefacts) in (wanted, {artefact.urn: artefact})
    else:
        assert (raw.status, wanted) == (406, None)
    around = answer(RestRequest(path, "references=all&detail=referencepartial", format_), structures)
    assert around.status in {200, 406, 422}, around
    if around.status == 200:
        related = {one.urn for one in read_message(around.body)}
        expected = {*structures.descendants(artefact.urn), *structures.parents(artefact.urn)}
        omitted = int(dict(around.headers).get("Kafka-Replica-Omitted", "0"))
        missing = {one for one in expected - related if "odelist" not in one.cls}
        assert artefact.urn in related
        assert len(missing) <= omitted

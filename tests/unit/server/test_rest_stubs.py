"""Stubs of every class in every format: valid by the official schemas, and read again as stubs."""

from __future__ import annotations

import pytest

from kafka_replica.sdmx import Format, UnwritableError, explain_unwritable, read_message, write_message
from kafka_replica.sdmx.model import Hierarchy
from kafka_replica.server.rest.stubs import as_stub, path_of
from support.sdmx.conversions import read, schema_faults, valid_samples

_EARLIER = {Format.SDMX_ML_1_0, Format.SDMX_ML_2_0}


@pytest.mark.long
def test_stubs_of_every_class_are_valid_in_every_format() -> None:
    """SDMX-ML before 2.1 cannot represent some stubs; everywhere else each class has one that is valid."""
    seen: set[tuple[str, Format]] = set()
    for format_, data in valid_samples(1):
        for artefact in read(data):
            if explain_unwritable(artefact, format_) is not None:
                continue
            stub = as_stub(artefact, is_complete=True, base_url="https://example.org/sdmx/v2")
            try:
                message = write_message(stub, format_)
            except UnwritableError:
                assert format_ in _EARLIER, (artefact, format_)
                continue
            assert schema_faults(format_, message) == [], (artefact, format_)
            [again] = read_message(message)
            assert (again.urn, again.names) == (artefact.urn, artefact.names)
            assert again.is_external_reference is not isinstance(artefact, Hierarchy)
            seen.add((artefact.urn.cls, format_))
    assert len(seen) > 120


def test_every_class_has_the_path_of_its_full_artefact() -> None:
    """The address in a stub is a query that the grammar has: of 2.x if the class is one of it, otherwise of 1.x."""
    from kafka_replica.sdmx import Urn
    from kafka_replica.server.rest.grammar import RESOURCES
    from kafka_replica.server.rest.query import StructureQuery
    from kafka_replica.server.rest.query_parser import parse_query

    for row in RESOURCES.values():
        for cls in row.classes:
            urn = Urn.of(cls, "A.B", "X@$", "1.0.0-draft")
            found = parse_query(path_of(urn))
            assert isinstance(found, StructureQuery)
            assert (found.agencies, found.ids, found.versions[0].text) == (("A.B",), ("X@$",), "1.0.0-draft")
            assert cls in found.resource.classes

"""A topic with structures, for tests of pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_replica.records import Position
from kafka_replica.sdmx import Code, Codelist, Format, InternationalString, Items, Urn, write_message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.testing import FakeTopic


def publish(topic: FakeTopic, artefacts: Iterable[Artefact], format_: Format = Format.SDMX_JSON_2_0) -> Position:
    """Write a record for each artefact in one transaction; return the position after it."""
    with topic.transaction() as transaction:
        for artefact in artefacts:
            headers = (("content-type", str(format_).encode()),)
            transaction.put(bytes(artefact.urn), write_message(artefact, format_), headers)
    return topic.end()


def small_codelist(id_: str, names: Mapping[str, str], *, codes: int = 2) -> Codelist:
    """Return a codelist of the agency MANY, version 1.0, whose codes have the same names."""
    urn, texts = Urn.of("Codelist", "MANY", id_, "1.0"), InternationalString(names)
    items = (Code(urn=urn.with_item("Code", f"C{number}"), names=texts) for number in range(codes))
    return Codelist(urn=urn, names=texts, codes=Items({item.id: item for item in items}))


MANY = 50_000
"""The number of codes of a large codelist."""


def codelist_of_many() -> Codelist:
    """Return a codelist of 50,000 codes in trees, with names in two languages."""
    own = Urn.of("Codelist", "MANY", "CL_LARGE", "1.0")
    codes = {
        f"C{number}": Code(
            urn=own.with_item("Code", f"C{number}"),
            names=InternationalString({"en": f"Code {number}", "fr": f"Le code {number}"}),
            parent=f"C{number - number % 50}" if number % 50 else None,
        )
        for number in range(MANY)
    }
    return Codelist(urn=own, codes=Items(codes), names=InternationalString({"en": "large"}))

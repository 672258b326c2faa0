"""A generated registry of the size of the Euro area's: dataflows, their structures, codelists and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from kafka_replica.producer import TransactionalProducer
from kafka_replica.sdmx import Format, Urn, write_message
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.model import (
    Agency,
    AgencyScheme,
    Artefact,
    Code,
    Codelist,
    Concept,
    ConceptScheme,
    ConstraintAttachment,
    DataConstraint,
    Dataflow,
    DataStructure,
    Dimension,
    Measure,
    MemberSelection,
    Region,
    SelectedValue,
)
from kafka_replica.sdmx.model.representation import Representation

DATAFLOWS: Final = 8_400
CODELISTS: Final = 2_400
CONSTRAINTS: Final = 650
STORED: Final = Format.SDMX_JSON_2_0
"""The format of all messages."""
_STRUCTURES: Final = 400
_AGENCIES: Final = 20
_DIMENSIONS: Final = 8
_CODES: Final = 20, 40, 60, 80, 100  # of a codelist, in turn
_TRANSACTION_RECORDS: Final = 500
_TYPE: Final = "content-type"


def codelist(number: int) -> Urn:
    """Return the URN of a codelist."""
    return Urn.of("Codelist", f"AG{number % _AGENCIES:02}", f"CL_{number}", "1.0")


def dataflow(number: int) -> Urn:
    """Return the URN of a dataflow."""
    return Urn.of("Dataflow", f"AG{number % _AGENCIES:02}", f"DF_{number}", "1.0")


def _structure(number: int) -> Urn:
    return Urn.of("DataStructure", f"AG{number % _AGENCIES:02}", f"DSD_{number}", "1.0")


def _concepts(agency: int) -> Urn:
    return Urn.of("ConceptScheme", f"AG{agency:02}", "CONCEPTS", "1.0")


def artefacts() -> Iterator[Artefact]:
    """Yield all artefacts."""
    agencies = Urn.of("AgencyScheme", "SDMX", "AGENCIES", "1.0")
    ids = [f"AG{number:02}" for number in range(_AGENCIES)]
    yield AgencyScheme(organisations=_items(agencies, "Agency", Agency, ids), **_named(agencies))
    for number in range(_AGENCIES):
        own = _concepts(number)
        concepts = _items(own, "Concept", Concept, [*(f"D{place}" for place in range(_DIMENSIONS)), "OBS_VALUE"])
        yield ConceptScheme(concepts=concepts, **_named(own))
    for number in range(CODELISTS):
        own = codelist(number)
        codes = [f"C{place:04}" for place in range(_CODES[number % len(_CODES)])]
        yield Codelist(codes=_items(own, "Code", Code, codes), **_named(own))
    for number in range(_STRUCTURES):
        yield _data_structure(number)
    for number in range(DATAFLOWS):
        yield Dataflow(structure_reference=_structure(number % _STRUCTURES), **_named(dataflow(number)))
    for number in range(CONSTRAINTS):
        flow = dataflow(number * (DATAFLOWS // CONSTRAINTS))
        own = Urn.of("DataConstraint", flow.agency, f"CON_{number}", "1.0")
        allowed = MemberSelection(id="D0", values=tuple(SelectedValue(value=f"C{place:04}") for place in range(10)))
        regions = (Region(key_values=(allowed,)),)
        attached = ConstraintAttachment(references=(flow,))
        yield DataConstraint(role="Allowed", attachment=attached, cube_regions=regions, **_named(own))


def fill(bootstrap: str, topic: str) -> int:
    """Write the registry in transactions; return the number of records once they are visible."""
    producer = TransactionalProducer({"bootstrap.servers": bootstrap}, topic, topic)
    rest, written = artefacts(), 0
    while batch := list(islice(rest, _TRANSACTION_RECORDS)):
        with producer.transaction() as transaction:
            for one in batch:
                transaction.put(str(one.urn), write_message(one, STORED), ((_TYPE, str(STORED).encode()),))
        written += len(batch)
    producer.wait_visible(transaction.committed)
    return written


def _data_structure(number: int) -> DataStructure:
    own, concepts = _structure(number), _concepts(number % _AGENCIES)

    def component(cls: str, id_: str) -> dict[str, Any]:
        return {"urn": own.with_item(cls, id_), "concept": concepts.with_item("Concept", id_)}

    def dimension(place: int) -> Dimension:
        values = Representation(enumeration=codelist((number * 6 + place) % CODELISTS))
        return Dimension(position=place + 1, representation=values, **component("Dimension", f"D{place}"))

    dimensions = Items({f"D{place}": dimension(place) for place in range(_DIMENSIONS)})
    measures = Items({"OBS_VALUE": Measure(mandatory=True, **component("Measure", "OBS_VALUE"))})
    return DataStructure(
        dimension_list=dimensions, measures=measures, attributes=Items(), groups=Items(), **_named(own)
    )


def _named(own: Urn) -> dict[str, Any]:
    names = {"en": f"{own.id} in English", "fr": f"{own.id} en français"}
    return {"urn": own, "names": InternationalString(names)}


def _items(scheme: Urn, cls: str, kind: Any, ids: list[str]) -> Items[Any]:
    def item(id_: str) -> Any:
        names = InternationalString({"en": f"Name of {id_}", "fr": f"Nom de {id_}"})
        return kind(urn=scheme.with_item(cls, id_), names=names)

    return Items({id_: item(id_) for id_ in ids})

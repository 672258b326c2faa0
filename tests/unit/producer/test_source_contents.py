"""Sources with bad artefacts, and with schemes spread over several files: nothing is lost, everything is reported."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from kafka_replica.producer import StructureProducer
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.outbox.tables import change
from kafka_replica.producer.sources import FolderSettings, FolderSource, read_and_record, record_source
from kafka_replica.producer.sources.queries import path_of
from kafka_replica.producer.sources.rest import ServiceSettings, ServiceSource
from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.model.base import ItemScheme
from support.producer.producer_tools import settings_of
from support.producer.sdmx_service import Response, SdmxService
from support.producer.structure_samples import codelist, urn

pytestmark = pytest.mark.thorough

ML_2_0 = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
CONCEPTS = "urn:sdmx:org.sdmx.infomodel.conceptscheme.ConceptScheme=A:STANDALONE_CONCEPT_SCHEME(1.0)"


@pytest.fixture
def producer(tmp_path: Path) -> Iterator[StructureProducer]:
    """A producer that is not started and only records."""
    made = StructureProducer(settings_of("nowhere:1", "t", f"sqlite:///{tmp_path / 'outbox.db'}"))
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "structures"
    made.mkdir()
    return made


def source_of(folder: Path) -> FolderSource:
    """Return a source with short waits."""
    return FolderSource(FolderSettings((str(folder),), quiet_s=0.05, interval_s=60.0))


def present(producer: StructureProducer) -> dict[str, bytes]:
    """Return the present content of each recorded key."""
    wanted = select(change.c.record_key, change.c.record_value).order_by(change.c.tx_id, change.c.number)
    with producer.engine.connect() as connection:
        newest = {bytes(key).decode(): value for key, value in connection.execute(wanted)}
    return {key: bytes(value) for key, value in newest.items() if value is not None}


def concepts(*ids: str, name: str = "Name") -> str:
    """Return a message of SDMX-ML 2.0 with concepts outside schemes."""
    items = "".join(f'<s:Concept id="{id_}" agencyID="A"><s:Name>{name} {id_}</s:Name></s:Concept>' for id_ in ids)
    return (
        f'<Structure xmlns="{ML_2_0}/message" xmlns:s="{ML_2_0}/structure"><Header><ID>M</ID></Header>'
        f"<Concepts>{items}</Concepts></Structure>"
    )


def names(value: bytes) -> dict[str, str | None]:
    """Return the concepts in a message by id."""
    [scheme] = read_message(value)
    assert isinstance(scheme, ItemScheme)
    return {id_: item.name() for id_, item in scheme.items.items()}


def spoiled(text: str, name: str) -> str:
    """Return a message in which the codelist of the given id cannot be read."""
    return text.replace(f'id="{name}" agencyID', f'id="{name}" isPartial="perhaps" agencyID')


def test_a_bad_artefact_keeps_its_content_and_others_are_recorded(
    producer: StructureProducer, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An unreadable list among three is neither changed nor deleted, is reported, and is updated after its repair."""
    (folder / "a.xml").write_text(codelist("CL_A CL_B CL_C"))
    source = source_of(folder)
    assert record_source(source, producer) == [1]
    before = present(producer)
    (folder / "a.xml").write_text(spoiled(codelist("CL_A CL_B CL_D", "Y"), "CL_B"))
    with caplog.at_level(logging.WARNING, "kafka_replica.producer"):
        taken = read_and_record(source, producer)
    assert taken is not None
    assert taken.tx_ids == (2, 3)
    [reason] = taken.unreadable
    assert reason.startswith(f"{folder / 'a.xml'}: {urn('CL_B')} (line 1): ")
    assert reason in caplog.text
    assert present(producer).keys() == {urn("CL_A"), urn("CL_B"), urn("CL_D")}
    assert present(producer)[urn("CL_B")] == before[urn("CL_B")]
    assert present(producer)[urn("CL_A")] != before[urn("CL_A")]
    (folder / "a.xml").write_text(codelist("CL_A CL_B CL_D", "Y"))
    taken = read_and_record(source, producer)
    assert taken is not None
    assert (taken.tx_ids, taken.unreadable) == ((4,), ())


def test_a_too_large_artefact_keeps_its_content_and_others_are_recorded(tmp_path: Path, folder: Path) -> None:
    """A list that grew larger than the producer may send does not hold up the rest of its source."""
    kafka = {"bootstrap.servers": "nowhere:1", "max.request.size": 4000}
    producer = StructureProducer(settings_of("nowhere:1", "t", f"sqlite:///{tmp_path / 'outbox.db'}", kafka=kafka))
    source = source_of(folder)
    (folder / "a.xml").write_text(codelist("CL_A"))
    (folder / "b.xml").write_text(codelist("CL_B"))
    assert record_source(source, producer) == [1]
    before = present(producer)
    (folder / "a.xml").write_text(codelist("CL_A", "Y"))
    (folder / "b.xml").write_text(codelist("CL_B", *(f"Y{number}" for number in range(50))))
    taken = read_and_record(source, producer)
    assert taken is not None
    assert taken.tx_ids == (2,)
    [reason] = taken.unreadable
    assert reason.startswith(f"recording {urn('CL_B')}: ")
    assert "max.request.size" in reason
    assert present(producer)[urn("CL_B")] == before[urn("CL_B")]
    assert b"Y" in present(producer)[urn("CL_A")]
    (folder / "b.xml").write_text(codelist("CL_B", "Y"))
    taken = read_and_record(source, producer)
    assert taken is not None
    assert (taken.tx_ids, taken.unreadable) == ((3,), ())
    producer.close()


def test_an_artefact_without_identity_suspends_deletions(producer: StructureProducer, folder: Path) -> None:
    """An artefact without identity suspends deletions until it can be read: it may be any missing artefact."""
    (folder / "a.xml").write_text(codelist("CL_A CL_B"))
    source = source_of(folder)
    assert record_source(source, producer) == [1]
    (folder / "a.xml").write_text(codelist("CL_A CL_B", "Y").replace('id="CL_B" agencyID="A"', 'agencyID="A"'))
    taken = read_and_record(source, producer)
    assert taken is not None
    assert taken.tx_ids == (2,)
    assert len(taken.unreadable) == 1
    assert present(producer).keys() == {urn("CL_A"), urn("CL_B")}
    (folder / "a.xml").write_text(codelist("CL_A", "Y"))
    assert record_source(source, producer) == [3]
    assert present(producer).keys() == {urn("CL_A")}


def test_a_later_bad_copy_does_not_bring_back_an_earlier_one(producer: StructureProducer, folder: Path) -> None:
    """The later copy of an artefact in two files counts, also while it cannot be read."""
    (folder / "a.xml").write_text(codelist("CL_A", "OLD"))
    (folder / "b.xml").write_text(codelist("CL_A", "NEW"))
    source = source_of(folder)
    record_source(source, producer)
    before = present(producer)
    assert b"NEW" in before[urn("CL_A")]
    (folder / "b.xml").write_text(spoiled(codelist("CL_A", "NEWER"), "CL_A"))
    assert record_source(source, producer) == []
    assert present(producer) == before


@pytest.mark.parametrize("order", list(itertools.permutations(["a.xml", "b.xml", "c.xml"])))
def test_concepts_of_files_that_arrive_one_by_one_stay(
    order: tuple[str, ...], producer: StructureProducer, folder: Path
) -> None:
    """Concepts of one agency in three files end with the same bytes in any order of arrival."""
    texts = {"a.xml": concepts("A", "B"), "b.xml": concepts("B", "C", name="New"), "c.xml": concepts("D")}
    source = source_of(folder)
    for count, file in enumerate(order, start=1):
        (folder / file).write_text(texts[file])
        assert record_source(source, producer) == [count]
        here = {id_ for name in order[:count] for id_ in names(texts[name].encode())}
        assert names(present(producer)[CONCEPTS]).keys() == here
    end = present(producer)[CONCEPTS]
    assert names(end) == {"A": "Name A", "B": "New B", "C": "New C", "D": "Name D"}
    assert record_source(source_of(folder), producer) == [], "another process finds the same content"
    (folder / "b.xml").unlink()
    record_source(source, producer)
    assert names(present(producer)[CONCEPTS]) == {"A": "Name A", "B": "Name B", "D": "Name D"}
    for file in ("a.xml", "c.xml"):
        (folder / file).write_text(codelist("CL_A"))
    record_source(source, producer)
    assert present(producer).keys() == {urn("CL_A")}, "no file holds a concept any more"


def test_a_scheme_with_an_unreadable_copy_keeps_its_content(producer: StructureProducer, folder: Path) -> None:
    """A scheme with an unreadable copy keeps its content: it would lose the items of that file."""
    (folder / "a.xml").write_text(concepts("A"))
    (folder / "b.xml").write_text(concepts("B"))
    source = source_of(folder)
    record_source(source, producer)
    (folder / "b.xml").write_text(concepts("B").replace("</s:Name>", "</s:Name><s:TextFormat maxLength='x'/>"))
    taken = read_and_record(source, producer)
    assert taken is not None
    assert (taken.tx_ids, len(taken.unreadable)) == ((), 1)
    assert names(present(producer)[CONCEPTS]) == {"A": "Name A", "B": "Name B"}


def test_a_service_with_a_bad_artefact(producer: StructureProducer) -> None:
    """An answer keeps its good artefacts, schemes in two answers are merged, and a damaged answer is refused whole."""
    with SdmxService() as service:
        queries = tuple(f"codelist/{name}" for name in ("first", "second", "third"))
        first, second, third = (path_of(query, "2") for query in queries)
        service.answers[first] = Response(spoiled(codelist("CL_A CL_B"), "CL_B"))
        service.answers[second] = Response(concepts("A"))
        service.answers[third] = Response(concepts("B"))
        source = ServiceSource(ServiceSettings(service.url, structures=queries, retries=0))
        taken = read_and_record(source, producer)
        assert taken is not None
        assert len(taken.unreadable) == 1
        assert present(producer).keys() == {urn("CL_A"), CONCEPTS}
        assert names(present(producer)[CONCEPTS]) == {"A": "Name A", "B": "Name B"}
        service.answers[first] = Response(codelist("CL_A")[:-5])
        with pytest.raises(SourceError, match="nothing is recorded"):
            record_source(source, producer)

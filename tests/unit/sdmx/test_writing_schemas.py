"""Written messages are valid in the standard's schemas, and all content that these allow is written.

The samples are made from the schemas: a few of them together contain every element and every attribute of an edition.
"""

from __future__ import annotations

import json
import re

import pytest

from kafka_replica.sdmx import InternationalString, Urn, read_message
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Artefact, Dataflow, MetadataSet, OpaqueArtefact, ReportedAttribute
from kafka_replica.sdmx.writing.messages import write_message
from support.sdmx import conversions, registry_messages
from support.sdmx.conversions import JSON_FORMATS, ML_FORMATS, schema_faults
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.standard_schemas import OUR_ML_SAMPLES, faults, json_schema


@pytest.mark.long
@pytest.mark.parametrize("version", list(ML_FORMATS))
def test_a_sample_of_any_class_is_written_whole(version: str) -> None:
    """A valid sample of any class, whole or in parts, is written in its own edition, reads back equal, and is valid."""
    refused = []
    for _, data in conversions.valid_samples(5, formats={ML_FORMATS[version]}):
        for artefact in read_message(data):
            try:
                written = write_message(artefact, ML_FORMATS[version])
            except UnwritableError as error:
                refused.append(str(error))
                continue
            assert read_message(written).artefacts[artefact.urn] is not None
            assert schema_faults(ML_FORMATS[version], written) == [], artefact.urn
    # The schemas before 3.0 allow a URN, next to a structured reference, that names an item of any class.
    assert [reason for reason in refused if not re.search(r"refers to \S+Code=|\.item;", reason)] == []


@pytest.mark.parametrize("version", ["30", "31"])
def test_metadata_sets_stand_in_messages_of_their_own(version: str) -> None:
    """A metadata set is valid in a message of its kind, and refused next to other structures."""
    urn = Urn.of("MetadataSet", "AG", "MS", "1.0")
    texts = InternationalString({"en": "good", "fr": "bon"})
    one = MetadataSet(
        urn=urn,
        names=InternationalString({"en": "Quality"}),
        metadataflow=Urn.of("Metadataflow", "AG", "MF", "1.0"),
        targets=("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=AG:*(1.0)",),
        attributes=(ReportedAttribute(id="A", texts=texts, attributes=(ReportedAttribute(id="B", values=("1",)),)),),
    )
    data = write_message(one, ML_FORMATS[version])
    assert faults(version, data) == []
    assert list(read_message(data)) == [one]
    flow = Dataflow(urn=Urn.of("Dataflow", "AG", "DF", "1.0"))
    with pytest.raises(UnwritableError, match="separate messages"):
        write_message([one, flow], ML_FORMATS[version])
    assert list(read_message(write_message(one, Format.SDMX_JSON_2_0))) == [one]


@pytest.mark.parametrize("version", ["21", "30", "31"])
def test_registrations_are_the_answer_of_a_registry(version: str) -> None:
    """A registration comes back from a valid message, with the constraints next to it."""
    [one] = read_message(registry_messages.answer(version))
    data = write_message(one, ML_FORMATS[version])
    assert faults(version, data) == []
    assert list(read_message(data)) == [one]
    assert one.constraints  # type: ignore[attr-defined]


@pytest.mark.thorough
@pytest.mark.parametrize("path", OUR_ML_SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("version", list(ML_FORMATS))
def test_our_samples_become_valid_messages(path: object, version: str) -> None:
    """Artefacts of a sample that an edition of SDMX-ML can express are valid in it, all in one message."""
    artefacts = _carried(path.read_bytes(), ML_FORMATS[version])  # type: ignore[attr-defined]
    if artefacts:
        assert faults(version, write_message(artefacts, ML_FORMATS[version])) == []


@pytest.mark.thorough
@pytest.mark.parametrize("path", OUR_ML_SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("version", list(JSON_FORMATS))
def test_our_samples_become_valid_json(path: object, version: str) -> None:
    """Artefacts of a sample that an edition of SDMX-JSON can express are valid in it, all in one message."""
    artefacts = _carried(path.read_bytes(), JSON_FORMATS[version])  # type: ignore[attr-defined]
    if artefacts:
        found = json_schema(version).iter_errors(json.loads(write_message(artefacts, JSON_FORMATS[version])))
        wrong = [error for error in found if list(error.absolute_path) != ["meta", "prepared"]]
        assert [error.message for error in wrong] == []


def _carried(data: bytes, format_: Format) -> list[Artefact]:
    found = []
    for artefact in read_message(data):
        try:
            write_message(artefact, format_)
        except UnwritableError:
            continue
        if not isinstance(artefact, OpaqueArtefact):
            found.append(artefact)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("row", rows(("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1")))
def test_valid_files_stay_valid(row: dict[str, str]) -> None:
    """Artefacts of a valid real file are valid when they are written again, alone."""
    version = row["version"].replace(".", "")
    data = data_of(row)
    if faults(version, data):
        pytest.skip("the file itself is not valid")
    for artefact in read_message(data):
        found = [
            fault for fault in faults(version, write_message(artefact, ML_FORMATS[version])) if "Parent" not in fault
        ]
        assert found == [], artefact.urn


@pytest.mark.parametrize("format_", [Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1], ids=lambda one: one.title)
def test_metadata_sets_are_valid_json(format_: Format) -> None:
    """A set is written without its URN, for which there is no pattern, and without the default version."""

    def written(version: str) -> bytes:
        one = MetadataSet(
            urn=Urn.of("MetadataSet", "AG", "MS", version),
            names=InternationalString({"en": "Quality"}),
            uri="https://example.org/set",
            structure_url="https://example.org/message",
            metadataflow=Urn.of("Metadataflow", "AG", "MF", "1.0"),
            targets=("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=AG:CL(1.0)",),
            attributes=(ReportedAttribute(id="A", values=("1",)),),
        )
        data = write_message(one, format_)
        assert list(read_message(data)) == [one]
        return data

    for version in ("1.0", "1.0.0", "1.2.3-draft.1"):
        assert schema_faults(format_, written(version)) == []
    for version in ("2.0", "1", "1.0.0-01"):
        with pytest.raises(UnwritableError, match="of a metadata set"):
            written(version)

"""Fusion-JSON: levels, metadata sets, extensions, and the classes of its vendor."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Codelist, Hierarchy, MetadataSet, OpaqueArtefact
from kafka_replica.sdmx.reading.messages import read_message

PREFIX: Final = "urn:sdmx:org.sdmx.infomodel."
META: Final = {"id": "M", "test": False, "sender": {"id": "KR"}, "format": "fusionjson"}


def artefact(id_: str, **content: Any) -> dict[str, Any]:
    """Return the properties of every artefact, and further ones."""
    names = [{"locale": "en", "value": id_}, {"locale": "fr", "value": f"{id_} fr"}]
    return {"id": id_, "agencyId": "KR", "version": "1.0", "names": names} | content


def only(message: dict[str, Any]) -> Any:
    """Return the only artefact of a message, after checking that splitting gives the same."""
    data = json.dumps({"meta": META} | message).encode()
    whole = read_message(data)
    assert whole.format is Format.FUSION_JSON
    [found] = whole
    [part] = split_message(data)
    assert part.urn == found.urn
    [again] = read_message(part.value, part.content_type)
    assert (again.urn, again.names) == (found.urn, found.names)
    assert again == found or isinstance(found, OpaqueArtefact)
    return found


def test_levels_are_listed_from_the_top_down() -> None:
    """Levels are listed from the top down; in the model each contains the level below."""
    levels = [{"id": "0", "names": [{"locale": "en", "value": "Divisions"}]}, {"id": "1"}, {"id": "2"}]
    code = {"id": "A", "code": f"{PREFIX}codelist.Code=KR:CL(1.0).A", "level": "0"}
    found = only({"Hierarchy": [artefact("H", formalLevels=True, levels=levels, codes=[code])]})
    assert isinstance(found, Hierarchy)
    assert found.level is not None
    assert found.level.name() == "Divisions"
    assert found.level.level is not None
    assert found.level.level.level is not None
    assert str(found.level.level.level.urn) == f"{PREFIX}codelist.Level=KR:H(1.0).0.1.2"
    assert found.codes["A"].level == "0"
    assert found.has_formal_levels


def test_levels_that_repeat() -> None:
    """Two levels of one id are refused, as they cannot be distinguished."""
    with pytest.raises(MessageError, match="duplicate"):
        read_message(json.dumps({"Hierarchy": [artefact("H", levels=[{"id": "0"}, {"id": "0"}])]}).encode())


def test_metadata_sets_keep_repeated_attributes() -> None:
    """Metadata sets are in an object ``data``; an attribute with several values appears several times."""
    attributes = [
        {"id": "DYNAMIC", "value": "CL1"},
        {"id": "DYNAMIC", "value": "CL2"},
        {"id": "MANAGED", "value": True},
        {"id": "NOTE", "value": [{"locale": "en", "value": "note"}, {"locale": "fr", "value": "remarque"}]},
        {"id": "PARTITION", "attributes": [{"id": "DEPTH", "value": 3}, {"id": "NAME", "value": {"en": "dt"}}]},
    ]
    flow, target = f"{PREFIX}metadatastructure.Metadataflow=KR:MF(1.0)", f"{PREFIX}datastructure.Dataflow=KR:DF(1.0)"
    one = artefact("MS", metadataflow=flow, targets=[target], attributes=attributes)
    found = only({"data": {"metadatasets": [one]}})
    assert isinstance(found, MetadataSet)
    assert (str(found.metadataflow), found.targets) == (flow, (target,))
    assert [(each.id, each.values) for each in found.attributes[:3]] == [
        ("DYNAMIC", ("CL1",)),
        ("DYNAMIC", ("CL2",)),
        ("MANAGED", ("true",)),
    ]
    assert found.attributes[3].texts["fr"] == "remarque"
    depth, name = found.attributes[4].attributes
    assert (depth.values, name.texts["en"]) == (("3",), "dt")


EXTENDED: Final = f"{PREFIX}codelist.Codelist=KR:BASE(1.0)"


def test_extensions_as_in_sdmx_json_are_read() -> None:
    """Extensions written as in SDMX-JSON are read, next to the list's own codes."""
    extension = {
        "codelist": EXTENDED,
        "prefix": "X_",
        "sequence": 1,
        "exclusiveCodeSelection": {"memberValues": ["B", {"value": "C", "cascadeValues": True}]},
    }
    found = only({"Codelist": [artefact("CL", items=[{"id": "A"}], codelistExtensions=[extension])]})
    assert isinstance(found, Codelist)
    assert list(found.codes) == ["A"]
    [one] = found.extensions
    assert (str(one.codelist), one.prefix, one.inclusive) == (EXTENDED, "X_", ())
    assert [(each.value, each.cascade_values) for each in one.exclusive] == [("B", None), ("C", "true")]


@pytest.mark.parametrize(
    "content",
    [
        {"codelistExtensions": [{"codelist": EXTENDED, "wildcards": ["A%"]}]},
        {"extends": [EXTENDED]},
        {"inheritedCodelists": {"KR": EXTENDED}},
    ],
)
def test_extensions_in_other_words(content: dict[str, Any]) -> None:
    """A codelist with an unknown notation of extensions is kept unread: without these codes its meaning changes."""
    found = only({"Codelist": [artefact("CL", items=[{"id": "A"}], **content)]})
    assert isinstance(found, OpaqueArtefact)
    assert found.name("fr") == "CL fr"
    assert json.loads(found.content)["Codelist"][0].items() >= content.items()
    with pytest.raises(UnreadableContentError):
        _ = found.codes


def test_other_properties_do_not_prevent_reading_a_codelist() -> None:
    """Properties other than extensions do not prevent a codelist from being read."""
    found = only({"Codelist": [artefact("CL", items=[{"id": "A"}], validityType="item", extensions=[], more={"a": 1})]})
    assert isinstance(found, Codelist)
    assert list(found.codes) == ["A"]


@pytest.mark.parametrize("class_", ["ReportingTemplate", "ValidationScheme", "PublicationTable"])
def test_classes_of_the_vendor(class_: str) -> None:
    """Classes of the vendor are kept whole, with URN, names and content, also alone in a message."""
    urn = f"{PREFIX}vendor.{class_}=KR:V(1.0)"
    found = only({class_: [artefact("V", urn=urn, startDate=978307200000, worksheets=[{"id": 1}])]})
    assert isinstance(found, OpaqueArtefact)
    assert str(found.urn) == urn
    assert found.name("fr") == "V fr"
    assert found.valid_from == "2001-01-01T00:00:00"
    assert json.loads(found.content)[class_][0]["worksheets"] == [{"id": 1}]
    assert found.content_type == Format.FUSION_JSON

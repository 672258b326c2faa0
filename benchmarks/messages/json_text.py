"""The content as SDMX-JSON 2.0 and Fusion-JSON, with blanks after commas and colons like ``json.dumps``."""

from __future__ import annotations

import json
from typing import Any, Final

from benchmarks.messages.content import AGENCY, VERSION, Codelist, ConceptScheme, Content, DataStructure, Item

_URN: Final = "urn:sdmx:org.sdmx.infomodel."
_SCHEMA: Final = (
    "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/structure-message/tools/schemas/2.0.0/"
    "sdmx-json-structure-schema.json"
)
_META: Final = {"id": "BENCH", "test": False, "prepared": "2026-01-01T00:00:00Z", "sender": {"id": "KR"}}


def _urn(class_: str, package: str, scheme: str, item: str | None = None) -> str:
    return f"{_URN}{package}.{class_}={AGENCY}:{scheme}({VERSION})" + (f".{item}" if item else "")


def _concept(id_: str) -> str:
    return _urn("Concept", "conceptscheme", "CS_0", id_)


def _codelist(id_: str) -> str:
    return _urn("Codelist", "codelist", id_)


def sdmx_json(content: Content) -> bytes:
    """Return the content as SDMX-JSON 2.0."""
    meta = _META | {"schema": _SCHEMA, "contentLanguages": ["en"]}
    return _bytes({"meta": meta, "data": _sdmx_artefact(content)})


def _bytes(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


def _sdmx_texts(en: str, fr: str) -> dict[str, Any]:
    return {"name": en, "names": {"en": en, "fr": fr}}


def _sdmx_artefact(content: Content) -> dict[str, Any]:
    id_ = content.id
    own: dict[str, Any] = {"id": id_, "version": VERSION, "agencyID": AGENCY, "isExternalReference": False}
    own |= _sdmx_texts(f"{id_} in English", f"{id_} en français")
    if isinstance(content, Codelist):
        return {"codelists": [own | {"isPartial": False, "codes": [_sdmx_code(id_, code) for code in content.codes]}]}
    if isinstance(content, ConceptScheme):
        return {
            "conceptSchemes": [
                own | {"isPartial": False, "concepts": [_sdmx_item(concept) for concept in content.concepts]}
            ]
        }
    if isinstance(content, DataStructure):
        return {"dataStructures": [own | {"dataStructureComponents": _sdmx_components(content)}]}
    return {"dataflows": [own | {"structure": _urn("DataStructure", "datastructure", content.structure)}]}


def _sdmx_code(scheme: str, code: Item) -> dict[str, Any]:
    own = _sdmx_item(code)
    urn = _urn("Code", "codelist", scheme, code.id)
    own["links"] = [{"rel": "self", "urn": urn}]
    own["annotations"] = [{"type": "NOTE", "text": code.note, "texts": {"en": code.note}}]
    if code.parent:
        own["parent"] = code.parent
    return own


def _sdmx_item(item: Item) -> dict[str, Any]:
    own: dict[str, Any] = {"id": item.id, **_sdmx_texts(item.en, item.fr)}
    if item.codelist:
        own["coreRepresentation"] = {"enumeration": _codelist(item.codelist)}
    return own


def _sdmx_components(content: DataStructure) -> dict[str, Any]:
    time = {"format": {"dataType": "ObservationalTimePeriod"}}
    attribute = {
        "id": "OBS_STATUS", "conceptIdentity": _concept("OBS_STATUS"), "usage": "optional",
        "attributeRelationship": {"observation": {}},
        "localRepresentation": {"enumeration": _codelist("CL_OBS_STATUS")},
    }  # fmt: skip
    return {
        "dimensionList": {
            "id": "DimensionDescriptor",
            "dimensions": [
                {"id": id_, "position": n, "conceptIdentity": _concept(id_),
                 "localRepresentation": {"enumeration": _codelist(f"CL_{id_}")}}
                for n, id_ in enumerate(content.dimensions)
            ],
            "timeDimension": {
                "id": "TIME_PERIOD", "conceptIdentity": _concept("TIME_PERIOD"), "localRepresentation": time,
            },
        },
        "measureList": {
            "id": "MeasureDescriptor",
            "measures": [{"id": "OBS_VALUE", "conceptIdentity": _concept("OBS_VALUE"), "usage": "mandatory"}],
        },
        "attributeList": {"id": "AttributeDescriptor", "attributes": [attribute]},
    }  # fmt: skip


def fusion(content: Content) -> bytes:
    """Return the content as Fusion-JSON."""
    id_ = content.id
    own: dict[str, Any] = {
        "id": id_, "urn": "", "names": _fusion_texts(f"{id_} in English", f"{id_} en français"),
        "agencyId": AGENCY, "version": VERSION, "isFinal": False,
    }  # fmt: skip
    if isinstance(content, Codelist):
        own |= {"urn": _codelist(id_), "items": [_fusion_item("Code", id_, code) for code in content.codes]}
        return _bytes({"meta": _META, "Codelist": [own]})
    if isinstance(content, ConceptScheme):
        own["urn"] = _urn("ConceptScheme", "conceptscheme", id_)
        own["items"] = [_fusion_item("Concept", id_, concept) for concept in content.concepts]
        return _bytes({"meta": _META, "ConceptScheme": [own]})
    if isinstance(content, DataStructure):
        own |= {"urn": _urn("DataStructure", "datastructure", id_)} | _fusion_components(content)
        return _bytes({"meta": _META, "DataStructure": [own]})
    own["urn"] = _urn("Dataflow", "datastructure", id_)
    own["dataStructureRef"] = _urn("DataStructure", "datastructure", content.structure)
    return _bytes({"meta": _META, "Dataflow": [own]})


def _fusion_texts(en: str, fr: str) -> list[dict[str, Any]]:
    return [{"locale": "en", "value": en}, {"locale": "fr", "value": fr}]


def _fusion_item(class_: str, scheme: str, item: Item) -> dict[str, Any]:
    package = "codelist" if class_ == "Code" else "conceptscheme"
    own: dict[str, Any] = {
        "id": item.id, "urn": _urn(class_, package, scheme, item.id), "names": _fusion_texts(item.en, item.fr),
    }  # fmt: skip
    if item.note:
        own["annotations"] = [{"title": "note", "type": "NOTE", "text": [{"locale": "en", "value": item.note}]}]
    if item.parent:
        own["parentCode"] = item.parent
    if item.codelist:
        own["representation"] = {"representation": _codelist(item.codelist)}
    return own


def _fusion_components(content: DataStructure) -> dict[str, Any]:
    def component(id_: str, class_: str, **more: Any) -> dict[str, Any]:
        urn = _urn(class_, "datastructure", content.id, id_)
        return {"id": id_, "urn": urn, "concept": _concept(id_), **more}

    dimensions = [
        component(id_, "Dimension", position=n, representation={"representation": _codelist(f"CL_{id_}")})
        for n, id_ in enumerate(content.dimensions, 1)
    ]
    time = component(
        "TIME_PERIOD", "TimeDimension", position=len(dimensions) + 1, isTimeDimension=True,
        representation={"textFormat": {"textType": "ObservationalTimePeriod"}},
    )  # fmt: skip
    status = component(
        "OBS_STATUS", "DataAttribute", mandatory=False, attachmentLevel="OBSERVATION",
        measureReferences=["OBS_VALUE"], representation={"representation": _codelist("CL_OBS_STATUS")},
    )  # fmt: skip
    return {
        "dimensionList": {"id": "DimensionDescriptor", "dimensions": [*dimensions, time]},
        "measures": [component("OBS_VALUE", "Measure", mandatory=True)],
        "attributeList": {"id": "AttributeDescriptor", "attributes": [status]},
    }

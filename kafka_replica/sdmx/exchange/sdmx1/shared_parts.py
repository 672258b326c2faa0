"""Shared parts of all objects, in both directions: identity, names, annotations, validity, references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.model.base import Annotation, Identifiable, Maintainable, Nameable
from kafka_replica.sdmx.urns.urn import Urn, own_id

Edition: TypeAlias = Literal["2.1", "3.0"]
"""The model of sdmx1: ``sdmx.model.v21`` or ``sdmx.model.v30``."""

_THEIRS: Final = {
    "DataStructure": "DataStructureDefinition",
    "MetadataStructure": "MetadataStructureDefinition",
    "VtlMappingScheme": "VTLMappingScheme",
    "VtlDataflowMapping": "VTLDataflowMapping",
    "VtlConceptMapping": "VTLConceptMapping",
}
_THEIRS_21: Final = {"Dataflow": "DataflowDefinition", "Metadataflow": "MetadataflowDefinition"}
_OURS: Final = {theirs: ours for ours, theirs in (_THEIRS | _THEIRS_21).items()} | {
    "VTLMapping": "VtlCodelistMapping",
}
_MARKS: Final = ("is_final", "is_partial", "is_external_reference")


def class_named(name: str, edition: Edition) -> Any:
    """Return the class of sdmx1 for one of our class names, or None if there is no such class."""
    modules = (sdmx1().v21, sdmx1().v30) if edition == "2.1" else (sdmx1().v30, sdmx1().v21)
    theirs = _THEIRS.get(name, name)
    theirs = _THEIRS_21.get(theirs, theirs) if edition == "2.1" else theirs
    return next((found for module in modules if (found := getattr(module, theirs, None)) is not None), None)


def our_name(obj: Any) -> str:
    """Return the SDMX name for the class of an sdmx1 object."""
    name = type(obj).__name__
    return _OURS.get(name, name)


# to sdmx1


def identified(identifiable: Identifiable) -> dict[str, Any]:
    """Return the arguments of an IdentifiableArtefact."""
    return {
        "id": identifiable.id,
        "urn": str(identifiable.urn),
        "uri": identifiable.uri,
        "annotations": annotations_to(identifiable.annotations),
    }


def named(nameable: Nameable) -> dict[str, Any]:
    """Return the arguments of a NameableArtefact."""
    return {**identified(nameable), "name": dict(nameable.names), "description": dict(nameable.descriptions)}


def maintained(maintainable: Maintainable, *, partial: bool = False) -> dict[str, Any]:
    """Return the arguments of a MaintainableArtefact; with ``partial`` of an ItemScheme."""
    return {
        **named(maintainable),
        "version": maintainable.version,
        "valid_from": maintainable.valid_from,
        "valid_to": maintainable.valid_to,
        "is_final": maintainable.is_final,
        "is_external_reference": maintainable.is_external_reference,
        "service_url": maintainable.service_url,
        "structure_url": maintainable.structure_url,
        **({"is_partial": maintainable.is_partial} if partial else {}),
    }


def annotations_to(annotations: Iterable[Annotation]) -> list[Any]:
    """Return the annotations; an annotation with a value needs the edition that has values."""
    made = []
    for annotation in annotations:
        own = {
            "id": annotation.id,
            "title": annotation.title,
            "type": annotation.type,
            "url": annotation.url,
            "text": dict(annotation.text),
        }
        if annotation.value is None:
            made.append(sdmx1().v21.Annotation(**own))
        else:
            made.append(sdmx1().v30.Annotation(**own, value=annotation.value))
    return made


def reference_to(urn: Urn | None, edition: Edition) -> Any:
    """Return a placeholder for an artefact, or an item with its scheme, that is only referred to, as in sdmx1."""
    if urn is None:
        return None
    common = sdmx1().common
    if urn.item is None:
        found = class_named(urn.cls, edition)
        if found is None or not issubclass(found, common.MaintainableArtefact):
            found = common.MaintainableArtefact
        agency = common.Agency(id=urn.agency)
        made = found(id=urn.id, version=urn.version, maintainer=agency, is_external_reference=True)
        made.urn = str(urn)  # not as an argument: sdmx1 rejects URNs with version rules
        return made
    kind = class_named(urn.cls, edition) or common.IdentifiableArtefact
    item = kind(id=own_id(urn))
    item.urn = str(urn)
    scheme = class_named(urn.maintainable.cls, edition)
    if isinstance(item, common.Item) and scheme is not None and issubclass(scheme, common.ItemScheme):
        item.parent = reference_to(urn.maintainable, edition)
        item.parent.items[item.id] = item  # sdmx1's writer treats an empty scheme as missing
    return item


# from sdmx1


def urn_of(obj: Any) -> Urn:
    """Return the URN of an artefact, from the identity it states. Raises UrnError, NotExpressibleError."""
    known = Urn.parse(_normal(obj.urn)) if obj.urn else None
    agency = obj.maintainer.id if obj.maintainer is not None else known.agency if known else None
    version = str(obj.version) if obj.version else known.version if known else "1.0"
    if agency is None:
        raise NotExpressibleError(f"converting {obj!r} from sdmx1: it has no maintainer; set its maintainer or urn")
    return Urn.of(our_name(obj), agency, obj.id, version)


def _normal(text: str) -> str:
    return text.replace("Definition=", "=").replace(".VTL", ".Vtl")


def reference_from(obj: Any) -> Urn | None:
    """Return the URN of the object that is referred to."""
    if obj is None:
        return None
    if obj.urn:
        return Urn.parse(_normal(obj.urn))
    if isinstance(obj, sdmx1().common.MaintainableArtefact):
        return urn_of(obj)
    return urn_of(obj.get_scheme()).with_item(our_name(obj), getattr(obj, "hierarchical_id", obj.id))


def identity(obj: Any, urn: Urn) -> dict[str, Any]:
    """Return the arguments of an Identifiable."""
    return {"urn": urn, "uri": obj.uri, "annotations": annotations_from(obj.annotations)}


def naming(obj: Any, urn: Urn) -> dict[str, Any]:
    """Return the arguments of a Nameable."""
    return {**identity(obj, urn), "names": texts_from(obj.name), "descriptions": texts_from(obj.description)}


def maintenance(obj: Any, urn: Urn) -> dict[str, Any]:
    """Return the arguments of a Maintainable."""
    return {
        **naming(obj, urn),
        "valid_from": obj.valid_from,
        "valid_to": obj.valid_to,
        "service_url": obj.service_url,
        "structure_url": obj.structure_url,
        **{mark: truth(getattr(obj, mark, None)) for mark in _MARKS},
    }


def truth(value: Any) -> bool:
    """Return a boolean; sdmx1's reader leaves some as text."""
    return value == "true" if isinstance(value, str) else bool(value)


def texts_from(text: Any) -> InternationalString:
    """Return a text in its languages."""
    return InternationalString(list(text.localizations.items()))


def annotations_from(annotations: Iterable[Any]) -> tuple[Annotation, ...]:
    """Return the annotations."""
    return tuple(
        Annotation(
            id=annotation.id,
            title=annotation.title,
            type=annotation.type,
            value=annotation.value,
            urls=InternationalString({"en": annotation.url} if annotation.url is not None else {}),
            text=texts_from(annotation.text),
        )
        for annotation in annotations
    )


def fields_to(value: Any, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields with plain values, by their names in sdmx1."""
    return {theirs: getattr(value, ours) for ours, theirs in fields.items()}


def fields_from(obj: Any, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields with plain values, by our names."""
    return {ours: getattr(obj, theirs) for ours, theirs in fields.items()}

"""Read a structure message of Fusion-JSON into the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion import (
    constraints,
    extensions,
    items,
    mappings,
    metadata,
    metadata_sets,
    schemes,
    structures,
    vtl,
)
from kafka_replica.sdmx.formats.fusion.common import maintained
from kafka_replica.sdmx.formats.fusion.wire import (
    WireDataflow,
    WireDataStructure,
    WireMaintainable,
    WireMeta,
    WireScheme,
)
from kafka_replica.sdmx.formats.json_shared.tree import JsonMessage, RawArtefact, artefacts_of, decoded, message_of
from kafka_replica.sdmx.formats.shared.reading.collecting import STRICT, ErrorCollector
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urn import Urn

_Reader = tuple[msgspec.json.Decoder[Any], Callable[[Urn, Any], Artefact]]


def _reader(wire: type[WireMaintainable], convert: Callable[[Urn, Any], Artefact]) -> _Reader:
    return msgspec.json.Decoder(wire, strict=False), convert


_ORGANISATIONS: Final = _reader(schemes.WireOrganisationScheme, schemes.organisation_scheme)
READERS: Final[dict[str, _Reader]] = {
    "AgencyScheme": _ORGANISATIONS,
    "Categorisation": _reader(schemes.WireCategorisation, schemes.categorisation),
    "CategoryScheme": _reader(schemes.WireCategoryScheme, schemes.category_scheme),
    "Codelist": _reader(extensions.WireCodelist, extensions.codelist),
    "ConceptScheme": _reader(WireScheme, items.concept_scheme),
    "CustomTypeScheme": _reader(vtl.WireVtlScheme, vtl.custom_type_scheme),
    "DataConstraint": _reader(constraints.WireConstraint, constraints.data_constraint),
    "DataConsumerScheme": _ORGANISATIONS,
    "DataProviderScheme": _ORGANISATIONS,
    "DataStructure": _reader(WireDataStructure, structures.data_structure),
    "Dataflow": _reader(WireDataflow, structures.dataflow),
    "Hierarchy": _reader(metadata.WireHierarchy, metadata.hierarchy),
    "HierarchyAssociation": _reader(metadata.WireHierarchyAssociation, metadata.hierarchy_association),
    "MetadataProviderScheme": _ORGANISATIONS,
    "MetadataProvisionAgreement": _reader(schemes.WireMetadataProvision, schemes.metadata_provision_agreement),
    "MetadataSet": _reader(metadata_sets.WireMetadataSet, metadata_sets.metadata_set),
    "MetadataStructure": _reader(metadata.WireMetadataStructure, metadata.metadata_structure),
    "Metadataflow": _reader(metadata.WireMetadataflow, metadata.metadataflow),
    "NamePersonalisationScheme": _reader(vtl.WireVtlScheme, vtl.name_personalisation_scheme),
    "OrganisationUnitScheme": _ORGANISATIONS,
    "ProvisionAgreement": _reader(schemes.WireProvision, schemes.provision_agreement),
    "RepresentationMap": _reader(mappings.WireRepresentationMap, mappings.representation_map),
    "RulesetScheme": _reader(vtl.WireVtlScheme, vtl.ruleset_scheme),
    "StructureMap": _reader(mappings.WireStructureMap, mappings.structure_map),
    "TransformationScheme": _reader(vtl.WireVtlScheme, vtl.transformation_scheme),
    "UserDefinedOperatorScheme": _reader(vtl.WireVtlScheme, vtl.user_defined_operator_scheme),
    "ValueList": _reader(WireScheme, items.value_list),
    "VtlMappingScheme": _reader(vtl.WireVtlScheme, vtl.vtl_mapping_scheme),
}
_META: Final = msgspec.json.Decoder(WireMeta, strict=False)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Any])
_OPAQUE: Final = msgspec.json.Decoder(WireMaintainable, strict=False)

# Classes for which an unknown part would change the meaning of the rest: such an artefact is kept as it is.
WHOLE: Final[dict[str, type[WireMaintainable]]] = {
    "Codelist": extensions.WireCodelist,
    "DataConstraint": constraints.WireConstraint,
    "StructureMap": mappings.WireStructureMap,
}
_OWN_KEYS: Final = frozenset({"urn", "agencyId", "version", "validityType"})


def read_message(message: JsonMessage, collector: ErrorCollector = STRICT) -> Message:
    """Return the message with these outermost levels. Raises MessageError."""
    header = Header()
    if message.meta is not None:
        meta = decoded(_META, message.meta, "the meta of Fusion-JSON")
        header = header_of(meta)
    artefacts = collector.read_all(
        artefacts_of(message, collector), partial(_artefact, message), RawArtefact.unreadable
    )
    return Message(message.format, header, artefacts, errors=collector.errors)


def _artefact(message: JsonMessage, artefact: RawArtefact) -> Artefact:
    urn = artefact.urn
    known = READERS.get(urn.cls)
    if known is not None:
        decoder, convert = known
        try:
            if not _has_unknown(artefact):
                return convert(urn, decoded(decoder, artefact.raw, str(urn)))
        except RecursionError:
            raise MessageError(f"reading {urn}: it is nested too deep to be a structure message") from None
        except MessageError as error:
            if urn.cls not in WHOLE or "unknown field" not in str(error):
                raise
    wire = decoded(_OPAQUE, artefact.raw, str(urn))
    return OpaqueArtefact(
        urn=urn, content=message_of(message, artefact), content_type=message.format, **maintained(wire)
    )


def _has_unknown(artefact: RawArtefact) -> bool:
    class_ = artefact.urn.cls
    return class_ in WHOLE and has_unknown(class_, decoded(_MEMBERS, artefact.raw, str(artefact.urn)))


@cache
def _known_members(class_: str) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(WHOLE[class_])) | _OWN_KEYS


def has_unknown(class_: str, members: dict[str, Any]) -> bool:
    """Return True if an artefact of one of the classes in ``WHOLE`` has an unknown member."""
    known = _known_members(class_)
    if known.issuperset(members):
        return False
    unknown = [name for name, value in members.items() if name not in known and not _says_nothing(value)]
    # Any other unknown member of a codelist may be left out.
    return any(map(extensions.speaks_of_extension, unknown)) if class_ == "Codelist" else bool(unknown)


def _says_nothing(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def header_of(meta: WireMeta) -> Header:
    """Return the header."""
    return Header(id=meta.id, sender=meta.sender.id if meta.sender else None, prepared=meta.prepared, test=meta.test)

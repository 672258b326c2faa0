"""Generate the schema of structure-specific metadata messages (2.1), with a complex type for each part of a report.

Source: SDMX 2.1, SDMXMetadataStructureSpecific.xsd. The types have the names of the standard's sample,
samples/demography/esms.xsd in https://github.com/sdmx-twg/sdmx-ml-v2_1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from kafka_replica.data.schemas.reported_attributes import ReportedAttributes
from kafka_replica.data.schemas.schema_document import (
    ANNOTATIONS,
    PROVIDER,
    choice,
    complex_type,
    element,
    enumerated_ids,
    restriction,
    schema_document,
)
from kafka_replica.data.schemas.simple_types import name_in_xml
from kafka_replica.data.schemas.target_objects import reference_of
from kafka_replica.sdmx import SdmxError, Structures, UnwritableError, Urn
from kafka_replica.sdmx.containers import stub_error
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.model import Metadataflow, MetadataStructure, MetadataTarget, ReportStructure

_MANY: Final = ' maxOccurs="unbounded"'
_ONCE: Final = ""


def metadata_schema(structures: Structures, urn: Urn, *, schema_location: str = "") -> bytes:
    """Return the XML schema of the structure-specific metadata messages of a metadata structure or metadataflow.

    Only SDMX-ML 2.1 has such messages. The target namespace is the URN of the artefact, as in the standard's sample. An
    object that a report is about has to be of the class that its target names; it may be in any scheme.

    Args:
        structures: the version that has the artefact, and the concepts and lists that it uses.
        urn: the metadata structure, or the metadataflow.
        schema_location: the prefix of the standard's file names in ``schemaLocation``; a path must end with ``/``.

    Raises:
        UnwritableError: the metadata structure has no report structure with a target, as those of 3.x, or its ids
            cannot be names in XML.
        SdmxError: an artefact that is needed is missing or a stub.
    """
    structure = _structure(structures, urn)
    types = _MetadataSchemaTypes(structure, ReportedAttributes(structures, structure.urn))
    return schema_document("2.1", str(urn), schema_location, types.text(), of_metadata=True)


def _structure(structures: Structures, urn: Urn) -> MetadataStructure:
    found = structures.get(urn)
    if isinstance(found, Metadataflow) and found.structure is not None:
        found = structures.get(late_bound(found.structure, found.urn))
    if not isinstance(found, MetadataStructure):
        raise SdmxError(f"generating the schema of {urn}: it names no metadata structure")
    if found.is_stub:
        raise stub_error(found.urn)
    return found


class _MetadataSchemaTypes:
    """The types of one schema."""

    def __init__(self, structure: MetadataStructure, attributes: ReportedAttributes) -> None:
        self._urn, self._attributes = structure.urn, attributes
        self._reports = {
            name_in_xml(report_structure.id, "report structure"): report_structure
            for report_structure in structure.report_structures.values()
        }
        self._targets = {
            name_in_xml(metadata_target.id, "metadata target"): metadata_target
            for metadata_target in structure.metadata_targets.values()
        }
        self._names: list[str] = []
        self._check()

    def text(self) -> list[str]:
        """Return the definitions of all types.

        Raises:
            UnwritableError: two types have the same name, or an attribute cannot be named in XML.
            IncompleteStructureError: a concept or list that an attribute uses is missing.
        """
        made = [*self._base_types()]
        for target in self._targets.values():
            made += self._of_target(target)
        for report in self._reports.values():
            made += self._of_report(report)
        types = [*self._attributes.definitions(), *made]
        twice = [name for name, count in Counter(self._names).items() if count > 1]
        if twice:
            raise UnwritableError(
                f"structure-specific messages of {self._urn} are ambiguous: {', '.join(twice)} names two types"
            )
        return types

    def _check(self) -> None:
        named = {id_ for report in self._reports.values() for id_ in report.metadata_targets}
        empty = [each.id for each in self._reports.values() if not each.metadata_targets]
        empty += [target.id for target in self._targets.values() if not target.target_objects]
        if not self._reports or empty or not named <= self._targets.keys():
            wrong = ", ".join([*empty, *sorted(named - self._targets.keys())])
            raise UnwritableError(
                f"{self._urn} has no complete report structures with targets, on which structure-specific metadata "
                f"messages of SDMX-ML 2.1 are based{f' ({wrong})' if wrong else ''}; request the structures instead"
            )

    def _named(self, name: str) -> str:
        self._names.append(name)
        return name

    def _base_types(self) -> Iterator[str]:
        """Yield the types of a metadata set, and the abstract types of its reports and their targets."""
        name = f'<xs:element ref="common:Name" minOccurs="0"{_MANY}/>'
        inside = [ANNOTATIONS, name, PROVIDER, element("Report", "ReportType", _MANY)]
        yield restriction(self._named("MetadataSetType"), "msd:MetadataSetType", inside, ())
        attributes = '<xs:element name="AttributeSet" form="unqualified"/>'
        inside = [ANNOTATIONS, element("Target", "TargetType", _ONCE), attributes]
        yield self._abstract("ReportType", "msd:ReportType", inside, "Report.ID", self._reports)
        yield self._abstract("TargetType", "msd:TargetType", [_any_reference()], "Target.ID", self._targets)

    def _abstract(self, name: str, base: str, inside: list[str], ids: str, allowed: Iterable[str]) -> str:
        """Return an abstract type with one of the allowed ids, and the type of these ids."""
        made = restriction(self._named(name), base, inside, [_id(ids)], abstract=' abstract="true"')
        return made + self._ids(ids, allowed, "Target.ID" if base == "TargetType" else "common:IDType")

    def _ids(self, name: str, allowed: Iterable[str], base: str = "common:IDType") -> str:
        return enumerated_ids(self._named(name), allowed, base)

    def _of_target(self, target: MetadataTarget) -> Iterator[str]:
        """Yield the types of the references to the objects that a target consists of."""
        own, ids = f"{target.id}.ReferenceValueType", f"{target.id}.TargetObject.ID"
        references = {target_object.id: reference_of(target_object) for target_object in target.target_objects.values()}
        kinds = {
            reference.element: element(reference.element, reference.general_type, _ONCE)
            for reference in references.values()
        }
        yield complex_type(
            self._named(own), "msd:ReferenceValueType", choice(kinds.values()), [_id(ids)], abstract=' abstract="true"'
        )
        yield self._ids(ids, references)
        for id_, reference in references.items():
            content = choice([element(reference.element, reference.type, _ONCE)])
            yield complex_type(self._named(f"{target.id}.{reference.name}"), own, content, [_id(ids, id_)])

    def _of_report(self, report: ReportStructure) -> Iterator[str]:
        """Yield the types of a report, of its targets and of its attributes."""
        target, ids = f"{report.id}.TargetType", f"{report.id}.Target.ID"
        attributes = self._named(f"{report.id}.AttributeSet")
        unique = (
            f'<xs:element name="Target" type="{target}" form="unqualified"><xs:unique name="{report.id}.Unique">'
            '<xs:selector xpath="*"/><xs:field xpath="@id"/></xs:unique></xs:element>'
        )
        inside = [ANNOTATIONS, unique, element("AttributeSet", attributes, _ONCE)]
        yield restriction(self._named(report.id), "ReportType", inside, [_id("Report.ID", report.id)])
        yield self._abstract(target, "TargetType", [_any_reference()], ids, report.metadata_targets)
        for id_ in report.metadata_targets:
            count = len(self._targets[id_].target_objects)
            exactly = f' minOccurs="{count}" maxOccurs="{count}"'
            references = element("ReferenceValue", f"{id_}.ReferenceValueType", exactly)
            yield restriction(self._named(f"{report.id}.{id_}"), target, [references], [_id(ids, id_)])
        yield f'<xs:complexType name="{attributes}">{self._attributes.sequence(report)}</xs:complexType>'


def _any_reference() -> str:
    return element("ReferenceValue", "msd:ReferenceValueType", _MANY)


def _id(type_: str, fixed: str | None = None) -> str:
    """Return the declaration of the attribute ``id``, which messages may leave out because its value is fixed."""
    value = "" if fixed is None else f' fixed="{fixed}"'
    return f'<xs:attribute name="id" type="{type_}" use="optional"{value}/>'

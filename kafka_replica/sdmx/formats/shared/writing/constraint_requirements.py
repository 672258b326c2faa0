"""The schema rules of a format for constraints: required and unsupported parts.

Source: SDMXStructureConstraint.xsd of SDMX-ML 2.1, 3.0 and 3.1, and the constraints in the schemas of SDMX-JSON 2.0 and
2.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from kafka_replica.sdmx.containers import stored_parts
from kafka_replica.sdmx.model import Artefact, Constraint, ConstraintAttachment, MemberSelection, SelectedValue


class AttachmentKinds(NamedTuple):
    """The kinds of objects that a constraint can be attached to: one kind at a time, some kinds only once."""

    once: str
    many: str
    queried: str = ""
    """The kinds that allow queryable data sources next to them."""


_FLOWS: Final = "DataStructure MetadataStructure Dataflow Metadataflow ProvisionAgreement"
_DATA: Final = "DataStructure Dataflow ProvisionAgreement"
_METADATA: Final = "MetadataStructure Metadataflow MetadataProvisionAgreement"
KINDS_21: Final = {
    "ContentConstraint": AttachmentKinds("DataProvider DataSet MetadataSet SimpleDataSource", _FLOWS, _FLOWS),
    "AttachmentConstraint": AttachmentKinds("", f"DataSet MetadataSet SimpleDataSource {_FLOWS}"),
}
KINDS_30: Final = {
    "DataConstraint": AttachmentKinds("DataProvider", f"SimpleDataSource {_DATA}", _DATA),
    "MetadataConstraint": AttachmentKinds("MetadataProvider", f"SimpleDataSource {_METADATA}", _METADATA),
}
KINDS_31: Final = {
    "DataConstraint": AttachmentKinds("DataProvider", _DATA),
    "MetadataConstraint": AttachmentKinds("MetadataProvider", _METADATA),
}


def attached_to(kinds: Mapping[str, AttachmentKinds]) -> Callable[[Artefact], str | None]:
    """Return a rule: the attachments of a constraint are of the kinds that its class allows."""

    def reason_of(artefact: Artefact) -> str | None:
        known = kinds.get(artefact.urn.cls)
        if not isinstance(artefact, Constraint) or known is None or artefact.attachment is None:
            return None
        counts = _attached(artefact.attachment)
        if len(counts) != 1:
            return "demands that a constraint is attached to things of one kind"
        [(kind, count)] = counts.items()
        if kind not in known.many.split() and (count > 1 or kind not in known.once.split()):
            return f"cannot represent {count} {kind} that a {artefact.urn.cls} is attached to"
        if artefact.attachment.queryable_data_sources and kind not in known.queried.split():
            return f"cannot represent data sources in addition to the {kind} that a {artefact.urn.cls} is attached to"
        return None

    return reason_of


def _attached(constraint_attachment: ConstraintAttachment) -> Counter[str]:
    """Return the number of objects of each kind that a constraint is attached to."""
    counts = Counter(urn.cls for urn in constraint_attachment.references)
    counts.update(DataSet=len(constraint_attachment.data_sets), MetadataSet=len(constraint_attachment.metadata_sets))
    counts.update(SimpleDataSource=len(constraint_attachment.simple_data_sources))
    return +counts


def values_of_keys(artefact: Artefact) -> str | None:
    """Return why a cube region that selects a dimension without values is refused, or None."""
    found = stored_parts(artefact.cube_regions) if isinstance(artefact, Constraint) else []
    is_wrong = any(not key.values and key.time_range is None for region in found for key in region.key_values)
    return "demands the values of a dimension that a region selects" if is_wrong else None


def dated_keys(artefact: Artefact) -> str | None:
    """Return why values in keys with their own validity are refused, or None."""
    values = _values_in_keys(artefact) if isinstance(artefact, Constraint) else []
    is_wrong = any(value.valid_from is not None or value.valid_to is not None for value in values)
    return "cannot represent the validity of a value in a key" if is_wrong else None


def _values_in_keys(constraint: Constraint) -> Iterator[SelectedValue]:
    for key in (key for key_set in stored_parts(constraint.key_sets) for key in key_set.keys):
        for selection in (*key.key_values, *key.components):
            yield from selection.values


def dated_regions(artefact: Artefact) -> str | None:
    """Return why cube regions with a validity are refused, or None."""
    found = stored_parts(artefact.cube_regions) if isinstance(artefact, Constraint) else []
    is_wrong = any(region.valid_from is not None or region.valid_to is not None for region in found)
    return "cannot represent the validity of a cube region" if is_wrong else None


def dated_selections(artefact: Artefact) -> str | None:
    """Return why selected values with a validity are refused, or None: dimensions of cube regions may have one."""
    selections = _without_validity(artefact) if isinstance(artefact, Constraint) else ()
    wrong = next((each for each in selections if each.valid_from is not None or each.valid_to is not None), None)
    if wrong is None:
        return None
    return f"cannot represent the validity of the values of {wrong.id}, which are not of a dimension in a cube region"


def _without_validity(constraint: Constraint) -> Iterator[MemberSelection]:
    for region in (*stored_parts(constraint.cube_regions), *stored_parts(constraint.metadata_target_regions)):
        yield from region.components
    for key_set in (*stored_parts(constraint.key_sets), *stored_parts(constraint.metadata_key_sets)):
        for key in key_set.keys:
            yield from (*key.key_values, *key.components)


def annotated_target_regions(artefact: Artefact) -> str | None:
    """Return why annotations of target regions are refused, or None."""
    found = stored_parts(artefact.metadata_target_regions) if isinstance(artefact, Constraint) else []
    is_wrong = any(region.annotations for region in found)
    return "cannot represent annotations of a target region" if is_wrong else None

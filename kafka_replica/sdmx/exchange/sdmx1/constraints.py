"""Content and data constraints, in both directions.

Content whose loss would change the meaning is refused: a second key set, keys with several values for a component,
cascades that exclude their root.
"""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.exchange.sdmx1.constraint_parts import keys_from, keys_to, refused, region_from, region_to
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import (
    Edition,
    class_named,
    maintained,
    maintenance,
    reference_from,
    reference_to,
    urn_of,
)
from kafka_replica.sdmx.model import (
    ARTEFACTS,
    Constraint,
    ConstraintAttachment,
)

_ROLES = {"allowed": "allowable", "actual": "actual"}


def constraint_to(artefact: Constraint, edition: Edition) -> Any:
    """Convert a constraint; its attachments become a set, without order."""
    if len(artefact.key_sets) > 1 or artefact.metadata_target_regions or artefact.metadata_key_sets:
        raise refused(artefact.urn, "sdmx1 supports one key set of data, and no regions of metadata")
    common = sdmx1().common
    made = class_named(artefact.urn.cls, edition)(**maintained(artefact))
    role = _ROLES.get((artefact.role or "").lower())
    if role is not None:
        made.role = common.ConstraintRole(role=common.ConstraintRoleType[role])
    if artefact.attachment is not None:
        made.content = {reference_to(urn, edition) for urn in artefact.attachment.references}
    made.data_content_region = [region_to(cube_region, artefact.urn, edition) for cube_region in artefact.cube_regions]
    for keys in artefact.key_sets:
        made.data_content_keys = keys_to(keys, artefact.urn, edition)
    return made


def constraint_from(obj: Any) -> Constraint:
    """Build a constraint, with its attachments sorted by URN."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    attached = sorted(target for content in obj.content if (target := reference_from(content)) is not None)
    role = None if obj.role is None else {"allowable": "Allowed", "actual": "Actual"}[obj.role.role.name]
    keys = [] if obj.data_content_keys is None else [keys_from(obj.data_content_keys)]
    regions = [region_from(data_content_region) for data_content_region in obj.data_content_region]
    is_stub = base["is_external_reference"] and not (attached or keys or regions)
    found: Any = ARTEFACTS[urn.cls]
    made: Constraint = found(
        **base,
        role=role,
        attachment=ConstraintAttachment(references=tuple(attached)) if attached else None,
        cube_regions=parts_of(urn, regions, is_stub=is_stub),
        key_sets=parts_of(urn, keys, is_stub=is_stub),
        metadata_target_regions=parts_of(urn, (), is_stub=is_stub),
        metadata_key_sets=parts_of(urn, (), is_stub=is_stub),
    )
    return made

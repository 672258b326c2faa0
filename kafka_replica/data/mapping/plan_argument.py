"""Get a plan from a caller's argument, which is a plan or a reference to a map."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from kafka_replica.data.mapping.compiler import compile_map
from kafka_replica.data.mapping.inverse import inverse
from kafka_replica.data.mapping.model import MapPlan
from kafka_replica.data.validation.arguments import check_snapshot
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Snapshot, Structures, Urn


def plan_for(
    reference: Urn | str | MapPlan,
    snapshot: Snapshot | None,
    rules: Mapping[str, str] | None,
    as_of: date | None,
    *,
    reverse: bool,
) -> MapPlan:
    """Return the given plan, or compile one from the snapshot; inverted on request.

    Raises:
        UsageError: a reference comes without a snapshot, or with another object in its place; or a plan comes with
            arguments that it already contains.
        SdmxError: see :func:`kafka_replica.data.mapping.compile_map`.
    """
    if isinstance(reference, MapPlan):
        if snapshot is not None or rules is not None or as_of is not None:
            raise UsageError("mapping by a compiled plan: snapshot, rules and as_of are part of it; omit them")
        plan = reference
    else:
        snapshot = check_snapshot(f"mapping by {reference}", reference, snapshot)
        plan = compile_map(Structures(snapshot), reference, rules=rules, as_of=as_of)
    return inverse(plan) if reverse else plan

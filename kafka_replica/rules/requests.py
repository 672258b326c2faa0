"""From what a caller of an engine gives, a reference or rules, to rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from kafka_replica.errors import UsageError
from kafka_replica.rules.actions import Action
from kafka_replica.rules.compiler import compile_rules
from kafka_replica.rules.model import Rules
from kafka_replica.sdmx import Snapshot, Structures, Urn


def rules_for(
    reference: Urn | str | Rules,
    snapshot: Snapshot | None,
    rules: Mapping[str, str] | None,
    action: Action,
    as_of: date | None,
) -> Rules:
    """The rules themselves, or those compiled from the snapshot.

    Raises:
        UsageError: a reference without a snapshot, or rules with something that is settled in them.
        SdmxError: see :func:`kafka_replica.rules.compile_rules`.
    """
    if isinstance(reference, Rules):
        if snapshot is not None or rules is not None or as_of is not None:
            raise UsageError(
                "validating with compiled rules: snapshot, rules and as_of are settled in them; leave them out"
            )
        return reference
    if snapshot is None:
        raise UsageError(f"validating against {reference}: give the snapshot to take it from")
    return compile_rules(Structures(snapshot), reference, rules=rules, action=action, as_of=as_of)

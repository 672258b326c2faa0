"""Checks of the arguments of an engine's functions: a reference or rules, a validated frame, a severity."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date

from kafka_replica.data.validation.actions import Action
from kafka_replica.data.validation.catalogue import SEVERITIES
from kafka_replica.data.validation.compiler import compile_rules
from kafka_replica.data.validation.model import ERRORS, Rules
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Snapshot, Structures, Urn


def rules_for(
    reference: Urn | str | Rules,
    snapshot: Snapshot | None,
    rules: Mapping[str, str] | None,
    action: Action | None,
    as_of: date | None,
) -> Rules:
    """Return the given rules, or compile them from the snapshot.

    Raises:
        UsageError: a reference was passed without a snapshot, or rules with arguments that they already contain.
        SdmxError: see :func:`kafka_replica.data.validation.compile_rules`.
    """
    if isinstance(reference, Rules):
        if snapshot is not None or rules is not None or action is not None or as_of is not None:
            raise UsageError(
                "validating with compiled rules: snapshot, rules, action and as_of are part of them; omit them"
            )
        return reference
    snapshot = check_snapshot(f"validating against {reference}", reference, snapshot)
    return compile_rules(Structures(snapshot), reference, rules=rules, action=action or "information", as_of=as_of)


def check_snapshot(doing: str, reference: object, snapshot: Snapshot | None) -> Snapshot:
    """Check that a reference, and the version to take its artefact from, were given.

    Raises:
        UsageError: one of them is missing or of another type.
    """
    if not isinstance(reference, Urn | str):
        raise UsageError(f"{doing}: give a URN or a short reference such as AGENCY:ID(1.0)")
    if snapshot is None:
        raise UsageError(f"{doing}: give a snapshot that contains it")
    if not hasattr(snapshot, "position"):
        # Probably a replica, which has snapshots, and advances to newer ones.
        raise UsageError(f"{doing}: {type(snapshot).__name__} is not a snapshot; give one version: replica.snapshot()")
    return snapshot


def check_has_errors(columns: Collection[str], doing: str) -> None:
    """Check that a frame was validated or mapped.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    if ERRORS not in columns:
        raise UsageError(f"{doing}: it has no column {ERRORS}; validate() it first")


def bad_severities(columns: Collection[str], severity: str) -> tuple[str, ...]:
    """Return the severities that make a row bad if a frame is split at the given severity.

    Raises:
        UsageError: the frame has no column ``_errors``, or the severity is unknown.
    """
    check_has_errors(columns, "splitting a frame into good and bad rows")
    if severity not in SEVERITIES:
        raise UsageError(f"splitting at severity {severity!r}: give one of {', '.join(SEVERITIES)}")
    return SEVERITIES[: SEVERITIES.index(severity) + 1]

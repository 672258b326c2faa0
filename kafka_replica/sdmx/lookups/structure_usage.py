"""The data structure that a dataflow or provision agreement uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from kafka_replica.sdmx.containers import stub_error
from kafka_replica.sdmx.errors import IncompleteStructureError, SdmxError, UrnError
from kafka_replica.sdmx.lookups.items import Item
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.lookups.resolved_structure import MissingReference
from kafka_replica.sdmx.model import Artefact, Dataflow, DataStructure, ProvisionAgreement
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")
_SHOWN: Final = 20


class UsageLookups(Protocol):
    """The look-ups in one version that finding the structure needs."""

    @property
    def version(self) -> int: ...  # noqa: D102
    def get(self, urn: Urn) -> Artefact | Item: ...  # noqa: D102


class StructureUsage(NamedTuple):
    """A data structure, and the dataflow and provision agreement by which it was found."""

    structure: DataStructure
    dataflow: Dataflow | None = None
    agreement: ProvisionAgreement | None = None

    @property
    def urn(self) -> Urn:
        """The URN of the artefact nearest to the data, with its concrete version."""
        nearest = next(one for one in (self.agreement, self.dataflow, self.structure) if one is not None)
        return nearest.urn


def structure_usage(lookups: UsageLookups, urn: Urn) -> StructureUsage:
    """Return the data structure of a provision agreement, dataflow or data structure.

    A version rule in a reference is interpreted for the artefact that states it.

    Raises:
        UrnError: the URN is of another class.
        ArtefactNotFoundError: the artefact is not in this version.
        IncompleteStructureError: the artefact is a stub, or names no dataflow or structure, or one that is not in this
            version.
    """
    found = lookups.get(urn)
    agreement = flow = None
    if isinstance(found, ProvisionAgreement):
        agreement = found
        usage = None if agreement.is_stub else agreement.structure_usage
        found = _target(lookups, urn, agreement, usage, Dataflow)
    if isinstance(found, Dataflow):
        flow = found
        found = _target(lookups, urn, flow, flow.structure_reference, DataStructure)
    if not isinstance(found, DataStructure):
        raise UrnError(f"resolving {urn}: it is not a DataStructure, Dataflow or ProvisionAgreement; name one")
    return StructureUsage(found, flow, agreement)


def _target(lookups: UsageLookups, urn: Urn, holder: Artefact, target: Urn | None, kind: type[T]) -> T:
    """Return a required artefact."""
    if holder.is_stub:
        raise incomplete(lookups, urn, [MissingReference(holder.urn, target, str(stub_error(holder.urn)))])
    if target is None:
        reason = f"{holder.urn} names no {kind.__name__}; publish it with one"
        raise incomplete(lookups, urn, [MissingReference(holder.urn, None, reason)])
    try:
        found = lookups.get(late_bound(target, holder.urn))
    except SdmxError as error:
        raise incomplete(lookups, urn, [MissingReference(holder.urn, target, str(error))]) from error
    if not isinstance(found, kind):
        raise UrnError(f"resolving {urn}: {holder.urn} refers to {target}, not to a {kind.__name__}")
    return found


def incomplete(lookups: UsageLookups, urn: Urn, missing: Sequence[MissingReference]) -> IncompleteStructureError:
    """Return the error for an artefact that lacks other artefacts, or that needs some that are unusable."""
    who: dict[str, list[str]] = {}
    for one in missing:
        who.setdefault(one.reason, []).append(one.source.item or one.source.reference)
    reasons = [f"{', '.join(sources)}: {reason}" for reason, sources in who.items()]
    rest = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    error = IncompleteStructureError(
        f"resolving {urn} in version {lookups.version}: parts that it needs are missing or unusable: "
        f"{'; '.join(reasons[:_SHOWN])}{rest}; publish them, or use a version that has them"
    )
    error.missing = tuple(missing)
    return error

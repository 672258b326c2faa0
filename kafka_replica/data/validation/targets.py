"""Resolve a reference for validation: to a provision agreement, dataflow or data structure, and related artefacts."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Dataflow, DataStructure, Structures, Urn
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.sdmx.lookups.nearby import nearby
from kafka_replica.sdmx.model import ProvisionAgreement

_CLASSES: Final = ("DataStructure", "Dataflow", "ProvisionAgreement")


class Target(NamedTuple):
    """The artefacts that data is validated against."""

    artefact: Urn
    structure: DataStructure
    dataflow: Dataflow | None = None
    agreement: ProvisionAgreement | None = None


def target_of(structures: Structures, reference: Urn | str) -> Target:
    """Return the target of a URN or a short reference.

    Raises:
        UsageError: the URN has another class, or the reference denotes several artefacts that do not belong together.
        SdmxError: the artefact is not in this version or cannot be read.
    """
    if isinstance(reference, str) and not reference.startswith("urn:"):
        return _of_reference(structures, reference)
    urn = Urn.parse(reference) if isinstance(reference, str) else reference
    if urn.cls not in _CLASSES:
        raise UsageError(
            f"validating against {urn}: give the URN of a DataStructure, of a Dataflow or of a ProvisionAgreement"
        )
    found = structures.get(urn)
    if isinstance(found, DataStructure):
        return Target(found.urn, found)
    if isinstance(found, Dataflow):
        return _of_dataflow(structures, found)
    if isinstance(found, ProvisionAgreement):
        if found.dataflow is None:
            raise UsageError(f"validating against {urn}: it names no dataflow; give the URN of one")
        flow = _of_dataflow(structures, structures.dataflow(found.dataflow))
        return flow._replace(artefact=found.urn, agreement=found)
    # An artefact that exists but is opaque: structures explains the reason.
    return Target(urn, structures.data_structure(urn))


def _of_reference(structures: Structures, reference: str) -> Target:
    found: list[Target] = []
    missing: ArtefactNotFoundError | None = None
    for class_ in _CLASSES:
        urn = Urn.of_reference(class_, reference)
        try:
            found.append(target_of(structures, structures.get(urn).urn))
        except ArtefactNotFoundError as error:
            if urn in structures:
                raise  # the dataflow exists, its data structure does not
            missing = error
    if len({target.structure.urn for target in found}) > 1:
        names = " and ".join(str(target.artefact) for target in found)
        raise UsageError(f"validating against {reference!r}: it means {names}; give a URN, not a reference")
    if not found:
        raise ArtefactNotFoundError(
            f"validating against {reference!r}: version {structures.version} has no such data structure, dataflow or "
            f"provision agreement; {nearby(structures, Urn.of_reference(_CLASSES[0], reference), *_CLASSES)}"
        ) from missing
    return found[-1]  # the nearest to the data, which has the most constraints


def _of_dataflow(structures: Structures, dataflow: Dataflow) -> Target:
    if dataflow.structure is None:
        raise UsageError(f"validating against {dataflow.urn}: it names no data structure; give the URN of one")
    return Target(dataflow.urn, structures.data_structure(dataflow.structure), dataflow)

"""The artefact that data is validated against: a provision agreement, a dataflow or a data structure."""

from __future__ import annotations

from typing import Final

from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.sdmx.lookups.structure_usage import StructureUsage, structure_usage
from kafka_replica.sdmx.lookups.suggestions import suggestion_for

_CLASSES: Final = ("DataStructure", "Dataflow", "ProvisionAgreement")


def target_artefact(structures: Structures, reference: Urn | str) -> Urn:
    """Return the artefact that a URN or a short reference names.

    Raises:
        UsageError: the URN has another class, or the reference denotes several artefacts that do not belong together.
        SdmxError: an artefact of the reference is not in this version or cannot be read.
    """
    if isinstance(reference, str) and not reference.startswith("urn:"):
        return _of_reference(structures, reference)
    urn = Urn.parse(reference) if isinstance(reference, str) else reference
    if urn.cls not in _CLASSES:
        raise UsageError(
            f"validating against {urn}: give the URN of a DataStructure, of a Dataflow or of a ProvisionAgreement"
        )
    return urn


def _of_reference(structures: Structures, reference: str) -> Urn:
    found: list[StructureUsage] = []
    missing: ArtefactNotFoundError | None = None
    for class_ in _CLASSES:
        urn = Urn.of_reference(class_, reference)
        try:
            found.append(structure_usage(structures, urn))
        except ArtefactNotFoundError as error:
            if urn in structures:
                raise  # the dataflow exists, but its data structure does not
            missing = error
    if len({usage.structure.urn for usage in found}) > 1:
        names = " and ".join(str(usage.urn) for usage in found)
        raise UsageError(f"validating against {reference!r}: it matches {names}; give a URN instead of a reference")
    if not found:
        raise ArtefactNotFoundError(
            f"validating against {reference!r}: version {structures.version} does not contain this data structure, "
            "dataflow or "
            f"provision agreement; {suggestion_for(structures, Urn.of_reference(_CLASSES[0], reference), *_CLASSES)}"
        ) from missing
    return found[-1].urn  # the artefact that is nearest to the data, and so has the most constraints

"""The URN of an artefact, built from the identity it states; and the ids that the standard fixes."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.urn import Urn

FIXED_IDS: Final = {
    "AgencyScheme": "AGENCIES",
    "DataProviderScheme": "DATA_PROVIDERS",
    "DataConsumerScheme": "DATA_CONSUMERS",
    "MetadataProviderScheme": "METADATA_PROVIDERS",
}
"""Ids that may be left out because the schema fixes them (SDMXStructureOrganisation.xsd)."""

DEFAULT_VERSION: Final = "1.0"
"""The version of an artefact or a reference without a version (2.1; AgencyScheme in 3.x)."""


def id_of_concept(concept: Urn | None) -> str | None:
    """Return the id of a concept, which a component without an id has; some messages write a path of concepts."""
    return None if concept is None or concept.item is None else concept.item.rpartition(".")[2]


def artefact_urn(
    class_: str, agency: str | None, id_: str | None, version: str | None, stated_urn: str | None, where: str
) -> Urn:
    """Return the URN of an artefact, built from its own class, agency, id and version.

    A URN that the artefact carries (``stated_urn``) is used for one purpose only: the package of a vendor's class.
    Registries send URNs that contradict the artefact that carries them.

    Raises:
        MessageError: agency or id are missing or malformed; ``where`` is the place.
    """
    id_ = id_ or FIXED_IDS.get(class_)
    if not agency or not id_:
        missing = "agency" if not agency else "id"
        raise MessageError(f"reading a {class_} {where}: it has no {missing}, so it has no URN; correct the message")
    package = None
    if class_ not in CLASSES and stated_urn:
        try:
            package = Urn.parse(stated_urn).package
        except UrnError:
            package = None
    try:
        return Urn.of(class_, agency, id_, version or DEFAULT_VERSION, package=package)
    except UrnError as error:
        raise MessageError(f"reading a {class_} {where}: {error}") from None

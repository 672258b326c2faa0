"""The URN of an artefact, made of what it says of itself; and which ids the standard fixes."""

from __future__ import annotations

from typing import Final

from kafka_replica.errors import MessageError, UrnError
from kafka_replica.sdmx.classes import CLASSES
from kafka_replica.sdmx.urn import Urn

FIXED_IDS: Final = {
    "AgencyScheme": "AGENCIES",
    "DataProviderScheme": "DATA_PROVIDERS",
    "DataConsumerScheme": "DATA_CONSUMERS",
    "MetadataProviderScheme": "METADATA_PROVIDERS",
}
"""Ids that may be left out, for there is no other (SDMXStructureOrganisation.xsd)."""

DEFAULT_VERSION: Final = "1.0"
"""The version of an artefact, and of a reference, that names none (2.1; AgencyScheme in 3.x)."""


def artefact_urn(
    class_: str, agency: str | None, id_: str | None, version: str | None, stated: str | None, where: str
) -> Urn:
    """Return the URN of an artefact from its own class, agency, id and version.

    A URN it carries (``stated``) is used for one thing only: the package of a vendor's class. Registries
    send URNs that contradict the artefact they stand on.

    Raises:
        MessageError: agency or id are missing or malformed; ``where`` tells the place.
    """
    id_ = id_ or FIXED_IDS.get(class_)
    if not agency or not id_:
        missing = "agency" if not agency else "id"
        raise MessageError(f"reading a {class_} {where}: it has no {missing}, so it has no URN; correct the message")
    package = None
    if class_ not in CLASSES and stated:
        try:
            package = Urn.parse(stated).package
        except UrnError:
            package = None
    try:
        return Urn.of(class_, agency, id_, version or DEFAULT_VERSION, package=package)
    except UrnError as error:
        raise MessageError(f"reading a {class_} {where}: {error}") from None

"""The schemes of standalone concepts and agencies, in formats older than SDMX-ML 2.1.

A concept of SDMX-ML 1.0, 2.0 or SDMX-EDI may have no scheme, and agencies of 1.0 and 2.0 are in no AgencyScheme.
Registries put them into the schemes that SDMX 2.1 provides for them.
"""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION, FIXED_IDS
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.urns.urn import Urn

STANDALONE_CONCEPTS: Final = "STANDALONE_CONCEPT_SCHEME"

AGENCIES: Final = Urn.of("AgencyScheme", "SDMX", "AGENCIES", DEFAULT_VERSION)
"""The scheme of agencies that are in no scheme."""

_NAMES: Final = {
    "ConceptScheme": InternationalString({"en": "Default Scheme"}),
    "AgencyScheme": InternationalString({"en": "SDMX Agency Scheme"}),
}
"""Names that registries give these schemes; since 2.1 a scheme must have a name."""

FIXED_COMPONENT_IDS: Final = {"TimeDimension": "TIME_PERIOD", "PrimaryMeasure": "OBS_VALUE"}
"""Before 2.1 components have no ids: they take the id of their concept, except for these, which 2.1 fixes."""


def is_synthetic(urn: Urn, format_: Format) -> bool:
    """Return True if a scheme in a message of this format is built by the reader, from standalone items.

    Two messages then have schemes with the same URN and different items. Schemes of organisations are synthetic in 2.0,
    too: an OrganisationScheme holds all kinds, and since 2.1 each kind has a scheme of its own with a fixed id.
    """
    if format_ not in {Format.SDMX_ML_1_0, Format.SDMX_ML_2_0, Format.EDI}:
        return False
    if urn.cls == "ConceptScheme":
        return (urn.id, urn.version) == (STANDALONE_CONCEPTS, DEFAULT_VERSION)
    return urn.cls in FIXED_IDS


def synthetic_name(urn: Urn) -> InternationalString:
    """Return the name of a synthetic scheme."""
    return _NAMES.get(urn.cls) or InternationalString({"en": urn.id})


def concept_scheme_urn(agency: str) -> Urn:
    """Return the URN of the scheme for an agency's standalone concepts. Raises UrnError."""
    return Urn.of("ConceptScheme", agency, STANDALONE_CONCEPTS, DEFAULT_VERSION)


def concept_urn(agency: str, concept: str) -> Urn:
    """Return the URN of a standalone concept. Raises UrnError."""
    return Urn.of("Concept", agency, STANDALONE_CONCEPTS, DEFAULT_VERSION, concept)

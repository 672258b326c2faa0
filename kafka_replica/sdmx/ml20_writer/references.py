"""References of SDMX-ML 2.0: agency, id and version in elements of their own."""

from __future__ import annotations

from typing import Final

from kafka_replica.errors import UnwritableError
from kafka_replica.sdmx.ml_writer.xml import el, leaf
from kafka_replica.sdmx.urn import Urn

_WORDS: Final = {
    "DataStructure": ("KeyFamilyID", "KeyFamilyAgencyID"),
    "MetadataStructure": ("MetadataStructureID", "MetadataStructureAgencyID"),
    "Dataflow": ("DataflowID", "AgencyID"),
    "Metadataflow": ("MetadataflowID", "AgencyID"),
    "Codelist": ("CodelistID", "AgencyID"),
}
_ID_FIRST: Final = {"DataStructure", "MetadataStructure"}


def reference(tag: str, urn: Urn, *more: str) -> str:
    """A reference to a structure, a flow or a codelist; ``more`` stands at its end."""
    if urn.cls not in _WORDS:
        raise UnwritableError(f"SDMX-ML 2.0 has no place for a reference to {urn}")
    id_, agency = _WORDS[urn.cls]
    parts = [leaf(f"str:{id_}", urn.id), leaf(f"str:{agency}", urn.agency)]
    ordered = parts if urn.cls in _ID_FIRST else parts[::-1]
    return el(tag, *ordered, leaf("str:Version", urn.version), *more)


def category(urn: Urn) -> str:
    """A <CategoryRef>: the ids of its path, each in the one before."""
    path = ""
    for id_ in reversed((urn.item or "").split(".") if urn.item else []):
        path = el("str:CategoryID", leaf("str:ID", id_), path)
    return el(
        "str:CategoryRef",
        leaf("str:CategorySchemeID", urn.id),
        leaf("str:CategorySchemeAgencyID", urn.agency),
        leaf("str:CategorySchemeVersion", urn.version),
        path,
    )

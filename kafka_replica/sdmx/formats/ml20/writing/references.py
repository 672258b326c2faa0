"""References of SDMX-ML 2.0: agency, id and version in separate elements."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.urns.urn import Urn

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "DataStructure": ("KeyFamilyID", "KeyFamilyAgencyID"),
    "MetadataStructure": ("MetadataStructureID", "MetadataStructureAgencyID"),
    "Dataflow": ("DataflowID", "AgencyID"),
    "Metadataflow": ("MetadataflowID", "AgencyID"),
    **{name: (f"{name}ID", "AgencyID") for name in (
        "Codelist", "HierarchicalCodelist", "CategoryScheme", "ConceptScheme", "OrganisationScheme",
    )},
}  # fmt: skip
_ID_FIRST: Final = {"DataStructure", "MetadataStructure"}


def write_reference(tag: str, urn: Urn, *more: str) -> str:
    """Write a reference to a structure, a flow or a codelist; ``more`` is added at its end."""
    if urn.cls not in _WORDS:
        raise UnwritableError(f"SDMX-ML 2.0 cannot represent a reference to {urn}")
    id_, agency = _WORDS[urn.cls]
    parts = [leaf(f"str:{id_}", urn.id), leaf(f"str:{agency}", urn.agency)]
    ordered = parts if urn.cls in _ID_FIRST else parts[::-1]
    return el(tag, *ordered, leaf("str:Version", urn.version), *more)


def write_category(urn: Urn) -> str:
    """Write a <CategoryRef>: the ids of its path, each nested in the previous id."""
    return el(
        "str:CategoryRef",
        leaf("str:CategorySchemeID", urn.id),
        leaf("str:CategorySchemeAgencyID", urn.agency),
        leaf("str:CategorySchemeVersion", urn.version),
        write_category_path("str:CategoryID", urn.item or ""),
    )


def write_category_path(tag: str, path: str) -> str:
    """Write the ids of a path of categories, each nested in the previous id; nothing if there is no path."""
    first, _, rest = path.partition(".")
    return el(tag, leaf("str:ID", first), write_category_path("str:CategoryID", rest)) if first else ""

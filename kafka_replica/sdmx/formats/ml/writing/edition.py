"""The editions 2.1, 3.0 and 3.1 of SDMX-ML: their namespaces and forms of references.

Source: SDMXMessage.xsd, SDMXCommonReferences.xsd and SDMXStructureBase.xsd of each edition.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, escaped_text
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.urns.urn import Urn

_ONLY_21: Final = {
    "HierarchicalCodelist", "ContentConstraint", "AttachmentConstraint", "StructureSet", "MeasureDimension",
    "PrimaryMeasure", "ReportStructure", "MetadataTarget", "CodelistMap", "HybridCodelistMap",
}  # fmt: skip
_ONLY_3X: Final = {
    "ValueList", "GeographicCodelist", "GeoGridCodelist", "GeoFeatureSetCode", "GeoGridCode", "MetadataProviderScheme",
    "MetadataProvider", "MetadataProvisionAgreement", "DataConstraint", "MetadataConstraint", "HierarchyAssociation",
    "RepresentationMap", "MetadataSet", "Measure",
}  # fmt: skip
_IN_CONTAINERS: Final = {
    "HierarchicalCode", "MetadataAttribute", "ConstraintTarget", "DataSetTarget", "DimensionDescriptorValuesTarget",
    "IdentifiableObjectTarget", "ReportPeriodTarget",
}  # fmt: skip
"""Classes whose path begins with the hierarchy, report structure or metadata target that holds them."""
_is_legacy_version = re.compile(r"[0-9]+(\.[0-9]+)*").fullmatch


class Edition(NamedTuple):
    """An edition of SDMX-ML; ``is_21`` separates 2.1 from 3.x."""

    format: Format
    number: str

    @property
    def is_21(self) -> bool:
        """True for 2.1."""
        return self.number == "2_1"

    @property
    def is_31(self) -> bool:
        """True for 3.1."""
        return self.number == "3_1"

    @property
    def namespaces(self) -> str:
        """The declarations of the namespaces, as attributes of the root."""
        base = f"http://www.sdmx.org/resources/sdmxml/schemas/v{self.number}"
        return (
            f' xmlns:mes="{base}/message" xmlns:str="{base}/structure" xmlns:com="{base}/common"'
            f' xmlns:gen="{base}/metadata/generic" xmlns:reg="{base}/registry"'
        )

    def check(self, urn: Urn) -> Urn:
        """Return the URN after a check that this edition has its class and version. Raises UnwritableError."""
        if urn.cls in (_ONLY_3X if self.is_21 else _ONLY_21):
            raise UnwritableError(f"{urn} is of class {urn.cls}, which this edition does not have")
        if self.is_21 and not _is_legacy_version(urn.version):
            raise UnwritableError(f"{urn} has the version {urn.version!r}, but versions of 2.1 are numbers with dots")
        return urn

    def ref(self, tag: str, urn: Urn | None, **attributes: str | None) -> str:
        """Write a reference: by its parts in 2.1, by URN since 3.0; nothing if there is none."""
        if urn is None:
            return ""
        self.check(urn)
        if not self.is_21:
            return el(tag, str(urn), **attributes)
        return el(tag, _parts(urn), **attributes)

    def refs(self, tag: str, urns: tuple[Urn, ...]) -> str:
        """Write references, each an element of this name."""
        return "".join([self.ref(tag, urn) for urn in urns])

    def local(self, tag: str, id_: str | None) -> str:
        """Write a reference within an artefact, by id."""
        if id_ is None:
            return ""
        return el(tag, el("Ref", id=id_)) if self.is_21 else el(tag, escaped_text(id_))

    def since_3(self, value: Any, what: str) -> None:
        """Raise UnwritableError for a value that only 3.x can represent."""
        if self.is_21 and value:
            raise UnwritableError(f"SDMX-ML 2.1 cannot represent {what}")

    def until_3(self, value: Any, what: str) -> None:
        """Raise UnwritableError for a value that only 2.1 can represent."""
        if not self.is_21 and value:
            raise UnwritableError(f"SDMX-ML {self.number.replace('_', '.')} cannot represent {what}")


def _parts(urn: Urn) -> str:
    if urn.item is None:
        return el("Ref", id=urn.id, version=urn.version, agencyID=urn.agency, package=urn.package, **{"class": urn.cls})
    container, id_ = container_and_id(urn.cls, urn.item)
    return el(
        "Ref",
        id=id_,
        containerID=container,
        maintainableParentID=urn.id,
        maintainableParentVersion=urn.version,
        agencyID=urn.agency,
        package=urn.package,
        **{"class": class_in_ref(urn.cls)},
    )


def container_and_id(class_: str, path: str) -> tuple[str | None, str]:
    """Split the path of an item into the path of its container, if the schema has a place for it, and the rest."""
    container, _, id_ = ("", "", path)
    if class_ in _IN_CONTAINERS and "." in path:
        container, _, id_ = path.partition(".")
    elif class_ == "Transition":
        container, _, id_ = path.rpartition(".")
    return container or None, id_


def class_in_ref(class_: str) -> str:
    """Return the name that a class has in a <Ref>."""
    return "Attribute" if class_ == "DataAttribute" else class_


EDITIONS: Final = {
    Format.SDMX_ML_2_1: Edition(Format.SDMX_ML_2_1, "2_1"),
    Format.SDMX_ML_3_0: Edition(Format.SDMX_ML_3_0, "3_0"),
    Format.SDMX_ML_3_1: Edition(Format.SDMX_ML_3_1, "3_1"),
}

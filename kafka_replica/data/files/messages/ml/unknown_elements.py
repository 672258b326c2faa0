"""Elements where SDMX-ML does not define them: errors if they may contain data, otherwise the sender's extensions.

Senders may add elements in namespaces of their own. An element in a namespace of SDMX or of the message's structures,
or without a namespace, is a misspelt or misplaced element of SDMX, and ignoring it would lose data. Between the header
and the data, senders also repeat parts of structure messages, and descriptions; these are skipped if they have no
element whose name is that of data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafka_replica.common.wording import did_you_mean
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.unclear_deletions import UnclearDeletions

_OF_SDMX: Final = ("sdmx.org/", "urn:sdmx:")
OF_W3C: Final = "http://www.w3.org/"
"""The beginning of the namespaces of ``xsi:type`` and ``xml:lang``."""
_MOST_NOTES: Final = 20
_METADATA: Final = "reference metadata"
_OF_DATA: Final = frozenset({
    "dataset", "footer", "header", "obs", "obsdimension", "observation", "observations", "obskey", "obsvalue",
    "obsvalues", "section", "sections", "series", "serieskey",
})  # fmt: skip
"""The local names, in small letters, of elements that are data, or contain it."""
_OF_DATA_AND_GROUPS: Final = _OF_DATA | {
    "attributes", "atts", "comp", "comps", "group", "groupkey", "groups", "keyfamilyref", "siblinggroup", "time",
    "value", "values",
}  # fmt: skip
"""These names, and those of data that structures, or the schema of a structure, have as well."""
_STRUCTURES: Final = frozenset({
    "CategorySchemes", "Codelists", "CodeLists", "Concepts", "Dataflows", "DataStructures", "HierarchicalCodelists",
    "KeyFamilies", "MetadataStructureDefinitions", "Metadataflows", "OrganisationSchemes", "Processes",
    "ReportingTaxonomies", "StructureSets",
})  # fmt: skip
"""The parts of structure messages, which may be called almost like a part of data messages."""


class UnknownElements:
    """The treatment of elements that no reader knows.

    Args:
        events: the parser.

    Attributes:
        namespaces: the namespaces of the message's own elements, in addition to those of SDMX.
        deletions: collects the elements that delete nothing.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.namespaces: set[str] = {""}
        self.deletions = UnclearDeletions(events)
        self._skipped: dict[str, str] = {}
        self._data = _OF_DATA
        self._part: DatasetError | None = None
        """The error if the first skipped part of the message must not be skipped."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a remark for each namespace whose elements were skipped, up to a limit, and the other remarks."""
        return (*self._skipped.values(), *self.deletions.notes)

    def is_foreign(self, name: str) -> bool:
        """Return whether a name is in a namespace that is neither SDMX's nor that of a structure of the message."""
        uri = name.rpartition("}")[0]
        return uri not in self.namespaces and not any(one in uri.lower() for one in _OF_SDMX)

    def skip_metadata(self) -> None:
        """Skip an element of reference metadata that has just started."""
        self._skipped.setdefault(
            _METADATA, f"reference metadata was not read; the first is in line {self._events.line}"
        )
        self._events.skip()

    def skip_or_refuse(self, name: str, known: Iterable[str]) -> None:
        """Skip an element that has just started and is an extension.

        Args:
            name: its name.
            known: the local names of the elements that are read at its place.

        Raises:
            DatasetError: it is not an extension, so its content may be data.
        """
        if not self.is_foreign(name):
            raise self._misplaced(name.rpartition("}")[2], known)
        self._note_extension("elements", name)
        self._events.skip()

    def note_attribute(self, name: str) -> None:
        """Note an XML attribute that is an extension, of an element that has just started."""
        self._note_extension("XML attributes", name)

    def _note_extension(self, kind: str, name: str) -> None:
        uri, _, local = name.rpartition("}")
        key = f"{kind} {uri}"
        if key not in self._skipped and len(self._skipped) < _MOST_NOTES:
            self._skipped[key] = (
                f"{kind} of the namespace {uri[:200]!r} are not part of SDMX-ML and were not read; the first is "
                f"{local[:80]!r} in line {self._events.line}"
            )

    def skip_part(self, name: str, known: Iterable[str]) -> None:
        """Skip a part of the message before its data, such as code lists, unless it may be or contain data.

        Args:
            name: the name of its element, which has just started and is not an extension.
            known: the local names of the elements that are read at its place.

        Raises:
            DatasetError: its name resembles the data set or the header; elements within it are checked later.
        """
        local = name.rpartition("}")[2]
        error = self._misplaced(local, known)
        self._part = self._part or error
        is_structure = local in _STRUCTURES
        if self._is_of_data(name) or (
            not is_structure
            and (local.lower() in _OF_DATA_AND_GROUPS or did_you_mean(local[:80], ("DataSet", "Header")))
        ):
            raise error
        key = f"the part {local}"
        if key not in self._skipped and len(self._skipped) < _MOST_NOTES:
            self._skipped[key] = (
                f"the element {local[:80]!r} in line {self._events.line} is not part of a data message and was not read"
            )
        self._data = _OF_DATA if is_structure else _OF_DATA_AND_GROUPS
        self._events.skip(self._check_within_part)

    def refuse_parts(self) -> None:
        """Refuse skipped parts of the message in front of a deletion, which they may restrict.

        Raises:
            DatasetError: the message has such a part.
        """
        if self._part is not None:
            raise self._part

    def _check_within_part(self, name: str) -> None:
        local = name.rpartition("}")[2]
        if local.lower() in self._data or self._is_of_data(name):
            raise self._misplaced(local, ())

    def _is_of_data(self, name: str) -> bool:
        """Return whether an element is in the namespace of a structure of data, whose elements may have any name."""
        uri = name.rpartition("}")[0]
        return bool(uri) and not self.is_foreign(name) and "/schemas/" not in uri.lower()

    def _misplaced(self, local: str, known: Iterable[str]) -> DatasetError:
        # Ids of components are in upper case, and resemble no element: OBS_VALUE is not Value.
        hint = "; values are XML attributes" if local.isupper() else did_you_mean(local[:80], known)
        return DatasetError(
            f"line {self._events.line}: the element {local[:80]!r} is not part of SDMX-ML data here, so data in "
            f"it would be lost; correct or remove it{hint}"
        )

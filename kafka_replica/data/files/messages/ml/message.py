"""Read a message of SDMX-ML as a stream of rows.

Source: SDMX-ML 2.0, 2.1, 3.0 and 3.1, the ``message`` namespaces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import IO, Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.attribute_groups import Groups
from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.ml.cross_sections import CrossSectionReader
from kafka_replica.data.files.messages.ml.data_set import DataSet, Taken
from kafka_replica.data.files.messages.ml.element_values import ElementValueReader
from kafka_replica.data.files.messages.ml.events import Events, StrayTextError
from kafka_replica.data.files.messages.ml.generic import GenericReader
from kafka_replica.data.files.messages.ml.header import PROVISION, Header, Reference
from kafka_replica.data.files.messages.ml.known_components import ExpectedStructure, KnownComponents
from kafka_replica.data.files.messages.ml.late_groups import has_late_groups
from kafka_replica.data.files.messages.ml.qualified_attributes import without_prefixes
from kafka_replica.data.files.messages.ml.row_blocks import blocks_of
from kafka_replica.data.files.messages.ml.series import SeriesReader
from kafka_replica.data.files.messages.ml.structure_specific import SpecificReader
from kafka_replica.data.files.messages.ml.unknown_elements import OF_W3C, UnknownElements
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn

_ROOTS: Final = frozenset({
    "GenericData", "GenericTimeSeriesData", "StructureSpecificData", "StructureSpecificTimeSeriesData", "CompactData",
    "CrossSectionalData", "MessageGroup",
})  # fmt: skip
_UNREAD: Final = frozenset({"UtilityData", "GenericMetadata", "StructureSpecificMetadata", "MetadataReport"})
_PARTS: Final = ("Header", "DataSet", "Footer")
_METADATA: Final = "MetadataSet"
_SKIPPED: Final = frozenset({"Annotations", "Structures"})
"""Parts of messages that are not data, which groups of messages of 2.0 may have, as well as metadata sets."""
_FIRST: Final = "schemas/v1_0/message"
_OLD: Final = (_FIRST, "schemas/v2_0/message")
_OF_SDMX: Final = "sdmx.org/"
_DEEPEST: Final = 100
_MOST_FOOTERS, _LONGEST_FOOTER = 100, 1_000
_ACTION: Final = "Information"
_NO_RESTRICTIONS: Final = frozenset(
    {"action", "dataScope", "datasetID", "keyFamilyURI", "setID", "structureRef", "type"}
)
_OF_THE_MESSAGE: Final = frozenset({"publicationPeriod", "publicationYear", "validFromDate", "validToDate"})
"""XML attributes that describe when data was published or is valid; they select no data.

Source: SDMX 2.1, ``SetAttributeGroup`` of the data schemas.
"""
_IMPLIED: Final = {
    "dataflow": frozenset({"dataflowAgencyID", "dataflowID"}),
    PROVISION: frozenset({"dataProviderID", "dataProviderSchemeAgencyId", "dataProviderSchemeId"}),
}  # fmt: skip
"""XML attributes that restrict nothing if the structure of the rows is of this kind."""
_STANDARD: Final = frozenset({
    "action", "dataScope", "dataflowAgencyID", "dataflowID", "dataProviderID", "dataProviderSchemeAgencyId",
    "dataProviderSchemeId", "datasetID", "keyFamilyURI", "publicationPeriod", "publicationYear", "reportingBeginDate",
    "reportingEndDate", "setID", "structureRef", "validFromDate", "validToDate",
})  # fmt: skip
"""XML attributes of data sets that are not components."""
_ID: Final = "id"
"""Another one, which some senders write in messages of 1.0 and 2.0, such as the Federal Reserve."""


class MlMessage:
    """A data message of SDMX-ML.

    Args:
        opened: opens the file in binary mode. It is called once to search for late groups, once to read the rows, and
            once more to read the groups if they come after series, or a footer after a deletion of all data.
        where: the file, for errors.
        rules: the rules of the expected structure. Without them, dimensions and attributes of groups in
            structure-specific messages are distinguished by comparing them with the keys of rows.
        usages: other artefacts whose data is also data of the rules' artefact.

    Attributes:
        footers: the messages in the footer, such as ``Warning 413: too much``; set when all rows have been read.
        notes: remarks on elements that were not read, and on references; set when all rows have been read.
    """

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[IO[bytes]]],
        where: str,
        rules: Rules | None = None,
        usages: Collection[Urn] = (),
    ) -> None:
        self._opened, self._where = opened, where
        self._structures = ExpectedStructure(rules, usages)
        self.footers: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Yield blocks of rows, each with the line of its first row; consecutive observations of a series are a block.

        Raises:
            DatasetError: the file is not a data message of SDMX-ML, or is damaged.
        """
        try:
            with self._opened() as file:
                is_late = has_late_groups(file)
            groups = self._groups() if is_late else None
            with self._opened() as file:
                reading = _Reading(file, self._structures, groups, only_groups=False, is_failed=cache(self._has_footer))
                for rows in reading.chunks():
                    yield from blocks_of(rows, reading.skipped_lines)
            self.footers, self.notes = tuple(reading.footers), reading.notes
        except StrayTextError as error:
            raise DatasetError(f"reading {self._where}: {self._located(error)}") from error
        except DatasetError as error:
            raise DatasetError(f"reading {self._where}: {error}") from error

    def _located(self, error: StrayTextError) -> DatasetError:
        """Return an error that names the line of the text, which another pass finds."""
        try:
            with self._opened() as file:
                for _ in _Reading(file, self._structures, None, only_groups=False, locates_text=True).chunks():
                    pass
        except DatasetError as located:
            return located
        return error

    def _has_footer(self) -> bool:
        """Return whether the message has a footer, which may report an error; another pass finds it."""
        with self._opened() as file:
            reading = _Reading(file, self._structures, None, only_groups=True)
            for _ in reading.chunks():
                pass
        return bool(reading.footers)

    def _groups(self) -> list[Groups]:
        with self._opened() as file:
            reading = _Reading(file, self._structures, None, only_groups=True)
            for _ in reading.chunks():
                pass
        return reading.groups


class _Reading:
    """A pass over a message, event by event."""

    def __init__(
        self,
        file: IO[bytes],
        structures: ExpectedStructure,
        groups: list[Groups] | None,
        *,
        only_groups: bool,
        locates_text: bool = False,
        is_failed: Callable[[], bool] = bool,
    ) -> None:
        self._is_failed = is_failed
        self._events = Events(file, locates_text=locates_text)
        self._unknown = UnknownElements(self._events)
        self._structures, self._complete, self._only_groups = structures, groups, only_groups
        self._header = Header()
        self._rows: list[Taken] = []
        self._data_reader: SeriesReader | CrossSectionReader | None = None
        self._root = ""
        self._is_old = self._is_first = False
        self._has_data = False
        self.groups: list[Groups] = []
        self.footers: list[str] = []
        self._footer_texts: list[str] = []
        self._footer_kind = ""
        self._depth = 0
        self._events.handle(self._outside, self._up)

    @property
    def skipped_lines(self) -> int:
        """Return the number to add to the lines of rows."""
        return self._events.skipped_lines

    @property
    def notes(self) -> tuple[str, ...]:
        """Return remarks on elements that were not read, and on references."""
        return (*self._unknown.notes, *self._header.notes)

    def chunks(self) -> Iterator[list[Taken]]:
        """Yield the rows of each chunk of the file; the list is reused, and cleared after each step."""
        for _ in self._events.chunks():
            if isinstance(self._data_reader, SpecificReader):
                self._data_reader.end_run()
            yield self._rows
            self._rows.clear()
        if not self._has_data:
            footer = f"; its footer reports: {'; '.join(self.footers)}" if self.footers else ""
            raise DatasetError(f"it is not an SDMX-ML data message, or has no data{footer}")

    def _outside(self, name: str, attributes: dict[str, str]) -> None:
        """Look for the start of the message, which may be inside an envelope."""
        del attributes
        self._down()
        uri, _, local = name.rpartition("}")
        if local in _UNREAD:
            advice = "; ask its sender for compact or generic data" if local == "UtilityData" else ""
            raise DatasetError(f"it is {local}, which is not read as data{advice}")
        if local in _ROOTS:
            self._root, self._is_old = local, uri.lower().endswith(_OLD)
            self._is_first = uri.lower().endswith(_FIRST)
            self._unknown.namespaces.add(uri)
            self._events.handle(self._inside, _nothing)

    def _inside(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of a part of the message."""
        local = _local(name)
        if local == "Header":
            self._header = Header()
            self._events.hand_over(self._header.start, self._header_end, self._header.text)
        elif local == "DataSet":
            self._has_data = True
            self._begin(name, attributes)
        elif local == "Footer":
            self._events.hand_over(self._footer, self._footer_end)
        elif local == _METADATA:
            self._unknown.skip_metadata()
        elif local in _SKIPPED:
            self._events.skip()
        elif self._has_data or self._unknown.is_foreign(name):
            self._unknown.skip_or_refuse(name, _PARTS)
        else:
            self._unknown.skip_part(name, _PARTS)

    def _header_end(self, name: str) -> None:
        if self._header.is_complete:
            self._events.hand_back()
        else:
            self._header.end(name)

    def _footer(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition("}")[2]
        if local == "Text":
            ElementValueReader(self._events, lambda value: self._footer_texts.append(str(value)))
            return
        self._down()
        if local == "Message":
            self._footer_kind = " ".join(filter(None, (attributes.get("severity"), attributes.get("code"))))
            self._footer_texts.clear()

    def _footer_end(self, name: str) -> None:
        local = name.rpartition("}")[2]
        if local == "Footer":
            self._events.hand_back()
            return
        self._up(name)
        if local == "Message" and len(self.footers) < _MOST_FOOTERS:
            footer = ": ".join(filter(None, (self._footer_kind, " / ".join(self._footer_texts))))
            self.footers.append(footer if len(footer) <= _LONGEST_FOOTER else f"{footer[: _LONGEST_FOOTER - 3]}...")

    def _down(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise DatasetError(f"line {self._events.line}: more than {_DEEPEST} elements are nested")

    def _up(self, name: str) -> None:
        del name
        self._depth -= 1

    def _begin(self, element: str, attributes: dict[str, str]) -> None:
        uri = element.rpartition("}")[0]
        self._unknown.namespaces |= {uri, *self._header.namespaces}
        written = attributes
        attributes = without_prefixes(element, written, self._unknown, self._events.line)
        standard = (name for name in attributes if not self._unknown.is_foreign(name))
        named = {name.rpartition("}")[2]: attributes[name] for name in standard}
        try:
            reference = self._header.reference_of(named, uri)
        except DatasetError as error:
            raise DatasetError(f"line {self._events.line}: {error}") from error
        number = len(self.groups)
        data_set = DataSet(
            reference,
            named.get("action") or self._header.texts.get("DataSetAction") or _ACTION,
            self._structures.known(reference.kind, reference.text, is_old=self._is_old),
            None if self._complete is None else self._complete[number],
            self._end,
        )
        data_set.is_failed = self._is_failed
        if data_set.is_deletion:
            self._unknown.refuse_parts()
        data_set.set_components(
            {name: one for name, one in attributes.items() if self._is_component(name)}, self._events.line
        )
        applied = _IMPLIED.get(reference.kind or "", frozenset[str]())
        limits = [name for name in attributes if self._may_restrict(name, applied)]
        data_set.may_be_all = not limits
        if any(self._unknown.is_foreign(name) or _local(name) not in _OF_THE_MESSAGE for name in limits):
            data_set.restrict()
        if any(map(self._is_undefined, written)):
            data_set.restrict()
        self.groups.append(data_set.groups)
        self._data_reader = self._reader(uri)
        self._data_reader.begin(data_set)

    def _reader(self, uri: str) -> SeriesReader | CrossSectionReader:
        is_cross = self._root == "CrossSectionalData" or (self._root == "MessageGroup" and uri.endswith("cross"))
        if is_cross:
            return CrossSectionReader(
                self._events, self._rows.append, self._unknown,
                is_unqualified=not uri or _OF_SDMX in uri.lower(), has_time=self._is_first,
            )  # fmt: skip
        is_generic = self._root.startswith("Generic") or (self._root == "MessageGroup" and uri.endswith("generic"))
        if is_generic:
            return GenericReader(
                self._events, self._rows.append, self._unknown, self._key_family, only_groups=self._only_groups
            )
        return SpecificReader(
            self._events, self._rows.append, self._unknown, is_old=self._is_old, only_groups=self._only_groups
        )

    def _key_family(self, id_: str) -> tuple[Reference, KnownComponents]:
        """Return the structure whose id a data set of 2.0 gives in an element."""
        reference = self._header.key_family(id_)
        return reference, self._structures.known(reference.kind, reference.text, is_old=self._is_old)

    def _may_restrict(self, name: str, applied: Collection[str]) -> bool:
        """Return whether an XML attribute, other than a component, may restrict a data set, and is not applied."""
        if self._is_component(name) or name.startswith(OF_W3C):
            return False
        local = _local(name)
        return self._unknown.is_foreign(name) or not (local in _NO_RESTRICTIONS or local in applied)

    def _is_undefined(self, name: str) -> bool:
        """Return whether an XML attribute in a namespace of SDMX is not a standard one, nor known as a component."""
        uri, _, local = name.rpartition("}")
        is_known = local in _STANDARD | _NO_RESTRICTIONS or self._structures.has_component(local)
        return _OF_SDMX in uri.lower() and not is_known

    def _is_component(self, name: str) -> bool:
        """Return whether an XML attribute of a data set is a component."""
        is_id = name == _ID and self._is_old and not self._structures.has_component(name)
        return "}" not in name and name not in _STANDARD and not is_id

    def _end(self) -> None:
        self._events.handle(self._inside, _nothing)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _nothing(name: str) -> None:
    """Do nothing at the end of an element."""
    del name

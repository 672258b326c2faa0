"""An interchange of SDMX-EDI as blocks of rows: one for each series, and one for each group without rows.

The attributes of a data set come after its series, so the segments are read twice: first for the attributes, then for
the series. Only the attributes are held in memory.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation", message of data (BGM+74).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.edi.attributes import Attributes
from kafka_replica.data.files.messages.edi.data_set import DataSet
from kafka_replica.data.files.messages.edi.segment_counts import SegmentCounts
from kafka_replica.data.files.messages.edi.segment_order import check_before, check_in_other_message
from kafka_replica.data.files.messages.edi.structure import Components, components_of_rules, components_of_structure
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import SdmxError, Urn, read_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.edi.reading.messages import DATA, Envelope, part
from kafka_replica.sdmx.formats.edi.reading.stream import InterchangeStream
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.model import DataStructure

STARTS: Final = (b"UNA", b"UNB", b"UNH")
"""The first bytes of an interchange."""
_ATTRIBUTES: Final = (b"REL", b"FNS")
"""The segments with which attributes begin."""
_MOST_DELETED: Final = 1_000_000

LocatedBlock: TypeAlias = tuple[int | None, Block]


class EdiMessage:
    """The data messages of an interchange.

    Args:
        parts: the content of the file, which is read several times.
        where: the file, for errors.
        rules: the rules of the expected structure. Without them, the interchange must contain its structures.
        usages: other artefacts whose data is also data of the rules' artefact.

    Attributes:
        notes: remarks on numbers of segments and messages that are wrong; set when all rows have been read.
    """

    def __init__(
        self, parts: Iterable[bytes], where: str, rules: Rules | None = None, usages: Collection[Urn] = ()
    ) -> None:
        self._parts, self._where = parts, where
        self._rules, self._usages = rules, frozenset(usages)
        self._own: _OwnStructures | None = None
        self._lines: dict[int, int] = {}
        self.notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[LocatedBlock]:
        """Yield the blocks of rows, each with the line of its segment.

        Raises:
            DatasetError: the file is not an SDMX-EDI data message, is damaged, or does not fit its structure.
        """
        try:
            interchange = InterchangeStream(self._parts, _ATTRIBUTES)
            attributes: dict[int, Attributes] = {}
            if interchange.has_sought:
                for _ in self._read(interchange, attributes, only_attributes=True):
                    pass
            yield from self._read(interchange, attributes, only_attributes=False)
        except SdmxError as error:
            raise DatasetError(f"reading {self._where}: {error}") from error

    def structures(self) -> Iterator[str | None]:
        """Yield the structure of each data set, as SDMX-CSV writes it; None if the data set names no structure.

        Raises:
            DatasetError: the file is not an SDMX-EDI data message, or is damaged.
        """
        try:
            envelope = Envelope()
            for _, segment in InterchangeStream(self._parts).segments():
                if not envelope.take(segment) and segment.tag == "IDE" and part(segment.elements(), 0) == "5":
                    yield _reference(envelope, segment)
        except SdmxError as error:
            raise DatasetError(f"reading {self._where}: {error}") from error

    def _read(
        self, interchange: InterchangeStream, attributes: dict[int, Attributes], *, only_attributes: bool
    ) -> Iterator[LocatedBlock]:
        """Yield the blocks with their lines, or collect the attributes of each data set and their lines."""
        reading = _Reading(interchange.advice[5:6] or ".", attributes, self._components, only_attributes)
        for line, segment in interchange.segments():
            for number, block in reading.take(segment):
                yield line if number == segment.number else self._lines[number], block
            if segment.number == 1 or (only_attributes and segment.tag == "ARR" and reading.is_in_attributes):
                self._lines[segment.number] = line
        reading.envelope.check_end(has_envelope=interchange.has_envelope)
        self.notes = tuple(reading.counts.notes)
        if not reading.data_sets:
            raise MessageError("reading SDMX-EDI: it contains no data message (BGM+74 and DSI)")

    def _components(self, reference: str | None) -> Components | None:
        if self._rules is not None:
            return components_of_rules(self._rules, self._usages, reference)
        if self._own is None:
            self._own = _structures_in(b"".join(self._parts))
        id_ = (reference or "").partition(":")[2].removesuffix("(*)")
        if id_ not in self._own.by_id:
            reason = self._own.reason_for(id_)
            raise DatasetError(
                f"reading {self._where}: SDMX-EDI does not name dimensions; give the rules of the structure "
                f"{reference or 'of the data'}"
                + (f", because it cannot be read from the file: {reason}" if reason else "")
            )
        return components_of_structure(self._own.by_id[id_])


class _Reading:
    """A pass over the segments.

    Args:
        decimal: the decimal mark.
        attributes: the attributes of each data set, by its number.
        components: returns the components of a structure, or None if it is not the expected one.
        only_attributes: whether this pass collects attributes, and no rows.
    """

    def __init__(
        self,
        decimal: str,
        attributes: dict[int, Attributes],
        components: Callable[[str | None], Components | None],
        only_attributes: bool,
    ) -> None:
        self.envelope = Envelope()
        self.counts = SegmentCounts()
        self.data_sets = 0
        self._decimal, self._attributes, self._components = decimal, attributes, components
        self._only_attributes = only_attributes
        self._data_set: DataSet | None = None
        self._deleted = 0

    @property
    def is_in_attributes(self) -> bool:
        """Return whether the last segment was one of the attributes of a data set."""
        return self._data_set is not None and self._data_set.is_in_attributes

    def take(self, segment: Segment) -> Iterator[tuple[int, Block]]:
        """Process a segment, and yield its rows with its number. Raises MessageError."""
        is_around = self.envelope.take(segment)
        if is_around:
            self.counts.take(segment)
        elif self.envelope.function != DATA:
            check_in_other_message(segment, self.envelope.function)
            return
        if segment.tag in {"UNT", "DSI"} and self._data_set is not None:
            yield from self._data_set.end(only_attributes=self._only_attributes)
            self._data_set = None
        if not is_around:
            yield from self._of_data(segment)

    def _of_data(self, segment: Segment) -> Iterator[tuple[int, Block]]:
        if segment.tag == "DSI":
            self._data_set = DataSet(self.data_sets, self._decimal, self._attributes)
            self.data_sets += 1
        elif self._data_set is None:
            check_before(segment)
        else:
            yield from self._of_data_set(self._data_set, segment)

    def _of_data_set(self, data_set: DataSet, segment: Segment) -> Iterator[tuple[int, Block]]:
        data_set.check_place(segment)
        if segment.tag == "IDE" and part(segment.elements(), 0) == "5":
            reference = _reference(self.envelope, segment)
            data_set.refer(reference, self._components(reference))
        elif self._only_attributes:
            data_set.take(segment)
        elif (block := data_set.block(segment)) is not None:
            self._deleted += block.size if data_set.is_deletion else 0
            if self._deleted > _MOST_DELETED:
                fail(segment.number, f"more than {_MOST_DELETED:,} deletions; delete whole series instead")
            yield segment.number, block


def first_structure(parts: Iterable[bytes], where: str) -> str | None:
    """Return the first structure that a data set names, as SDMX-CSV writes it; None if no data set names one.

    Raises:
        DatasetError: the file is not an SDMX-EDI data message, or is damaged.
    """
    return next((structure for structure in EdiMessage(parts, where).structures() if structure is not None), None)


class _OwnStructures(NamedTuple):
    """The data structures in an interchange, and the reasons why others cannot be read, both by id."""

    by_id: dict[str, DataStructure]
    reasons: dict[str, str]
    reason_for_all: str = ""

    def reason_for(self, id_: str) -> str:
        """Return the reason why a structure cannot be read, or an empty text if the interchange does not have it."""
        return self.reasons.get(id_, self.reason_for_all)


def _structures_in(data: bytes) -> _OwnStructures:
    try:
        found = read_message(data, on_error="collect")
    except SdmxError as error:
        return _OwnStructures({}, {}, str(error))
    return _OwnStructures(
        {one.id: one for one in found if isinstance(one, DataStructure)},
        {one.id: one.reason for one in found.errors if one.id is not None and one.cls == "DataStructure"},
    )


def _reference(envelope: Envelope, segment: Segment) -> str | None:
    id_ = part(segment.elements(), 1)
    return f"{envelope.agency}:{id_}(*)" if id_ and envelope.agency else None

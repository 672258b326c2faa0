"""Read the artefacts of a message one by one and either raise the first error or collect all errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from kafka_replica.sdmx.errors import SdmxError, UrnError
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION, FIXED_IDS
from kafka_replica.sdmx.messages.message import UnreadableArtefact, twice
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.urn import Urn

OnError: TypeAlias = Literal["raise", "collect"]
A = TypeVar("A", bound=Artefact)
P = TypeVar("P")
T = TypeVar("T")


class Identity(NamedTuple):
    """The identity that an artefact states, as far as it is known."""

    agency: str | None = None
    id: str | None = None
    version: str | None = None


class ErrorCollector:
    """The policy for an error in one artefact: it fails the whole message (raise) or only the artefact (collect).

    Args:
        on_error: ``raise`` or ``collect``.
    """

    __slots__ = ("collects", "errors")

    def __init__(self, on_error: OnError = "raise") -> None:
        self.collects = on_error == "collect"
        self.errors: list[UnreadableArtefact] = []

    def attempt(self, make: Callable[[], T], describe: Callable[[str], UnreadableArtefact]) -> T | None:
        """Return the result of ``make``, or None if it raised an error that was collected.

        Args:
            make: reads an artefact, or its identity.
            describe: makes the entry of the list of errors, given the reason.

        Raises:
            SdmxError: the error of ``make``, unless errors are collected.
        """
        if not self.collects:
            return make()
        try:
            return make()
        except SdmxError as error:
            self.errors.append(describe(str(error)))
        except RecursionError:
            self.errors.append(describe("items are nested too deeply"))
        return None

    def read_all(
        self, places: Iterable[P], read: Callable[[P], A | None], describe: Callable[[P, str], UnreadableArtefact]
    ) -> list[A]:
        """Return the artefacts of all places that can be read, in order; skip places where ``read`` returns None.

        If a message holds several copies of an artefact, none of them is returned, because the valid copy is not known.
        When errors are raised, the message itself rejects duplicates.
        """
        if not self.collects:
            return [artefact for place in places if (artefact := read(place)) is not None]
        found: list[tuple[P, A]] = []
        for place in places:
            artefact = self.attempt(partial(read, place), partial(describe, place))
            if artefact is not None:
                found.append((place, artefact))
        return self._once(found, describe)

    def _once(self, found: list[tuple[P, A]], describe: Callable[[P, str], UnreadableArtefact]) -> list[A]:
        # A copy that cannot be read may be the valid one.
        copies = Counter([*(artefact.urn for _, artefact in found), *(error.urn for error in self.errors if error.urn)])
        for place, artefact in found:
            if copies[artefact.urn] > 1:
                self.errors.append(describe(place, str(twice(artefact.urn)))._replace(urn=artefact.urn))
        return [artefact for _, artefact in found if copies[artefact.urn] == 1]


STRICT: Final = ErrorCollector()
"""The collector that raises the first error. It has no state, so it may be shared."""

NO_IDENTITY: Final = Identity()


def unreadable(class_: str | None, identity: Identity, place: str, reason: str) -> UnreadableArtefact:
    """Return an entry for the list of errors, with a URN if class and identity suffice to build one."""
    id_ = identity.id or FIXED_IDS.get(class_ or "")
    urn = None
    if class_ in CLASSES and CLASSES[class_].is_maintainable and identity.agency and id_:
        try:
            urn = Urn.of(class_, identity.agency, id_, identity.version or DEFAULT_VERSION)
        except UrnError:
            urn = None
    return UnreadableArtefact(cls=class_, id=id_, urn=urn, place=place, reason=reason)

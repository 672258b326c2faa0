"""SDMX URNs: ``urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)``.

Source: SDMX Technical Notes, "Universal Resource Name"; SDMXCommonReferences.xsd 3.0 (``UrnPart`` types).
Two rules are less strict than there, because registries send such URNs: an agency may begin with a
digit ("4F0"), and a version may have any number of parts, as in 2.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.urns.classes import CLASSES, WITH_PATHS

if TYPE_CHECKING:
    from msgspec import Struct
else:
    try:
        from msgspec import Struct
    except ImportError:
        # URNs are usable without the extra: the same class, several times slower to create and to look up.
        class Struct:
            """A replacement for msgspec's class."""

            def __init_subclass__(cls, **options: Any) -> None:
                dataclass(frozen=True, order=True)(cls)


MAX_URN: Final = 2048
"""The maximum length of a URN, in characters."""

_PREFIX: Final = "urn:sdmx:org.sdmx.infomodel."
_PACKAGES: Final = {name: known.package for name, known in CLASSES.items()}
_NAME = r"[A-Za-z0-9_@$\-]+"
_AGENCY = r"[A-Za-z0-9_][A-Za-z0-9_\-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_\-]*)*"
_VERSION = r"[*~+]|[0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*)?|[0-9]+\+?(?:\.[0-9]+\+?)*"
_REFERENCE = rf"({_AGENCY}):({_NAME})\(({_VERSION})\)(?:\.({_NAME}(?:\.{_NAME})*))?"
_match_urn = re.compile(rf"urn:sdmx:org\.sdmx\.infomodel\.([a-z]+)\.([A-Za-z]+)={_REFERENCE}").fullmatch
_match_reference = re.compile(_REFERENCE).fullmatch
_match_agency = re.compile(_AGENCY).fullmatch
_match_name = re.compile(_NAME).fullmatch
_match_version = re.compile(_VERSION).fullmatch
_match_item = re.compile(rf"{_NAME}(?:\.{_NAME})*").fullmatch
_match_class = re.compile(r"[A-Za-z]+").fullmatch
_match_package = re.compile(r"[a-z]+").fullmatch


class Urn(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """The name of an artefact, or of an item in an artefact. Immutable, hashable, ordered.

    Create a URN with :meth:`parse`, :meth:`of` or :meth:`of_reference`, which validate it; the constructor
    does not. A class and package outside SDMX's own table are kept as they are.

    The order of a URN with an item and the same URN without one is not defined, and ``<`` raises TypeError: to sort
    URNs of both kinds, use ``key=str``.
    """

    package: str
    cls: str
    agency: str
    id: str
    version: str
    item: str | None = None

    @classmethod
    def parse(cls, text: str | bytes) -> Urn:
        """Return the URN in a text, or in bytes (ASCII). Raises UrnError."""
        if isinstance(text, bytes):
            text = _decoded(text)
        found = _match_urn(text) if len(text) <= MAX_URN else None
        if found is None:
            raise UrnError(f"reading the URN {_shown(text)}: {_why_not(text)}")
        return cls(*found.groups())

    @classmethod
    def of(
        cls, class_: str, agency: str, id_: str, version: str, item: str | None = None, *, package: str | None = None
    ) -> Urn:
        """Return the URN of these parts; the package follows from the class, unless the class is a vendor's.

        Raises:
            UrnError: a part is not what SDMX allows, or the class is unknown and no package was given.
        """
        if package is None:
            package = (_PACKAGES.get(class_) if item is None else None) or _package_of(class_, item)
            is_short = len(agency) < _SHORT > len(version) + len(id_)
            if item is None and is_short and id_.isascii() and id_.isidentifier() and _is_scope(agency, version):
                return cls(package, class_, agency, id_, version)
            # A single check of everything, for short and valid parts.
            text = f"{agency}:{id_}({version})" if item is None else f"{agency}:{id_}({version}).{item}"
            if len(text) < MAX_URN - 256 and _match_reference(text):
                return cls(package, class_, agency, id_, version, item)
        for name, value, fits in (
            ("class", class_, _match_class),
            ("package", package, _match_package),
            ("agency", agency, _match_agency),
            ("id", id_, _match_name),
            ("version", version, _match_version),
            ("item", item, _match_item),
        ):
            if value is not None and not (len(value) <= MAX_URN and fits(value)):
                raise UrnError(f"making the URN of a {_shown(class_)}: {_shown(value)} cannot be its {name}")
        urn = cls(package, class_, agency, id_, version, item)
        # Only parts near the limit can exceed it together.
        if len(agency) + len(id_) + len(version) + len(item or "") > MAX_URN - 256 and len(str(urn)) > MAX_URN:
            raise UrnError(f"making the URN of a {class_}: it is longer than {MAX_URN} characters")
        return urn

    @classmethod
    def of_reference(cls, class_: str, reference: str) -> Urn:
        """Return the URN of a class and a short reference, ``SDMX:CL_FREQ(2.1)`` or ``SDMX:CS(1.0).FREQ``.

        Raises UrnError.
        """
        found = _match_reference(reference) if len(reference) <= MAX_URN else None
        if found is None:
            raise UrnError(
                f"reading the reference {_shown(reference)}: it must look like AGENCY:ID(VERSION), "
                "for example SDMX:CL_FREQ(2.1)"
            )
        agency, id_, version, item = found.groups()
        return cls.of(class_, agency, id_, version, item)

    def with_item(self, class_: str, item: str) -> Urn:
        """Return the URN of an item of this artefact, in the same package. Raises UrnError."""
        # A check in C first: most ids are identifiers of a programming language, too.
        if len(item) > MAX_URN or not ((item.isascii() and item.isidentifier()) or _match_item(item)):
            raise UrnError(f"making the URN of a {class_} of {self.reference}: {_shown(item)} cannot be an id")
        return Urn(self.package, class_, self.agency, self.id, self.version, item)

    @property
    def reference(self) -> str:
        """The short form, ``SDMX:CL_FREQ(2.1)``; with ``.item`` if there is an item."""
        tail = f".{self.item}" if self.item else ""
        return f"{self.agency}:{self.id}({self.version}){tail}"

    @property
    def is_maintainable(self) -> bool:
        """True if the URN names a whole artefact and not an item of an artefact."""
        return self.item is None

    @property
    def maintainable(self) -> Urn:
        """The URN of the artefact that holds the item; this URN if it has no item.

        If several classes can hold an item's class, the first is assumed: a Codelist for a Code.
        """
        return self if self.item is None else self.maintainables[0]

    @property
    def maintainables(self) -> tuple[Urn, ...]:
        """The URNs of all artefacts that may hold the item, the likeliest first."""
        if self.item is None:
            return (self,)
        known = CLASSES.get(self.cls)
        parents = known.parents if known and known.parents else (self.cls,)
        return tuple(
            Urn(self._package_beside(parent), parent, self.agency, self.id, self.version) for parent in parents
        )

    def _package_beside(self, parent: str) -> str:
        known = CLASSES.get(parent)
        return known.package if known and known.package else self.package

    def __str__(self) -> str:
        return f"{_PREFIX}{self.package}.{self.cls}={self.reference}"

    def __repr__(self) -> str:
        return f"Urn({str(self)!r})"

    def __bytes__(self) -> bytes:
        return str(self).encode()


_SHORT: Final = 256


def order_of(urn: Urn) -> tuple[str, ...]:
    """Return a key for sorting URNs; a URN without an item comes before those with one."""
    return urn.package, urn.cls, urn.agency, urn.id, urn.version, urn.item or ""


def own_id(urn: Urn) -> str:
    """Return the own id of an object: the id of an artefact, the last part of an item's path, or the whole item.

    Only items of some classes have a path. The ids of all others may contain dots: those of codes, for example (1.0).
    """
    item = urn.item
    if item is None:
        return urn.id
    return item.rpartition(".")[2] if urn.cls in WITH_PATHS else item


@lru_cache(maxsize=1024)
def _is_scope(agency: str, version: str) -> bool:
    """Return whether these are an agency and a version. Few distinct pairs occur."""
    return _match_agency(agency) is not None and _match_version(version) is not None


@lru_cache(maxsize=4096)
def parsed(text: str) -> Urn:
    """Return the result of :meth:`Urn.parse`; the last few thousand are cached, because artefacts share references."""
    return Urn.parse(text)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise UrnError(f"reading the URN {data[:80]!r}: it is not ASCII, but every URN of SDMX is") from None


def _package_of(class_: str, item: str | None) -> str:
    known = CLASSES.get(class_)
    if known is None:
        raise UrnError(
            f"making the URN of a {_shown(class_)}: SDMX does not have this class; for a vendor's class, give its "
            "package"
        )
    found = known.item_package or known.package if item is not None else known.package
    if found is None:
        raise UrnError(f"making the URN of a {class_}: it is an item of a {known.parents[0]}, so give its item id")
    return found


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 160 else f"{text[:160]!r}... ({len(text)} characters)"


def _why_not(text: str) -> str:  # noqa: PLR0911 - one return per reason
    if len(text) > MAX_URN:
        return f"it is longer than {MAX_URN} characters"
    if not text.startswith(_PREFIX):
        return f"an SDMX URN begins with {_PREFIX}"
    head, equals, rest = text[len(_PREFIX) :].partition("=")
    if not equals or not re.fullmatch(r"[a-z]+\.[A-Za-z]+", head):
        return "package and class must stand before '=', for example codelist.Codelist="
    agency, colon, rest = rest.partition(":")
    if not colon or not _match_agency(agency):
        return f"{_shown(agency)} cannot be an agency; AGENCY: must follow '='"
    id_, bracket, rest = rest.partition("(")
    if not bracket or not _match_name(id_):
        return f"{_shown(id_)} cannot be an id; ID(VERSION) must follow the agency"
    version, bracket, rest = rest.partition(")")
    if not bracket or not _match_version(version):
        return f"{_shown(version)} cannot be a version"
    return f"{_shown(rest)} cannot follow the version; an item is written .ITEM"

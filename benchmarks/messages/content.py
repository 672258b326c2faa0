"""The content of the messages that readers are measured with, independent of the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

AGENCY: Final = "KR_BENCH"
VERSION: Final = "1.0"


@dataclass(frozen=True)
class Item:
    """A code, or a concept with the codelist of its values."""

    id: str
    en: str
    fr: str
    parent: str | None = None
    note: str | None = None
    codelist: str | None = None


@dataclass(frozen=True)
class Codelist:
    """A codelist."""

    id: str
    codes: tuple[Item, ...]


@dataclass(frozen=True)
class ConceptScheme:
    """A concept scheme."""

    id: str
    concepts: tuple[Item, ...]


@dataclass(frozen=True)
class DataStructure:
    """A data structure: dimensions with codelists, the time, a measure, an attribute."""

    id: str
    dimensions: tuple[str, ...]


@dataclass(frozen=True)
class Dataflow:
    """A dataflow of a data structure."""

    id: str
    structure: str


Content: TypeAlias = Codelist | ConceptScheme | DataStructure | Dataflow


def _code(number: int, *, parent: str | None) -> Item:
    return Item(
        id=f"C{number:05}",
        en=f"Manufacture of things, kind {number}",
        fr=f"Fabrication d'objets, catégorie {number}",
        parent=parent,
        note=f"Checked on revision {number % 7}",
    )


def long_codelist(codes: int) -> Codelist:
    """Return a codelist: every tenth code is at the top, the codes after it are below it; each has an annotation."""
    return Codelist(
        "CL_LONG", tuple(_code(n, parent=None if n % 10 == 0 else f"C{n // 10 * 10:05}") for n in range(codes))
    )


def small(number: int) -> Content:
    """Return a small artefact of one of four classes, in turn."""
    turn, serial = number % 4, number // 4
    if turn == 0:
        return Codelist(f"CL_{serial}", tuple(_code(n, parent=None if n == 0 else "C00000") for n in range(10)))
    concepts = ("FREQ", "REF_AREA", "ACTIVITY", "TIME_PERIOD", "OBS_VALUE", "OBS_STATUS")
    if turn == 1:
        return ConceptScheme(
            f"CS_{serial}",
            tuple(
                Item(id_, f"Concept {id_}", f"Concept {id_} en français", codelist=f"CL_{id_}" if n % 2 else None)
                for n, id_ in enumerate(concepts)
            ),
        )
    if turn == 2:
        return DataStructure(f"DSD_{serial}", concepts[:3])
    return Dataflow(f"DF_{serial}", f"DSD_{serial}")

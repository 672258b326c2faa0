"""Tables of codes, for pyarrow, polars and pandas.

::

    frame = to_pandas(structures.codelist("SDMX:CL_FREQ(2.1)"), languages=["en", "fr"])
    frame[["id", "name_fr", "parent"]]

One row an item, one or many artefacts a table: codelists, value lists, concept schemes, organisation schemes,
category schemes, reporting taxonomies, hierarchies, and whatever else is made of items. Where items hold items there is
a row for each, parents first. Columns:

=============== ================================== ==========================================================
``urn``         string                             the URN of the artefact
``id``          string                             the item's own id
``path``        string                             as in a URN: ``A.B`` where items hold items, else the id
``name``        string                             in ``language``, or English, else the first
``description`` string                             the same
``parent``      string                             the path of the parent; for codes and concepts its id
``position``    int32                              from 1, in the order of the artefact
``names``       map of string to string            by language; or columns ``name_en``, ... with ``languages``
``descriptions`` map of string to string           the same
``code``        string                             in hierarchies: the URN of the code
``valid_from``  string                             in hierarchies, as written
``valid_to``    string                             the same
``annotations`` list of structs                    id, title, type, value, url, text (map by language)
=============== ================================== ==========================================================

What a message says beside this (links, core representations, contacts) is not in a table. Items of a hierarchy have no
names; join them by ``code``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.tables import libraries
from kafka_replica.sdmx.tables.rows import columns_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["to_arrow", "to_pandas", "to_polars"]


def to_arrow(
    artefacts: Artefact | Iterable[Artefact], *, language: str | None = None, languages: Sequence[str] | None = None
) -> pa.Table:
    """The items as a ``pyarrow.Table``, with the columns of this module; extra ``arrow``.

    Args:
        artefacts: one, or several.
        language: what ``name`` and ``description`` are in; without it English if there is any, else the first.
        languages: columns ``name_<language>`` and ``description_<language>`` in place of the maps.

    Raises:
        MissingExtraError: pyarrow is not installed.
        NotExpressibleError: an artefact that is not made of items.
        UnreadableContentError: a stub, or an artefact of a class that cannot be read.
    """
    return libraries.arrow_table(columns_of(artefacts, language, languages))


def to_polars(
    artefacts: Artefact | Iterable[Artefact], *, language: str | None = None, languages: Sequence[str] | None = None
) -> pl.DataFrame:
    """The items as a ``polars.DataFrame``; extra ``polars``. Arguments and errors as for :func:`to_arrow`.

    Columns that are maps there are lists of structs of ``key`` and ``value`` here.
    """
    return libraries.polars_frame(columns_of(artefacts, language, languages))


def to_pandas(
    artefacts: Artefact | Iterable[Artefact], *, language: str | None = None, languages: Sequence[str] | None = None
) -> pd.DataFrame:
    """The items as a ``pandas.DataFrame``; extra ``pandas``. Arguments and errors as for :func:`to_arrow`.

    Texts that are not there are None, maps are dictionaries, annotations lists of dictionaries.
    """
    return libraries.pandas_frame(columns_of(artefacts, language, languages))

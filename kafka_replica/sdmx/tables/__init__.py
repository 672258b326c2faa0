"""Tables of codes, for pyarrow, polars and pandas.

::

    frame = to_pandas(structures.codelist("SDMX:CL_FREQ(2.1)"), languages=["en", "fr"])
    frame[["id", "name_fr", "parent"]]

A table has one row per item, of one or several artefacts: codelists, value lists, concept schemes, organisation
schemes, category schemes, reporting taxonomies, hierarchies, and anything else that consists of items. Nested items
have a row each, parents first. Columns:

================ ================================== ==========================================================
``urn``          string                             the URN of the artefact
``id``           string                             the item's own id
``path``         string                             as in a URN: ``A.B`` where items hold items, else the id
``name``         string                             in ``language``, or English, else the first
``description``  string                             the same
``parent``       string                             the path of the parent; for codes and concepts its id
``position``     int32                              from 1, in the order of the artefact
``names``        map of string to string            by language; or columns ``name_en``, ... with ``languages``
``descriptions`` map of string to string            the same
``code``         string                             in hierarchies: the URN of the code
``valid_from``   string                             in hierarchies, as written
``valid_to``     string                             the same
``annotations``  list of structs                    id, title, type, value, url, text (map by language)
================ ================================== ==========================================================

Other content of a message (links, core representations, contacts) is not in a table. Items of a hierarchy have no
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
    """Return the items as a ``pyarrow.Table``, with the columns of this module; requires extra ``arrow``.

    Args:
        artefacts: one artefact, or several.
        language: the language of ``name`` and ``description``; without it English if there is any, else the first.
        languages: columns ``name_<language>`` and ``description_<language>`` instead of the maps.

    Raises:
        MissingExtraError: pyarrow is not installed.
        NotExpressibleError: an artefact does not consist of items.
        UnreadableContentError: an artefact is a stub, or of a class that cannot be read.
    """
    return libraries.arrow_table(columns_of(artefacts, language, languages))


def to_polars(
    artefacts: Artefact | Iterable[Artefact], *, language: str | None = None, languages: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the items as a ``polars.DataFrame``; requires extra ``polars``.

    Arguments and errors are the same as for :func:`to_arrow`. Maps become lists of structs of ``key`` and ``value``.
    """
    return libraries.polars_frame(columns_of(artefacts, language, languages))


def to_pandas(
    artefacts: Artefact | Iterable[Artefact], *, language: str | None = None, languages: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the items as a ``pandas.DataFrame``; requires extra ``pandas``.

    Arguments and errors are the same as for :func:`to_arrow`. Missing texts are None, maps are dictionaries,
    annotations are lists of dictionaries.
    """
    return libraries.pandas_frame(columns_of(artefacts, language, languages))

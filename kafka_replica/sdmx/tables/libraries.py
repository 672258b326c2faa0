"""The only module for SDMX that uses pyarrow, polars and pandas; each is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx.tables.rows import MAPS, Columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_ANNOTATION = ("id", "title", "type", "value", "url")


def arrow_table(columns: Columns) -> pa.Table:
    """Return the columns as an Arrow table."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("making an Arrow table", "arrow") from error
    texts = pa.map_(pa.string(), pa.string())
    annotation = pa.struct([*((name, pa.string()) for name in _ANNOTATION), ("text", texts)])
    kinds: dict[str, Any] = {
        "position": pa.int32(),
        "annotations": pa.list_(annotation),
        **dict.fromkeys(MAPS, texts),
    }
    return pa.table(
        {name: pa.array(_paired(name, column), kinds.get(name, pa.string())) for name, column in columns.items()}
    )


def _paired(name: str, column: list[Any]) -> list[Any]:
    """Return maps as the pairs that Arrow accepts for them."""
    if name in MAPS:
        return [list(texts.items()) for texts in column]
    if name == "annotations":
        return [[{**note, "text": list(note["text"].items())} for note in notes] for notes in column]
    return column


def polars_frame(columns: Columns) -> pl.DataFrame:
    """Return the columns as a polars frame."""
    try:
        import polars as pl  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("making a polars frame", "polars") from error
    texts = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))
    annotation = pl.Struct({**dict.fromkeys(_ANNOTATION, pl.String), "text": texts})
    kinds: dict[str, Any] = {
        "position": pl.Int32,
        "annotations": pl.List(annotation),
        **dict.fromkeys(MAPS, texts),
    }
    return pl.DataFrame(
        [pl.Series(name, _keyed(name, column), kinds.get(name, pl.String)) for name, column in columns.items()]
    )


def _keyed(name: str, column: list[Any]) -> list[Any]:
    """Return maps as the lists of structs that polars uses for them."""
    if name in MAPS:
        return [_entries(texts) for texts in column]
    if name == "annotations":
        return [[{**note, "text": _entries(note["text"])} for note in notes] for notes in column]
    return column


def _entries(texts: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": language, "value": text} for language, text in texts.items()]


def pandas_frame(columns: Columns) -> pd.DataFrame:
    """Return the columns as a pandas frame."""
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("making a pandas frame", "pandas") from error
    return pd.DataFrame(
        {name: pd.Series(column, dtype="int32" if name == "position" else "object") for name, column in columns.items()}
    )

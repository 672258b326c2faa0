"""Look up codelists in UDFs, in Arrow streams that are read in place.

The module is pickled by value for executors, so that they need pandas, pyarrow and pyspark, but not this package. It
must not import anything from kafka_replica; therefore its errors are Python's own.

A piece is a dictionary, which Spark pickles. Its ``blocks`` are lists: uncompressed Arrow streams with a row per code.
The newest piece also has the version, its position, the number of the piece of each list, and other names of lists.
Therefore a new version sends only the changed lists, and a process loads only the pieces that it uses. A code is found
by binary search among the sorted hashes of all codes; then the text itself is compared. A hash table that each process
builds would be as fast, but needs more memory, and time to build; docs/spark-udf.md has the figures.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.util import hash_array
from pyspark import cloudpickle

PROBE: Final = "kafka_replica"
_EXPECTED: Final = "looking up codes, which are strings (cast the values to string): the argument is"
_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
SAME_AS_DEFAULT: Final = b"same as default"
"""The key of the metadata with the languages whose names are the same as the default names."""


class BroadcastVariable(Protocol):
    """A broadcast variable of Spark."""

    @property
    def value(self) -> dict[str, Any]:
        """The piece."""
        ...


def hashes(texts: list[str | None]) -> npt.NDArray[np.uint64]:
    """Return a hash of each text, which is the same in every process with the same version of pandas."""
    found: npt.NDArray[np.uint64] = hash_array(np.array(texts, dtype=object), categorize=False)
    return found


class CodelistLookups:
    """Look-ups in the codelists of one version; immutable, and cheap to send with a UDF.

    Lists are named by URN, by short reference (``SDMX:CL_FREQ(2.1)``), or as they were requested
    (``SDMX:CL_FREQ(2+.0)``). Values are a text, a pandas Series, or a pyarrow Array; the result is of the same kind,
    and NULL where the value is NULL.
    """

    def __init__(self, *variables: BroadcastVariable) -> None:
        self._variables = variables
        self._is_read = False
        self._blocks: dict[str, _Block] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_is_read": False, "_blocks": {}}

    def __repr__(self) -> str:
        if not self._is_read:  # because reading the version may fetch the piece from the driver
            return f"<{type(self).__name__}, not used yet>"
        return f"<{type(self).__name__} of version {self.version}, codelists: {len(self.codelists):,}>"

    @property
    def version(self) -> int:
        """The number of the version from which all results come."""
        return int(self._index["version"])

    @property
    def position(self) -> str:
        """The position of the version, as JSON."""
        return str(self._index["position"])

    @property
    def codelists(self) -> list[str]:
        """The URNs of the lists."""
        return list(self._index["lists"])

    def is_code(self, codelist: str, values: Any) -> Any:
        """Return whether each value is a code of a list. Raises LookupError if the list was not broadcast."""
        return _looked_up(values, lambda array: self._block(codelist).is_code(array))

    def name(self, codelist: str, values: Any, language: str | None = None) -> Any:
        """Return the name of each code; NULL for values that are not codes, or have no name in the language.

        Without a language, the name is the English name, else the first.
        """
        return _looked_up(values, lambda array: self._block(codelist).text(array, language))

    def parent(self, codelist: str, values: Any) -> Any:
        """Return the parent of each code; NULL if it has no parent, or the value is not a code."""
        return _looked_up(values, lambda array: self._block(codelist).parent(array))

    def codes(self, codelist: str) -> pa.Array[Any]:
        """Return all codes of a list, in the order of the list."""
        found: pa.Array[Any] = self._block(codelist).codes
        return found

    @property
    def _index(self) -> dict[str, Any]:
        index = self._variables[-1].value
        if not self._is_read and index["probe"] != int(hashes([PROBE])[0]):
            raise RuntimeError("pandas of this process has other hashes than the driver's; install the same version")
        self._is_read = True
        return index

    def _block(self, codelist: str) -> _Block:
        index = self._index
        urn = index["names"].get(codelist, codelist)
        if urn not in self._blocks:
            piece = index["lists"].get(urn)
            if piece is None:
                raise LookupError(
                    f"looking up {codelist} among the broadcast codelists of version {index['version']}: it is not one "
                    f"of them; name it in broadcast(..., codelists=[...]). There are {', '.join(index['lists'])}"
                )
            self._blocks[urn] = _Block(pa.ipc.open_stream(self._variables[piece].value["blocks"][urn]).read_all())
        return self._blocks[urn]


class _Block:
    """A list in a piece."""

    def __init__(self, table: pa.Table) -> None:
        columns: dict[str, Any] = {name: table[name].chunk(0) for name in table.schema.names} if table.num_rows else {}
        self.codes: Any = columns.get("code", pa.array([], pa.string()))
        self._hashes = _numbers(columns.get("hash"), np.uint64)
        self._rows = _numbers(columns.get("row"), np.int32)
        self._parents = columns.get("parent")
        self._names = {name: column for name, column in columns.items() if name.startswith("name")}
        for language in json.loads((table.schema.metadata or {}).get(SAME_AS_DEFAULT, b"[]")):
            self._names[f"name_{language}"] = columns.get("name", self.codes)

    def is_code(self, values: Any) -> Any:
        """Return whether each value is a code."""
        return pc.if_else(values.is_null(), None, pc.is_valid(self._places(values)))

    def text(self, values: Any, language: str | None) -> Any:
        """Return the names of the codes."""
        column = self._names.get("name" if language is None else f"name_{language}".lower())
        return pa.nulls(len(values), pa.string()) if column is None else column.take(self._places(values))

    def parent(self, values: Any) -> Any:
        """Return the parents of the codes."""
        if self._parents is None:
            return pa.nulls(len(values), pa.string())
        return self.codes.take(self._parents.take(self._places(values)))

    def _places(self, values: Any) -> Any:
        """Return the row of each code; NULL for values that are not codes. Repeated values are looked up once."""
        encoded = pc.dictionary_encode(values.cast(pa.string()))
        return self._rows_of(encoded.dictionary).take(encoded.indices)

    def _rows_of(self, texts: Any) -> Any:
        found = np.full(len(texts), -1, np.int32)
        wanted = hashes(texts.to_pylist())
        at = np.searchsorted(self._hashes, wanted)
        left = np.flatnonzero(at < len(self._hashes))
        while left.size:  # one iteration, except for texts with equal hashes
            left = left[self._hashes[at[left]] == wanted[left]]
            rows = self._rows[at[left]]
            same = pc.equal(self.codes.take(pa.array(rows)), texts.take(pa.array(left))).to_numpy(zero_copy_only=False)
            found[left[same]] = rows[same]
            left = left[~same]
            at[left] += 1
            left = left[at[left] < len(self._hashes)]
        return pa.array(found, mask=found < 0)


def _numbers(column: Any, kind: Any) -> npt.NDArray[Any]:
    return np.array([], kind) if column is None else column.to_numpy()


def _looked_up(values: Any, look_up: Callable[[Any], Any]) -> Any:
    if values is None or isinstance(values, str):
        return look_up(pa.array([values], pa.string()))[0].as_py()
    if isinstance(values, pd.Series):
        try:
            array = pa.Array.from_pandas(values, type=pa.string())
        except pa.ArrowTypeError as error:
            raise TypeError(f"{_EXPECTED} a pandas Series of other values: {error}") from error
        return look_up(array).to_pandas().set_axis(values.index)
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        raise TypeError(f"{_EXPECTED} {type(values).__name__}")
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not (pa.types.is_null(kind) or any(text(kind) for text in _TEXTS)):
        raise TypeError(f"{_EXPECTED} an Arrow array of {values.type}")
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([look_up(chunk) for chunk in values.chunks] or [look_up(pa.array([], pa.string()))])
    return look_up(values)


cloudpickle.register_pickle_by_value(sys.modules[__name__])

"""Our readers compared with pysdmx's over real files: equal results, except for listed differences.

SDMX-JSON and Fusion-JSON are always compared; SDMX-ML only with ``xmltodict``, which pysdmx needs to read it
(``pysdmx[xml]``).
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import NotExpressibleError
from support.paths import CORPUS
from support.sdmx.pysdmx_differences import KNOWN_FUSION, KNOWN_JSON, KNOWN_XML, Known, differ
from support.sdmx.pysdmx_objects import to_pysdmx
from support.sdmx.sdmx_corpus import data_of, rows

pytestmark = pytest.mark.thorough

model = pytest.importorskip("pysdmx.model")

LARGEST_BYTES = 120_000


def from_json(data: bytes) -> Any:
    """Return pysdmx's result for SDMX-JSON, without validation."""
    from pysdmx.io.json.sdmxjson2.messages.structure import JsonStructureMessage

    return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=JsonStructureMessage).to_model()


def from_fusion(data: bytes) -> Iterator[Any]:
    """Return pysdmx's result for Fusion-JSON: each kind of query has its own message class, and all are tried."""
    from pysdmx.io.json.fusion import messages

    kinds = [kind for name, kind in vars(messages).items() if re.fullmatch("Fusion.*Message", name)]
    for kind in kinds:
        try:
            found = msgspec.json.decode(data, type=kind).to_model()
        except Exception:  # noqa: BLE001 - the answer to another query
            continue
        yield from found if isinstance(found, (list, tuple)) else [found]


def from_xml(row: dict[str, str]) -> Any:
    """Return pysdmx's result for SDMX-ML."""
    from pysdmx.io import read_sdmx

    return read_sdmx(CORPUS / row["file"], validate=False)


def found(files: list[dict[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Return file, class and path of each difference; the path is empty for equal artefacts."""
    for row in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = read(row)
        except Exception:  # noqa: BLE001 - it refuses what its registry does not send
            continue
        mine = dict(converted(row))
        for other in theirs:
            own = mine.get(getattr(other, "short_urn", ""))
            if own is not None:
                paths = set(differ(own, other)) or {""}
                yield from ((row["file"], type(own).__name__, path) for path in paths)


def read(row: dict[str, str]) -> list[Any]:
    """Return pysdmx's result for a file."""
    if row["format"] == "fusion-json":
        return list(from_fusion(data_of(row)))
    return list((from_json(data_of(row)) if row["format"] == "sdmx-json" else from_xml(row)).structures or ())


def converted(row: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Return our result for a file, as objects of pysdmx."""
    for artefact in read_message(data_of(row)):
        try:
            own = to_pysdmx(artefact)
        except NotExpressibleError:
            continue
        yield own.short_urn, own


def check(files: list[Any], known: list[Known], least: int) -> None:
    """Check that all differences are known, that all known ones occur, and that enough other artefacts are equal."""
    chosen = [file.values[0] for file in files]
    if chosen == [None]:
        pytest.skip("the shared corpus is not here: pysdmx is NOT compared")
    every = list(found([row for row in chosen if int(row["bytes"]) < LARGEST_BYTES]))
    differing = {(cls, path) for _, cls, path in every if path}
    assert len(every) > least

    def fits(one: Known, cls: str, path: str) -> bool:
        return re.fullmatch(one.cls, cls) is not None and re.fullmatch(one.path, path) is not None

    assert [(cls, path) for cls, path in sorted(differing) if not any(fits(one, cls, path) for one in known)] == []
    assert [one for one in known if not any(fits(one, cls, path) for cls, path in differing)] == []


@pytest.mark.corpus
def test_sdmx_json_is_read_as_by_pysdmx() -> None:
    """SDMX-JSON is read as by pysdmx, except for the listed differences."""
    check(rows(("sdmx-json", "2.0"), ("sdmx-json", "2.1")), KNOWN_JSON, 60)


@pytest.mark.corpus
def test_fusion_json_is_read_as_by_pysdmx() -> None:
    """Fusion-JSON is read as by pysdmx, except for the listed differences."""
    check(rows(("fusion-json", "")), KNOWN_FUSION, 100)


@pytest.mark.corpus
def test_sdmx_ml_is_read_as_by_pysdmx() -> None:
    """SDMX-ML is read as by pysdmx, except for the listed differences."""
    if importlib.util.find_spec("xmltodict") is None:
        pytest.skip("xmltodict (pysdmx[xml]) is not installed: pysdmx is NOT compared for SDMX-ML")
    check(rows(("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1")), KNOWN_XML, 100)

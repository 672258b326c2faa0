"""Our readers compared with pysdmx's over real files: equal results, except for listed differences.

SDMX-JSON and Fusion-JSON are always compared; SDMX-ML only with ``xmltodict``, which pysdmx needs to read it
(``pysdmx[xml]``).
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import NotExpressibleError
from support.sdmx.pysdmx_objects import to_pysdmx
from support.sdmx.sdmx_corpus import CORPUS, data_of, rows

model = pytest.importorskip("pysdmx.model")

LARGEST_BYTES = 120_000


class Known(NamedTuple):
    """A known difference caused by pysdmx: the class, a pattern of paths, and the reason."""

    cls: str
    path: str
    why: str


KNOWN_JSON = [
    Known(".*", r"(.*\.)?urn", "URNs are left out"),
    Known(".*", r"(.*\.)?(structure_url|uri)", "links to the artefact itself are left out"),
    Known(".*Scheme", r"items\.dataflows#", "flows of an organisation come from other artefacts of the message"),
    Known("(Agency|MetadataProvider)Scheme", r"name", "the name is always the id of the scheme"),
    Known("ConceptScheme", r"items\.(dtype|codes)", "String where nothing is said; codes from other artefacts"),
    Known("DataStructureDefinition", r"components\.local_dtype", "String where nothing is said"),
    Known(
        "MetadataStructure",
        r"components\.(components\.)?(local_dtype|local_codes|array_def)",
        "the same; one is not an array",
    ),
    Known(
        "Hierarchy", r"codes\.(codes\.)*(name|valid_from)", "names of codes come from other artefacts of the message"
    ),
]
OTHERS = "taken from other artefacts of the message"
KNOWN_FUSION = [
    Known(".*", r"(.*\.)?urn", "URNs are left out"),
    Known("Codelist", r"structure_url|(items\.)?annotations#", "not read"),
    Known("(Codelist|ConceptScheme|AgencyScheme|DataProviderScheme)", r"is_partial", "not read"),
    Known("AgencyScheme", r"name|items\.annotations#", "the name is always the id; annotations are not read"),
    Known("(Data|Metadata)ProviderScheme", r"items\.dataflows#", OTHERS),
    Known("CategoryScheme", r"items\.(categories\.)?(dataflows|other_references)#", OTHERS),
    Known("ConceptScheme", r"items\.(dtype|codes)", "String where nothing is said; codes are " + OTHERS),
    Known("DataConstraint", r"valid_from", "startDate is not read"),
    Known("DataConstraint", r"(cube_regions|key_sets)#", "excludeSeries is not read; an empty region instead"),
    Known("DataStructureDefinition", r"components\.(name|description|local_codes)", OTHERS),
    Known("Dataflow", r"is_final", "not told by the version, as in SDMX-JSON"),
    Known("Hierarchy", r"codes\.(codes\.)*(name|valid_from)", OTHERS),
    Known("Hierarchy", r"is_partial", "always partial"),
    Known(
        "MetadataStructure",
        r"components\.(array_def|components\.local_codes)",
        "one is not an array; codes are " + OTHERS,
    ),
]
KNOWN_XML = [
    Known(".*", r"(.*\.)?urn", "URNs are left out where there are defaults"),
    Known(
        "(Codelist|RulesetScheme|UserDefinedOperatorScheme)",
        r"items\.(description|.*_definition)",
        "blanks are cut off",
    ),
    Known("ConceptScheme", r"items\.(codes|enum_ref)", "codes in place of the reference"),
    Known(".*Scheme", r"items\.dataflows#", "flows of an organisation come from other artefacts of the message"),
    Known(
        "DataStructureDefinition",
        r"components\.(array_def|local_codes)",
        "one is not an array; codes from other artefacts",
    ),
    Known("DataStructureDefinition", r"components\.local_facets\.is_multilingual", "isMultiLingual is not read"),
    Known("(Metadata|Data)Structure.*", r"components\.local_facets\.(min|max)_length", "lengths are text"),
    Known("DataStructureDefinition", r"components\.required", "usage is not read"),
    Known(
        "MetadataStructure", r"components\.(components\.)?(local_codes|array_def)", "the same as in a data structure"
    ),
    Known("Hierarchy", r"codes\.(id|annotations#)", "the hierarchy's own ids are kept, against pysdmx's convention"),
    Known("Hierarchy", r"is_partial|level\.facets", "always partial; formats of levels are not read"),
]


def differ(mine: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of differences; a reference equals the artefact that it refers to."""
    if is_same_reference(mine, theirs) or (not mine and not theirs and not isinstance(mine, bool)):
        return
    if isinstance(mine, msgspec.Struct) and type(mine) is type(theirs):
        for name in mine.__struct_fields__:
            yield from differ(getattr(mine, name), getattr(theirs, name), f"{path}.{name}" if path else name)
    elif not isinstance(mine, str) and isinstance(mine, Iterable) and isinstance(theirs, Iterable):
        ours, others = list(mine), list(theirs)
        if len(ours) != len(others):
            yield f"{path}#"
        for one, other in zip(ours, others, strict=False) if len(ours) == len(others) else ():
            yield from differ(one, other, path)
    elif mine != theirs:
        yield path


def is_same_reference(mine: Any, theirs: Any) -> bool:
    """Tell whether one value is a reference, as object or text, and the other is its target or refers to it."""
    own, other = (short(one) for one in (mine, theirs))
    return own is not None and own == other and (type(mine) is not type(theirs) or isinstance(mine, str))


def short(one: Any) -> str | None:
    """Return ``AGENCY:ID(VERSION)`` of an artefact or reference, with the item if there is one."""
    if isinstance(one, model.Concept):
        one = one.urn
    if isinstance(one, str):
        found = re.search(r"=([^=]+)$", one)
        return found[1] if found else None
    if isinstance(one, (model.Reference, model.ItemReference, model.DataflowRef)):
        return str(one).partition("=")[2]
    return one.short_urn.partition("=")[2] if hasattr(one, "short_urn") else None


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
    chosen = [one.values[0] for one in files]
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

"""Artefacts as objects of pysdmx, by its own reader: the losses are known, and losses of meaning are refused."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import Artefact, read_files, read_message
from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange import to_pysdmx
from kafka_replica.sdmx.model import CodelistExtension
from kafka_replica.sdmx.samples import sample_files
from support.paths import CORPUS, SDMX_DATA
from support.rules.structures_by_hand import constraint, message, region, selected
from support.sdmx.pysdmx_differences import KNOWN_JSON, Known, differ
from support.sdmx.pysdmx_objects import to_pysdmx as expected
from support.sdmx.pysdmx_samples import EXPRESSIBLE, of_class, sample

model = pytest.importorskip("pysdmx.model")

KNOWN = [
    *KNOWN_JSON,
    Known(".*Scheme", r"name|items\.annotations(#|\.(id|text|type))", "names of schemes, values of annotations"),
    Known(".*", "is_final", "derived from the version alone"),
    Known("DataStructureDefinition", r"components\.(required|array_def)", "of a primary measure; of single values"),
    Known("DataStructureDefinition", r"components\.local_facets\.is_multilingual", "isMultiLingual is not read"),
    Known("Hierarchy", r"codes\.(codes\.)*annotations#|level\.(dtype|facets)", "formats of levels are not read"),
    Known("StructureMap", "maps", "the order of maps of different kinds"),
    Known("(Transformation|UserDefinedOperator)Scheme", r".*_schemes?#?", "references to other schemes are not read"),
]

NOT_BY_JSON = {"ConceptScheme": "got `str`.*maxOccurs"}
"""Classes whose sample can be built, but not be read by pysdmx from SDMX-JSON."""


def compared(artefacts: Iterable[Artefact]) -> Counter[str]:
    """Compare artefacts with the expected objects; return how many are converted, refused by both, or only built."""
    counts: Counter[str] = Counter()
    for artefact in artefacts:
        try:
            wanted = expected(artefact)
        except NotExpressibleError:
            counts["refused"] += 1
            continue
        try:
            made = to_pysdmx(artefact)
        except NotExpressibleError:
            counts["only built"] += 1
            continue
        assert type(made) is type(wanted)
        assert made.short_urn == wanted.short_urn
        name = type(made).__name__
        unknown = [
            path for path in set(differ(wanted, made))
            if not any(re.fullmatch(one.cls, name) and re.fullmatch(one.path, path) for one in KNOWN)
        ]  # fmt: skip
        assert unknown == [], artefact.urn
        counts["converted"] += 1
    return counts


def test_samples_are_converted_with_only_the_listed_losses() -> None:
    """Samples are converted without other losses than the listed ones."""
    files = [*sample_files(), SDMX_DATA / "every_class.sdmx30.xml"]
    counts = compared(one for path in files for one in read_message(path.read_bytes()))
    assert counts["converted"] > 30
    assert counts["only built"] == 1


@pytest.mark.thorough
@pytest.mark.corpus
@pytest.mark.skipif(
    not CORPUS.exists(),
    reason="the shared corpus is not here (../shared/corpus beside the project): real artefacts are NOT converted",
)
def test_published_artefacts_are_converted_with_only_the_listed_losses() -> None:
    """Nearly all published artefacts are converted without other losses than the listed ones."""
    structures = read_files(CORPUS)
    found = (structures.get(urn) for urn in structures)
    counts = compared(one for one in found if isinstance(one, Artefact))
    assert counts["converted"] >= 340
    assert counts["only built"] <= 16


@pytest.mark.parametrize("cls", EXPRESSIBLE)
def test_each_class_of_pysdmx_is_converted(cls: str) -> None:
    """Each class that pysdmx's reader of SDMX-JSON has becomes an object of it, with its name and items."""
    mine = of_class(cls)
    if cls in NOT_BY_JSON:
        with pytest.raises(NotExpressibleError, match=NOT_BY_JSON[cls]):
            to_pysdmx(mine)
        return
    made = to_pysdmx(mine)
    assert made.short_urn == f"{cls}={mine.urn.reference}"
    if hasattr(mine, "items") and hasattr(made, "items"):
        assert [item.name for item in made.items] == [item.name() for item in mine.items.values()]


def test_names_are_in_the_requested_language() -> None:
    """Names are in the requested language where they have it; otherwise in English, or the first."""
    mine = sample("CL_REF_AREA")
    first = next(iter(mine.codes))
    for language in mine.codes[first].names:
        assert to_pysdmx(mine, language=language)[first].name == mine.codes[first].name(language)
    assert to_pysdmx(mine, language="xx")[first].name == mine.codes[first].name()


def test_a_schema_of_a_data_structure() -> None:
    """A converted data structure serves pysdmx's own functions."""
    assert to_pysdmx(sample("DSD_LABOUR")).to_schema().short_urn == "DataStructure=KR_DEMO:DSD_LABOUR(1.0)"


@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        ("Codelist", "cannot represent a pattern of codes that includes their children"),
        ("GeographicCodelist", "no class for a GeographicCodelist"),
        ("Process", "no class for a Process"),
        ("RepresentationMap", "does not read endIndex, startIndex, which changes the meaning"),
        ("StructureMap", "does not read epochMaps, frequencyFormatMappings, which changes the meaning"),
    ],
)
def test_properties_that_pysdmx_ignores_are_refused(cls: str, reason: str) -> None:
    """Properties that pysdmx does not read although they matter are refused, with the URN and their names."""
    mine = of_class(cls)
    with pytest.raises(NotExpressibleError, match=reason) as error:
        to_pysdmx(mine)
    assert str(mine.urn) in str(error.value)


def test_codelists_that_extend_others_are_refused() -> None:
    """A codelist with extensions is refused, because its inherited codes would be missing."""
    mine = sample("CL_REF_AREA")
    extension = CodelistExtension(codelist=sample("CL_SEX").urn)
    with pytest.raises(NotExpressibleError, match="codelistExtensions"):
        to_pysdmx(replace(mine, extensions=(extension,)))


def test_plain_regions_are_converted_and_others_refused() -> None:
    """Plain regions of dimensions are converted; cascades, exclusions and attributes in regions are refused."""

    def converted(*selections: str) -> Any:
        [mine] = read_message(message(constraint(region(*selections))))
        return to_pysdmx(mine)

    [cube] = converted(selected("AREA", "AT", "DE@2020-01-01T00:00:00")).cube_regions
    assert [value.value for value in cube.key_values[0].values] == ["AT", "DE"]
    for selection, reason in (
        (selected("AREA", "AT+"), "cascadeValues"),
        (selected("AREA", "AT", more='include="false"'), "include"),
        (selected("AREA", "AT", more='removePrefix="true"'), "removePrefix"),
        (selected("STATUS", "F", kind="Component"), "components"),
    ):
        with pytest.raises(NotExpressibleError, match=f"does not read .*{reason}"):
            converted(selection)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pysdmx the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "pysdmx", None)
    monkeypatch.setitem(sys.modules, "pysdmx.io", None)
    with pytest.raises(MissingExtraError, match=r"kafka-replica\[pysdmx\]"):
        to_pysdmx(of_class("ConceptScheme"))

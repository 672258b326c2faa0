"""Twins: artefacts with one URN give equal models in all formats, over the whole corpus of real files.

Every artefact that comes in two formats is compared, each pair of different contents once. Where the ids of items or
components differ the files contain different releases or parts, and are not twins. Twins are equal, except where
the files really differ: see ``SAID``.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import pytest

from kafka_replica.sdmx import Urn, read_message
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.exchange import differences
from kafka_replica.sdmx.model import Artefact, DataStructure, ItemScheme, ValueList
from support.paths import CORPUS


class Found(NamedTuple):
    """An artefact of a file."""

    format: str
    file: str
    artefact: Artefact


class Said(NamedTuple):
    """A known difference of files: the class, the paths, and the reason."""

    cls: str
    path: str
    why: str


RELEASE = "another release: the registry changed it between the files"
PARTIAL = "one of the files was asked for a part, and says so"
LINKS = "JSON carries links to the artefact itself, XML does not"
WRITER = "written by another program, which left it out or made it up"
SAID = [
    Said("(AgencyScheme|Codelist|ConceptScheme)", "is_partial", PARTIAL),
    Said("Codelist", "is_final", "since 3.0 a message does not say so"),
    Said(".*", r"(.*\.)?(links|links\[\]\.url|structure_url)", LINKS),
    Said("(Codelist|ConceptScheme|DataStructure)", r"(concepts\[\]\.)?uri", "SDMX-EDI has no URIs"),
    Said(
        "(Agency|MetadataProvider)Scheme", r"(organisations\[\]\.)?(names|descriptions|annotations|contacts)", RELEASE
    ),
    Said("Codelist", r"(codes\[\]\.)?(names|descriptions|annotations)", RELEASE),
    Said("Codelist", r"codes\[\]\.parent", WRITER),
    Said("ConceptScheme", r"concepts\[\]\.(names|descriptions|core_representation)", RELEASE),
    Said("Categorisation", "source", "in Fusion-JSON the URN of a codelist in the package of data structures"),
    Said("Categorisation|StructureMap", r"valid_(from|to)", "one file has zones, the other has not"),
    Said("Hierarchy", r"codes.*\.valid_(from|to)", "one file has zones, the other has not"),
    Said(
        "CustomTypeScheme",
        r"custom_types\[\]\.(null_value|.*_format)",
        "samples of one program, with texts of their own",
    ),
    Said("DataConstraint", r"(annotations|attachment.*|cube_regions\[\]\.key_values\[\]\.values)", RELEASE),
    Said(
        "DataConstraint", r"key_sets\[\]\.(is_included|keys\[\]\.components)", "one sample includes, the other excludes"
    ),
    Said("DataConstraint", r"role", RELEASE),
    Said("DataStructure", r"attributes\[\]\.(concept|representation.*|relationship\.dimensions)", RELEASE),
    Said("DataStructure", r"attributes\[\]\.relationship\.measures", "Fusion-JSON does not say it"),
    Said("DataStructure", r"attributes|dimension_list|groups|measures\[\]\.representation\..*", WRITER),
    Said("DataStructure", r"measures\[\]\.(mandatory|urn)|dimension_list\[\]\.concept", WRITER),
    Said("Data(Structure|flow)", r"descriptions|names|structure_reference", RELEASE),
    Said("ProvisionAgreement", r"names", RELEASE),
    Said("RulesetScheme", r"vtl_version|rulesets\[\]\.ruleset_(definition|scope|type)", "samples of one program"),
    Said(
        "StructureMap", r"(date_pattern|epoch|fixed_value)_maps\[\]\..*|frequency_format_mappings\[\]\..*", "the same"
    ),
    Said("TransformationScheme", r".*_schemes?|names|transformations\[\]\.(names|expression)", "the same"),
    Said("UserDefinedOperatorScheme", r"ruleset_schemes", "the same"),
    Said(
        "VtlMappingScheme", r"mappings\[\]\.(alias|from_vtl|mapped|to_vtl|urn)", "one sample has a flow, one a codelist"
    ),
]


def contents() -> dict[Urn, list[Found]]:
    """Return all content of the corpus by URN: each content of a format once."""
    found: dict[Urn, list[Found]] = defaultdict(list)
    with (CORPUS / "INDEX.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    for row in rows:
        try:
            message = read_message((CORPUS / row["file"]).read_bytes())
        except (MessageError, UnreadableContentError):
            continue
        format_ = f"{row['format']} {row['version']}"
        for urn, artefact in message.artefacts.items():
            is_known = any(one.format == format_ and one.artefact == artefact for one in found[urn])
            if not artefact.is_stub and not is_known:
                found[urn].append(Found(format_, row["file"], artefact))
    return found


def shape(artefact: Artefact) -> Any:
    """Return the least that twins have in common: the ids of items in their order, or of components."""
    if isinstance(artefact, ItemScheme):
        return list(artefact.items)
    if isinstance(artefact, DataStructure):
        return sorted(component.id for component in artefact.components)
    return [value.id for value in artefact.values] if isinstance(artefact, ValueList) else None


def twins() -> Iterator[tuple[Found, Found]]:
    """Yield all pairs of one URN and shape, in different formats."""
    for found in contents().values():
        for one, other in combinations(found, 2):
            if one.format != other.format and shape(one.artefact) == shape(other.artefact):
                yield one, other


@pytest.mark.thorough
@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here: twins of real files are NOT compared")
def test_twins_of_the_corpus() -> None:
    """Twins are equal, except for the listed differences, and each listed difference occurs in some file."""
    equal: set[frozenset[str]] = set()
    found_differences: set[tuple[str, str]] = set()
    unexplained = []
    pairs = 0
    for one, other in twins():
        pairs += 1
        paths = {re.sub(r"\[[^\]]*\]", "[]", path) for path in differences(one.artefact, other.artefact)}
        if not paths:
            equal.add(frozenset((one.format, other.format)))
        for path in paths:
            known = [(rule.cls, rule.path) for rule in SAID if fits(rule, one.artefact, path)]
            found_differences.update(known)
            if not known:
                unexplained.append((str(one.artefact.urn), path, one.file, other.file))
    assert pairs > 300
    assert unexplained == []
    assert [rule for rule in SAID if (rule.cls, rule.path) not in found_differences] == []
    # There are equal twins for every format but XLSX, and for most pairs of formats.
    assert {format_ for pair in equal for format_ in pair} >= FORMATS
    assert len(equal) >= 12


FORMATS = {
    "fusion-json ",
    "sdmx-edi ",
    "sdmx-json 1.0",
    "sdmx-json 2.0",
    "sdmx-json 2.1",
    "sdmx-ml 1.0",
    "sdmx-ml 2.1",
    "sdmx-ml 3.0",
    "sdmx-ml 3.1",
}


def fits(rule: Said, artefact: Artefact, path: str) -> bool:
    """Tell whether a rule covers this class and path."""
    return re.fullmatch(rule.cls, artefact.urn.cls) is not None and re.fullmatch(rule.path, path) is not None

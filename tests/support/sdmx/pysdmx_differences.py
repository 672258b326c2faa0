"""Differences between our objects and those of pysdmx, and the known ones, which pysdmx causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

model = pytest.importorskip("pysdmx.model")


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

"""Every artefact of every real file is written in every format, and read again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError, UnwritableError
from kafka_replica.sdmx.formats.shared.writing.conversion import as_representable_in
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.writing.messages import explain_unwritable, media_types, write_message
from support.effort import first_in_usual
from support.sdmx.conversions import schema_faults
from support.sdmx.sdmx_corpus import data_of, rows

pytestmark = pytest.mark.thorough

ALL = rows(
    ("fusion-json", ""), ("sdmx-edi", ""), ("xlsx", ""),
    *(("sdmx-ml", one) for one in ("1.0", "2.0", "2.1", "3.0", "3.1")),
    *(("sdmx-json", one) for one in ("1.0", "2.0", "2.1")),
)  # fmt: skip

# Artefacts that cannot be written in their original format: (file, class) -> why.
NOT_AS_THEY_CAME = {
    # a time dimension of the type "wrongtype"
    "sdmx-json-2.0/bis-med-it__pysdmx__tests__io__json__sdmxjson2__deser__samples__schema_valid": {"DataStructure"},
    # 3.0's artefacts under the namespace of 2.1, and 2.0's keys under the header of 1.0
    "sdmx-ml-2.1": {"GeoGridCodelist", "GeographicCodelist", "MetadataProviderScheme", "RepresentationMap"},
    "sdmx-json-1.0": {"DataConstraint", "ValueList", "DataStructure"},
    # an attachment level "dimensions" of an attribute without dimensions
    "fusion-json/bis-med-it__pysdmx__tests__api__fmr__samples__df__errorlvl": {"DataStructure"},
}

LEAST = {Format.SDMX_ML_3_0: 1225, Format.SDMX_ML_2_1: 1060, Format.SDMX_JSON_2_0: 1215, Format.FUSION_JSON: 1165}
"""The least number of artefacts of the corpus that each format can express."""


@pytest.mark.parametrize("row", [*ALL[::3], *first_in_usual([row for number, row in enumerate(ALL) if number % 3], 0)])
def test_a_written_artefact_reads_back_equal(row: dict[str, str]) -> None:
    """An artefact is written whole or refused in each format; in its own it is always written, except for a list."""
    try:
        message = read_message(data_of(row))
    except (MessageError, UnreadableContentError):
        pytest.skip("this file is not read")
    refused = {kind for start, kinds in NOT_AS_THEY_CAME.items() if row["file"].startswith(start) for kind in kinds}
    for artefact in message:
        for media_type in map(Format, media_types()):
            data: bytes | None
            try:
                data = write_message(artefact, media_type, verify=False)
            except UnwritableError as error:
                _explained(error, artefact)
                data = None
            if data is None:
                assert media_type is not message.format or type(artefact).__name__ in refused
                continue
            expected = artefact if isinstance(artefact, OpaqueArtefact) else as_representable_in(artefact, media_type)
            if _read(data, artefact) == expected:
                is_own = media_type is message.format and type(artefact).__name__ != "DataStructure"
                if is_own and expected != artefact:
                    assert schema_faults(media_type, data_of(row)), "its own format has a place for all that it says"
                continue
            # Loss without verification is noticed where it matters.
            with pytest.raises(UnwritableError, match=r"cannot represent|cannot be read again"):
                write_message(artefact, media_type)
            assert media_type is not message.format or type(artefact).__name__ in refused


def _explained(error: UnwritableError, artefact: Artefact) -> None:
    assert str(artefact.urn) in str(error), "the error names the artefact"


def _read(data: bytes, artefact: Artefact) -> Artefact | None:
    try:
        return read_message(data).artefacts.get(artefact.urn)
    except MessageError:
        return None


@pytest.mark.long
@pytest.mark.corpus
def test_no_writer_refuses_more_of_the_corpus_than_before() -> None:
    """At least as many artefacts as in the past are written: a writer that refuses too much fails."""
    if ALL[0].values[0] is None:
        pytest.skip("the shared corpus is not here: real files are NOT tested")
    found: Counter[str] = Counter()
    for parameter in ALL:
        row: Any = parameter.values[0]
        try:
            message = read_message(data_of(row))
        except (MessageError, UnreadableContentError):
            continue
        for artefact in message:
            for media_type in LEAST:
                found[media_type] += explain_unwritable(artefact, media_type) is None
    assert {media_type: found[media_type] for media_type, least in LEAST.items() if found[media_type] < least} == {}

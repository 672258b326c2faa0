"""Other libraries read our messages correctly: sdmx1 our SDMX-ML, pysdmx our JSON."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest

from kafka_replica.sdmx import (
    Codelist,
    ConceptScheme,
    DataStructure,
    Format,
    explain_unwritable,
    read_message,
    write_message,
)
from kafka_replica.sdmx.model import CategoryScheme, Dataflow
from kafka_replica.sdmx.samples import sample_files

HELD = (Codelist, ConceptScheme, DataStructure, Dataflow, CategoryScheme)


def artefacts() -> list[Any]:
    """Return the artefacts of our samples that both libraries know."""
    found = [one for path in sample_files() for one in read_message(path.read_bytes())]
    return [one for one in found if type(one) in HELD]


@pytest.mark.parametrize("media_type", [Format.SDMX_ML_2_1, Format.SDMX_ML_3_0], ids=lambda one: one.title)
def test_sdmx1_reads_our_sdmx_ml(media_type: Format) -> None:
    """Ids, names in all languages, parents, and the parts of structures are equal, all in one message."""
    sdmx = pytest.importorskip("sdmx")
    # sdmx1 does not know the relationships of attributes of 3.0.
    kinds = HELD if media_type is Format.SDMX_ML_2_1 else (Codelist, ConceptScheme)
    wanted = {
        artefact.urn: artefact
        for artefact in artefacts()
        if type(artefact) in kinds and explain_unwritable(artefact, media_type) is None
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        message = sdmx.read_sdmx(io.BytesIO(write_message(wanted.values(), media_type)))
    seen = 0
    for ours in wanted.values():
        found = [
            iter_object
            for iter_object in message.iter_objects(external_reference=False)
            if iter_object.id == ours.id and type(iter_object).__name__.startswith(ours.urn.cls)
        ]
        assert [str(one.version) for one in found] == [ours.version], ours.urn
        assert dict(found[0].name.localizations) == dict(ours.names)
        if isinstance(ours, Codelist):
            for id_, code in ours.codes.items():
                theirs = found[0].items[id_]
                assert dict(theirs.name.localizations) == dict(code.names)
                assert (theirs.parent.id if isinstance(theirs.parent, type(theirs)) else None) == code.parent
        elif isinstance(ours, DataStructure):
            assert [component.id for component in found[0].dimensions.components] == list(ours.dimension_list)
            assert {component.id for component in found[0].attributes.components} == set(ours.attributes)
        seen += 1
    assert seen > 5


@pytest.mark.parametrize("media_type", [Format.SDMX_JSON_2_0, Format.FUSION_JSON], ids=lambda one: one.title)
def test_pysdmx_reads_our_json(media_type: Format) -> None:
    """Codes, names, descriptions and concepts are equal in pysdmx's own readers of both formats."""
    msgspec = pytest.importorskip("msgspec")
    pytest.importorskip("pysdmx")
    if media_type is Format.FUSION_JSON:
        from pysdmx.io.json.fusion import messages

        kinds: tuple[Any, Any] = messages.FusionCodelistMessage, messages.FusionConceptSchemeMessage
    else:
        from pysdmx.io.json.sdmxjson2.messages import JsonCodelistMessage, JsonConceptSchemeMessage

        kinds = JsonCodelistMessage, JsonConceptSchemeMessage
    seen = 0
    for ours in artefacts():
        if isinstance(ours, Codelist):
            kind, mine = kinds[0], [(code.id, code.name()) for code in ours.codes.values()]
        elif isinstance(ours, ConceptScheme):
            kind, mine = kinds[1], [(concept.id, concept.name()) for concept in ours.concepts.values()]
        else:
            continue
        theirs = msgspec.json.Decoder(kind).decode(write_message(ours, media_type)).to_model()
        assert (theirs.id, theirs.version, theirs.name) == (ours.id, ours.version, ours.name())
        assert [(their.id, their.name) for their in theirs] == mine
        seen += 1
    assert seen > 3

"""Queries for items whose ids contain dots, which the schema of 1.0 allows."""

from __future__ import annotations

from kafka_replica.sdmx import Codelist, Items, Urn
from kafka_replica.sdmx.model import Code
from kafka_replica.server.rest.items import with_items


def test_a_code_with_a_dot_is_selected_by_its_whole_id() -> None:
    """The code 1.5 is selected, and not 5, whose id is the last part."""
    urn = Urn.of("Codelist", "F", "CL", "1.0")
    found = Codelist(urn=urn, codes=Items({id_: Code(urn=urn.with_item("Code", id_)) for id_ in ("5", "1.5")}))
    selected = with_items(found, {"1.5"})
    assert selected is not None
    partial, urns = selected
    assert isinstance(partial, Codelist)
    assert (list(partial.codes), urns) == (["1.5"], [urn.with_item("Code", "1.5")])

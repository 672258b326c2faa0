"""``publish`` with unreadable artefacts, and with schemes that the topic holds in part, on a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_commands import Command, command  # noqa: F401 - a fixture

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.base import ItemScheme

pytestmark = pytest.mark.broker

URN = "urn:sdmx:org.sdmx.infomodel."
CONCEPTS = f"{URN}conceptscheme.ConceptScheme=A:STANDALONE_CONCEPT_SCHEME(1.0)"
AGENCIES = f"{URN}base.AgencyScheme=SDMX:AGENCIES(1.0)"
BAD = {"codelistExtensions": [{"inclusiveCodeSelection": {"memberValues": ["X"]}}]}


def lists(*ids: str, bad: str = "") -> str:
    """Return a message of SDMX-JSON with up to 36 codelists, one of which cannot be read."""
    held = [{"id": id_, "agencyID": "A", "version": "1.0", "name": id_, **(BAD if id_ == bad else {})} for id_ in ids]
    schema = "https://json.sdmx.org/2.0.0/sdmx-json-structure-schema.json"
    return json.dumps({"meta": {"schema": schema, "id": "M"}, "data": {"codelists": held}})


def old(inside: str) -> str:
    """Return a message of SDMX-ML 2.0."""
    ns = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
    return f'<Structure xmlns="{ns}/message" xmlns:s="{ns}/structure"><Header><ID>M</ID></Header>{inside}</Structure>'


def concepts(*ids: str, name: str = "Name") -> str:
    """Return standalone concepts of agency A."""
    items = (f'<s:Concept id="{id_}" agencyID="A"><s:Name>{name} {id_}</s:Name></s:Concept>' for id_ in ids)
    return old(f"<Concepts>{''.join(items)}</Concepts>")


def names(command: Command, key: str) -> dict[str, str | None]:  # noqa: F811
    """Return the items of the scheme in the topic."""
    [scheme] = read_message(command.run("get", key).stdout)
    assert isinstance(scheme, ItemScheme)
    return {id_: one.name() for id_, one in scheme.items.items()}


def test_the_good_artefacts_are_published_and_the_bad_one_is_reported(command: Command, tmp_path: Path) -> None:  # noqa: F811
    """35 of 36 artefacts are in the topic; the other is named on stderr and in JSON, and the exit status is 3."""
    ids, file = [f"CL{at}" for at in range(36)], tmp_path / "lists.json"
    file.write_text(lists(*ids, bad="CL7"))
    done = command.run("publish", str(file), status=3)
    assert f"rejected: {file}: {URN}codelist.Codelist=A:CL7(1.0) (codelists[7]): ".encode() in done.stderr
    assert b"35 structures published, 1 rejected, 0 deleted" in done.stdout
    *keys, _ = command.json("dump")
    assert {line["key"] for line in keys} == {f"{URN}codelist.Codelist=A:{id_}(1.0)" for id_ in ids if id_ != "CL7"}
    last: dict[str, Any] = json.loads(command.run("publish", str(file), "--json", status=3).stdout.splitlines()[-1])
    assert last["published"] == 35
    [rejected] = last["rejected"]
    assert rejected["key"].endswith("=A:CL7(1.0)")
    assert (rejected["file"], rejected["place"], rejected["class"]) == (str(file), "codelists[7]", "Codelist")
    assert "names no codelist to extend" in rejected["reason"]


def test_what_cannot_be_read_is_published_when_asked(command: Command, tmp_path: Path) -> None:  # noqa: F811
    """--no-check publishes everything that can be split off; a file without readable content is a failure."""
    file = tmp_path / "lists.json"
    file.write_text(lists("CL", bad="CL"))
    done = command.run("publish", str(file), status=1)
    assert b"nothing is published: of 1 artefact none can be read" in done.stderr
    assert command.json("dump")[-1]["keys"] == 0
    command.run("publish", str(file), "--no-check")
    assert command.json("dump")[-1]["keys"] == 1


def test_a_file_that_is_damaged_as_a_whole_publishes_nothing(command: Command, tmp_path: Path) -> None:  # noqa: F811
    """A truncated file, which may lack any artefact, is rejected, unless it is to be skipped."""
    (tmp_path / "a.json").write_text(lists("CL"))
    (tmp_path / "b.json").write_text(lists("OTHER")[:-9])
    done = command.run("publish", str(tmp_path), status=1)
    assert str(tmp_path / "b.json").encode() in done.stderr
    assert command.json("dump")[-1]["keys"] == 0
    command.run("publish", str(tmp_path), "--skip-unreadable")
    assert command.json("dump")[-1]["keys"] == 1


def test_a_later_file_keeps_the_concepts_of_an_earlier_one(command: Command, tmp_path: Path) -> None:  # noqa: F811
    """Concepts of one agency in files that are published one by one add up; --no-merge replaces them."""
    file = tmp_path / "concepts.xml"
    file.write_text(concepts("A", "B"))
    command.run("publish", str(file))
    file.write_text(concepts("B", "C", name="New"))
    done = command.run("publish", str(file))
    assert f"merged with the topic: {CONCEPTS}; defined differently: B".encode() in done.stderr
    assert names(command, CONCEPTS) == {"A": "Name A", "B": "New B", "C": "New C"}
    [scheme] = read_message(command.run("get", CONCEPTS).stdout)
    assert scheme.name() == "Default Scheme"
    file.write_text(concepts("D"))
    command.run("publish", str(file), "--no-merge")
    assert names(command, CONCEPTS) == {"D": "Name D"}
    command.run("publish", "--delete", CONCEPTS)
    file.write_text(concepts("E"))
    command.run("publish", str(file))
    assert names(command, CONCEPTS) == {"E": "Name E"}


def test_an_old_file_does_not_reduce_a_real_scheme_of_agencies(command: Command, tmp_path: Path) -> None:  # noqa: F811
    """The agencies in the topic stay, with the scheme's own name; the new agency is added."""
    agencies = [{"id": id_, "name": id_} for id_ in ("SDMX", "ECB", "IMF")]
    scheme = {"id": "AGENCIES", "agencyID": "SDMX", "version": "1.0", "name": "All", "agencies": agencies}
    schema = "https://json.sdmx.org/2.0.0/sdmx-json-structure-schema.json"
    (tmp_path / "real.json").write_text(
        json.dumps({"meta": {"schema": schema, "id": "M"}, "data": {"agencySchemes": [scheme]}})
    )
    items = '<s:Agency id="ECB"><s:Name>Other</s:Name></s:Agency><s:Agency id="BIS"><s:Name>BIS</s:Name></s:Agency>'
    organisations = f'<s:OrganisationScheme id="O" agencyID="A"><s:Agencies>{items}</s:Agencies></s:OrganisationScheme>'
    (tmp_path / "old.xml").write_text(old(f"<OrganisationSchemes>{organisations}</OrganisationSchemes>"))
    command.run("publish", str(tmp_path / "real.json"))
    command.run("publish", str(tmp_path / "old.xml"))
    assert names(command, AGENCIES) == {"SDMX": "SDMX", "ECB": "ECB", "IMF": "IMF", "BIS": "BIS"}
    [found] = read_message(command.run("get", AGENCIES).stdout)
    assert found.name() == "All"

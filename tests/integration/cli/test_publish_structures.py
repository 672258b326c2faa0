"""``publish`` with unreadable artefacts, and with schemes that the topic holds in part, on a real broker."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.cli import topic_schemes
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.errors import PublishError
from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.model.base import ItemScheme
from support.cli.broker_commands import Command

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


def names(command: Command, key: str) -> dict[str, str | None]:
    """Return the items of the scheme in the topic."""
    [scheme] = read_message(command.run("get", key).stdout)
    assert isinstance(scheme, ItemScheme)
    return {id_: item.name() for id_, item in scheme.items.items()}


def test_the_good_artefacts_are_published_and_the_bad_one_is_reported(command: Command, tmp_path: Path) -> None:
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


@pytest.mark.long
def test_unreadable_artefacts_are_published_with_no_check(command: Command, tmp_path: Path) -> None:
    """--no-check publishes everything that can be split off; a file without readable content is a failure."""
    file = tmp_path / "lists.json"
    file.write_text(lists("CL", bad="CL"))
    done = command.run("publish", str(file), status=1)
    assert b"nothing was published: none of 1 artefact can be read" in done.stderr
    assert command.json("dump")[-1]["keys"] == 0
    command.run("publish", str(file), "--no-check")
    assert command.json("dump")[-1]["keys"] == 1


def test_a_file_that_is_damaged_as_a_whole_publishes_nothing(command: Command, tmp_path: Path) -> None:
    """A truncated file, which may lack any artefact, is rejected, unless it is to be skipped."""
    (tmp_path / "a.json").write_text(lists("CL"))
    (tmp_path / "b.json").write_text(lists("OTHER")[:-9])
    done = command.run("publish", str(tmp_path), status=1)
    assert str(tmp_path / "b.json").encode() in done.stderr
    assert command.json("dump")[-1]["keys"] == 0
    command.run("publish", str(tmp_path), "--skip-unreadable")
    assert command.json("dump")[-1]["keys"] == 1


@pytest.mark.long
def test_a_later_file_keeps_the_concepts_of_an_earlier_one(command: Command, tmp_path: Path) -> None:
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


@pytest.mark.long
def test_an_old_file_does_not_reduce_a_real_scheme_of_agencies(command: Command, tmp_path: Path) -> None:
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


class RunsAnotherCall(io.StringIO):
    """A standard error that runs a function when a call has read and merged, and so before that call commits."""

    def __init__(self, run_other: Callable[[], object], times: int) -> None:
        super().__init__()
        self._run_other = run_other
        self._left = times

    def write(self, text: str, /) -> int:
        """Write text; run the function for each line about merging, as often as it is to be run."""
        if text.startswith("merged with the topic") and self._left:
            self._left -= 1
            self._run_other()
        return super().write(text)


def publish(command: Command, *arguments: str) -> None:
    """Publish in this process."""
    kafka_replica.main(command.line("publish", *arguments)[1:], standalone_mode=False)


def publish_while(command: Command, file: Path, run_other: Callable[[], object], times: int = 1) -> str:
    """Publish a file, with another call between its reading and its commit; return the output on standard error."""
    with contextlib.redirect_stderr(RunsAnotherCall(run_other, times)) as output:
        publish(command, str(file))
    return output.getvalue()


def test_a_call_that_others_overtake_merges_again(command: Command, tmp_path: Path) -> None:
    """A call that commits between another one's reading and commit keeps its items; the other call keeps its own."""
    first, mine, other = (tmp_path / f"{name}.xml" for name in ("first", "mine", "other"))
    first.write_text(concepts("A"))
    mine.write_text(concepts("B"))
    other.write_text(concepts("C"))
    publish(command, str(first))
    output = publish_while(command, mine, lambda: publish(command, str(other)))
    assert output.count("reading the topic again") == 1, output
    assert names(command, CONCEPTS) == {"A": "Name A", "B": "Name B", "C": "Name C"}


@pytest.mark.long
@pytest.mark.parametrize("change", [["new.xml", "--no-merge"], ["--delete", CONCEPTS]])
def test_a_scheme_that_is_replaced_meanwhile_does_not_come_back(
    command: Command,
    tmp_path: Path,
    change: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call that replaces or deletes the scheme between another one's reading and commit is not undone."""
    monkeypatch.chdir(tmp_path)
    Path("first.xml").write_text(concepts("A"))
    Path("mine.xml").write_text(concepts("B"))
    Path("new.xml").write_text(concepts("C"))
    publish(command, "first.xml")
    publish_while(command, Path("mine.xml"), lambda: publish(command, *change))
    assert set(names(command, CONCEPTS)) == ({"B", "C"} if "--no-merge" in change else {"B"})


def test_a_call_that_is_overtaken_each_time_publishes_nothing(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error says that nothing was published, and what to do."""
    monkeypatch.setattr(topic_schemes, "_ATTEMPTS", 2)
    mine, other = tmp_path / "mine.xml", tmp_path / "other.xml"
    mine.write_text(concepts("A"))
    other.write_text(concepts("B"))
    publish(command, str(other))
    with pytest.raises(PublishError, match=r"2 times another call .* nothing was published; try again"):
        publish_while(command, mine, lambda: publish(command, str(other), "--no-merge"), times=2)
    assert set(names(command, CONCEPTS)) == {"B"}


@pytest.mark.long
def test_calls_at_the_same_time_keep_the_items_of_all(command: Command, tmp_path: Path) -> None:
    """Three processes that start together publish concepts of one agency; the scheme then has all of them."""
    ids = ["A", "B", "C"]
    for id_ in ids:
        (tmp_path / f"{id_}.xml").write_text(concepts(id_))
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(subprocess.Popen(command.line("publish", str(tmp_path / f"{id_}.xml")))) for id_ in ids
        ]
        assert [each.wait(timeout=240) for each in running] == [0, 0, 0]
    assert set(names(command, CONCEPTS)) == set(ids)

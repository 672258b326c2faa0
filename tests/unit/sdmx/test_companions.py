"""Messages with more than the artefact of their key, as older registries send them."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.records import Record
from kafka_replica.sdmx import Structures, Urn, read_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, SdmxError, UnreadableContentError
from kafka_replica.sdmx.lookups import decoding as module
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.model import Agency, Code, Identifiable
from support.effort import examples
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.sdmx.sdmx_json_samples import URN, artefact, message, named

FLOW, LIST = f"{URN}datastructure.Dataflow=A:DF(1.0.0)", f"{URN}codelist.Codelist=A:CL(1.0.0)"
SCHEME = f"{URN}conceptscheme.ConceptScheme=A:CS(1.0.0)"


def codelist(code: str, version: str = "1.0.0", extends: str | None = None) -> dict[str, Any]:
    """Return a list with one code."""
    refers = [{"codelist": extends}] if extends else []
    return artefact("CL", version=version, codes=[named(code)], codelistExtensions=refers)


def scheme(**content: Any) -> dict[str, Any]:
    """Return concepts that refer to the list."""
    concepts = [{"id": "C", "coreRepresentation": {"enumeration": f"{URN}codelist.Codelist=A:CL(1.0+.0)"}}]
    return artefact("CS", concepts=concepts, **content)


def whole(code: str = "A") -> bytes:
    """Return a dataflow with a list and concepts in one message."""
    flow = artefact("DF", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")
    return message({"dataflows": [flow], "codelists": [codelist(code)], "conceptSchemes": [scheme()]})


def version(*records: tuple[str, bytes], number: int = 1) -> FakeSnapshot:
    """Return a version of these records."""
    held: dict[bytes, Record] = {key.encode(): record(key.encode(), value) for key, value in records}
    return FakeSnapshot(held, number)


def code_of(structures: Structures) -> str:
    """Return the code of the list that is found."""
    [code] = structures.codelist(LIST).codes
    found_code = structures.get(LIST.replace("Codelist=", "Code=") + f".{code}")
    assert isinstance(found_code, Code)
    assert found_code.id == code
    assert structures.codelist("A:CL(1.0+.0)").urn == Urn.parse(LIST)
    assert LIST in structures
    return code


@pytest.fixture(params=["fresh", "indexed", "packed"])
def structures(request: pytest.FixtureRequest) -> Structures:
    """Look-ups before and after everything was read, and in messages in gzip."""
    value = whole()
    found = Structures(version((FLOW, gzip.compress(value) if request.param == "packed" else value)))
    if request.param == "indexed":
        found.dangling_references()
    return found


def test_companions_are_found_by_urn_rule_and_reference(structures: Structures) -> None:
    """Companions are found by URN, version rule, item and reference; only the keys are listed."""
    assert code_of(structures) == "A"
    assert structures.get(SCHEME).urn.id == "CS"
    assert structures.get(FLOW).urn.id == "DF"
    assert structures.find() == list(structures) == [Urn.parse(FLOW)]
    assert structures.companions() == {Urn.parse(one): Urn.parse(FLOW) for one in (LIST, SCHEME)}
    assert structures.parents(LIST) == (Urn.parse(SCHEME),)
    assert structures.children(SCHEME) == (Urn.parse(LIST),)
    assert [str(dangling_reference.target) for dangling_reference in structures.dangling_references()] == [
        f"{URN}datastructure.DataStructure=A:DSD(1.0.0)"
    ]
    with pytest.raises(ArtefactNotFoundError):
        structures.get(f"{URN}codelist.Codelist=A:CL(2.0.0)")
    assert f"{URN}codelist.Codelist=A:NONE(1.0.0)" not in structures


def test_an_exact_name_finds_the_artefact_of_that_class_and_version_only(structures: Structures) -> None:
    """An exact name finds a record and a companion; not another version, a rule or the class of another edition."""
    assert structures.exact("Dataflow", "A", "DF", "1.0.0") == Urn.parse(FLOW)
    assert structures.exact("Codelist", "A", "CL", "1.0.0") == Urn.parse(LIST)
    assert structures.locate(LIST.replace("Codelist=", "GeographicCodelist=")) == Urn.parse(LIST)
    for cls, version_ in (("GeographicCodelist", "1.0.0"), ("Codelist", "2.0.0"), ("Codelist", "1.0+.0"), ("X", "1.0")):
        assert structures.exact(cls, "A", "CL", version_) is None


@pytest.mark.parametrize("is_read", [False, True])
def test_a_record_of_its_own_comes_first(*, is_read: bool) -> None:
    """A record of its own has priority over a companion; after its deletion the companion counts again."""
    first = Structures(version((FLOW, whole("A"))))
    own = message({"codelists": [codelist("B")]})
    if is_read:
        first.dangling_references()
    second = first.moved_to(version((FLOW, whole("A")), (LIST, own), number=2), [LIST])
    third = second.moved_to(version((FLOW, whole("A")), number=3), [LIST])
    assert [code_of(one) for one in (first, second, third)] == ["A", "B", "A"]
    assert Urn.parse(LIST) not in second.companions()
    assert Urn.parse(LIST) in third.companions()


@pytest.mark.parametrize("is_read", [False, True])
def test_a_companion_disappears_with_its_key(*, is_read: bool) -> None:
    """A companion disappears when its key is deleted or overwritten without it; references to it dangle then."""
    other = message({"conceptSchemes": [scheme(version="2.0.0")]})
    held = (SCHEME.replace("1.0.0", "2.0.0"), other)
    first = Structures(version((FLOW, whole()), held))
    if is_read:
        assert len(first.dangling_references()) == 1
    assert code_of(first) == "A"
    deleted = first.moved_to(version(held, number=2), [FLOW])
    flow = message({"dataflows": [artefact("DF", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")]})
    without = first.moved_to(version((FLOW, flow), held, number=3), [FLOW])
    for one, dangling in ((deleted, 1), (without, 2)):
        for urn in (LIST, SCHEME):
            assert urn not in one
            with pytest.raises(ArtefactNotFoundError):
                one.get(urn)
        assert one.companions() == {}
        assert len(one.dangling_references()) == dangling
        assert one.dangling_references() == Structures(one._snapshot).dangling_references()
    assert code_of(first) == "A"


def test_the_companion_of_the_first_key_counts() -> None:
    """The companion of the first key counts, whichever was read first; references of the others do not count."""
    later = artefact("DF2", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")
    nowhere = f"{URN}codelist.Codelist=A:NOWHERE(1.0.0)"
    second = message({"dataflows": [later], "codelists": [codelist("B", extends=nowhere)]})
    records = ((FLOW.replace("DF", "DF2"), second), (FLOW, whole("A")))
    for is_read in (False, True):
        found = Structures(version(*records))
        found.get(FLOW.replace("DF", "DF2"))
        if is_read:
            found.companions()
        assert code_of(found) == "A"
    assert nowhere not in {str(dangling_reference.target) for dangling_reference in found.dangling_references()}
    moved = found.moved_to(version(records[0], number=2), [FLOW])
    assert code_of(moved) == "B"
    assert nowhere in {str(dangling_reference.target) for dangling_reference in moved.dangling_references()}


def test_a_search_decodes_only_messages_that_contain_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search decodes no message without the id, and no message at all where companions are not wanted."""
    others = [
        (f"{URN}codelist.Codelist=A:X{at}(1.0.0)", message({"codelists": [artefact(f"X{at}")]})) for at in range(50)
    ]
    snapshot = version(*others, (FLOW, whole()))
    read: list[bytes] = []
    real = read_message
    monkeypatch.setattr(
        module, "read_message", lambda *given, **options: read.append(given[0]) or real(*given, **options)
    )
    found = Structures(snapshot, cache=DecodeCache())
    assert LIST in found
    assert len(read) == 1
    alone = Structures(snapshot, cache=DecodeCache(), companions=False)
    assert LIST not in alone
    with pytest.raises(ArtefactNotFoundError):
        alone.get(LIST)
    assert len(read) == 1
    assert alone.companions() == {}


class Emptied(dict[Any, Any]):
    """A cache that another thread empties as soon as something is in it."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self.clear()


def test_a_search_succeeds_while_another_thread_empties_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of a search does not depend on whether the cache still contains it."""
    found = Structures(version((FLOW, whole())))
    monkeypatch.setattr(found._locator, "_missed", Emptied())
    assert code_of(found) == "A"


def test_a_bad_record_brings_nothing_along() -> None:
    """A record without its key's artefact, or that cannot be read, is bad as a whole and has no companions."""
    wrong = FLOW.replace("DF", "OTHER")
    found = Structures(version((wrong, whole()), (FLOW.replace("DF", "CL"), b'{"broken": "CL"')))
    assert LIST not in found
    assert len(found.unreadable_records()) == 2
    assert found.companions() == {}


def test_a_stub_that_came_along() -> None:
    """A stub among companions is found, and recognised as a stub."""
    flow = artefact("DF", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")
    stub = artefact("CL", isExternalReference=True)
    found = Structures(version((FLOW, message({"dataflows": [flow], "codelists": [stub]}))))
    assert found.codelist(LIST).is_stub
    with pytest.raises(UnreadableContentError, match="is a stub"):
        found.get(LIST.replace("Codelist=", "Code=") + ".A")


def test_a_scheme_without_its_fixed_id_is_found() -> None:
    """A scheme whose id the standard fixes is found although the message leaves the id out."""
    flow = artefact("DF", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")
    agencies = {"agencyID": "A", "version": "1.0", "name": "x", "agencies": [named("SUB")]}
    found = Structures(version((FLOW, message({"dataflows": [flow], "agencySchemes": [agencies]}))))
    agency = found.get(f"{URN}base.Agency=A:AGENCIES(1.0).SUB")
    assert isinstance(agency, Agency)
    assert agency.id == "SUB"


IDS = st.sampled_from("XYZ")
VERSIONS = st.sampled_from(["1.0.0", "1.1.0", "2.0.0-draft"])
RULES = VERSIONS | st.sampled_from(["1.0+.0", "*"])
PARTS = st.lists(st.tuples(IDS, VERSIONS, st.none() | st.tuples(IDS, RULES, st.booleans())), max_size=3)
CHANGES = st.lists(st.tuples(IDS, VERSIONS, PARTS, st.sampled_from(["put", "put", "delete", "break", "mistake"])))


def listing(id_: str, number: str, target: tuple[str, str, bool] | None) -> dict[str, Any]:
    """Return a value list or a scheme that refers to another list, or to a code in it."""
    held = artefact(id_, version=number, hierarchicalCodes=[])
    if target is not None:
        cls, item = ("Code", ".A") if target[2] else ("Codelist", "")
        urn = f"{URN}codelist.{cls}=A:{target[0]}({target[1]}){item}"
        held["hierarchicalCodes"] = [{"id": "C", "code": urn}] if item else []
        held["annotations"] = []
    return held


def record_of(id_: str, number: str, parts: list[Any], what: str) -> bytes:
    """Return a message of a codelist and its companions."""
    lists = {(id_, number): artefact(id_, version=number, codes=[named("A")] if len(parts) % 2 else [])}
    hierarchies = {}
    for part, its, target in parts:
        lists.setdefault((part, its), codelist_of(part, its, target))
        hierarchies[part, its] = listing(f"H{part}", its, target)
    if what == "mistake":
        del lists[id_, number]
    value = message({"codelists": list(lists.values()), "hierarchies": list(hierarchies.values())})
    return value[:-4] if what == "break" else value


def codelist_of(id_: str, number: str, target: tuple[str, str, bool] | None) -> dict[str, Any]:
    """Return a list of one code that may extend another."""
    refers = [{"codelist": f"{URN}codelist.Codelist=A:{target[0]}({target[1]})"}] if target else []
    return artefact(id_, version=number, codes=[named("A")], codelistExtensions=refers)


def everything(structures: Structures, is_indexed: bool) -> Any:
    """Return the answers to all queries on a version."""
    counts = structures.count_references() if is_indexed else None
    urns = [f"{URN}codelist.{cls}=A:{id_}({number})" for cls, prefix in (("Codelist", ""), ("Hierarchy", "H"))
            for id_ in (prefix + one for one in "XYZ")
            for number in ("1.0.0", "1.1.0", "2.0.0-draft", "1.0+.0", "*")]  # fmt: skip
    found = [answer(structures.get, urn) for urn in urns]
    if not is_indexed:
        return found
    codes = [f"{URN}codelist.Code=A:{id_}({number}).A" for id_ in "XYZ" for number in ("1.0.0", "1.0+.0")]
    queries = (structures.parents, structures.children, structures.ancestors, structures.descendants)
    family = [[answer(query, urn) for query in queries] for urn in urns + codes]
    dangling = structures.dangling_references()
    assert dangling.unreadable.keys() == structures.unreadable_records().keys()
    return found, family, counts, structures.companions(), (dangling, list(dangling.unreadable)), set(structures)


def answer(ask: Any, urn: str) -> Any:
    """Return the answer of a look-up, or its error."""
    try:
        found = ask(urn)
    except SdmxError as error:
        return type(error).__name__
    return found.urn if isinstance(found, Identifiable) else found


@pytest.mark.long
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(CHANGES, st.booleans()), max_size=5))
def test_the_indexes_are_kept_from_version_to_version(versions: list[tuple[list[Any], bool]]) -> None:
    """After any changes look-ups answer as fresh ones do, with and without indexes; earlier versions are unchanged."""
    records: dict[bytes, Record] = {}
    kept = Structures(FakeSnapshot(records, 0))
    past: list[tuple[Structures, Any]] = []
    for number, (changes, is_queried) in enumerate(versions, start=1):
        records, changed = dict(records), []
        for id_, its, parts, what in changes:
            key = f"{URN}codelist.Codelist=A:{id_}({its})".encode()
            changed.append(key)
            records.pop(key, None)
            if what != "delete":
                records[key] = record(key, record_of(id_, its, parts, what))
        kept = kept.moved_to(FakeSnapshot(records, number), changed)
        anew = Structures(FakeSnapshot(records, number))
        without_index = everything(anew, is_indexed=False)
        assert everything(kept, is_indexed=False) == without_index
        if is_queried:
            expected = everything(anew, is_indexed=True)
            assert expected[0] == without_index
            assert everything(kept, is_indexed=True) == expected
            past.append((kept, expected))
            assert everything(Structures(kept._snapshot).moved_to(kept._snapshot), is_indexed=True) == expected
    for structures, expected in past:
        assert everything(structures, is_indexed=True) == expected

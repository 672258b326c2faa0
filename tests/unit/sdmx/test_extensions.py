"""Expanded codelist extensions; codes selected by ids, patterns and cascades."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx import Code, Codelist, Structures, Urn, read_message, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, ExtensionError, UnreadableContentError
from kafka_replica.sdmx.lookups import extensions as module
from kafka_replica.sdmx.lookups.code_selection import matching_ids, selected_codes
from kafka_replica.sdmx.model import GeoGridCode, MemberValue
from support.effort import examples
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, record, rows
from support.sdmx.sdmx_json_samples import URN, artefact, message, named


def urn_of(reference: str) -> str:
    """Return the URN of a codelist of agency A."""
    return f"{URN}codelist.Codelist=A:{reference}"


def codes(text: str) -> list[dict[str, Any]]:
    """Return codes from a text such as "A B<A": a code, and one with a parent."""
    found = []
    for part in text.split():
        id_, _, parent = part.partition("<")
        found.append(named(id_, **({"parent": parent} if parent else {})))
    return found


def extension(of: str, prefix: str | None = None, include: Any = (), exclude: Any = ()) -> dict[str, Any]:
    """Return an extension; members are ids, patterns, or pairs with a cascade."""
    made: dict[str, Any] = {"codelist": urn_of(of)}
    if prefix is not None:
        made["prefix"] = prefix
    for name, members in (("inclusiveCodeSelection", include), ("exclusiveCodeSelection", exclude)):
        values = [member if isinstance(member, tuple) else (member, None) for member in members]
        if values:
            made[name] = {
                "memberValues": [
                    {"value": value} | ({} if cascade is None else {"cascadeValues": cascade})
                    for value, cascade in values
                ]
            }
    return made


def listing(id_: str, own: str = "", *extensions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a codelist."""
    return artefact(id_, codes=codes(own), codelistExtensions=list(extensions), **more)


def structures_of(*lists: dict[str, Any], **more: Any) -> Structures:
    """Return look-ups in a version of these codelists."""
    return Structures(FakeSnapshot.of(split_message(message({"codelists": list(lists)} | more))))


def expanded_codes(*lists: dict[str, Any], of: str = "X(1.0.0)") -> list[str]:
    """Return the codes of an expanded list, "A" or "B<A"."""
    return shown(structures_of(*lists).expand(f"A:{of}"))


def shown(codelist: Codelist) -> list[str]:
    """Return ids, each with its parent."""
    return [id_ if code.parent is None else f"{id_}<{code.parent}" for id_, code in codelist.codes.items()]


PARENT = listing("P", "A B<A C<B D<A Z")
TREE = listing("P", "A AB<A ABC<AB B BC<B")


def test_codes_of_the_extended_lists_come_in() -> None:
    """Codes of extended lists come first, in the order of the extensions, then the list's own.

    Of two codes with one id the later definition counts, at the later place.
    """
    indicator, series = listing("I", "A X Y"), listing("S", "A B")
    assert expanded_codes(indicator, series, listing("X", "E F", extension("I(1.0.0)"), extension("S(1.0.0)"))) == [
        "X", "Y", "A", "B", "E", "F",
    ]  # fmt: skip
    found = structures_of(
        artefact("I", codes=[named("A", name="of I", names={"en": "of I"}), named("X")]),
        artefact("S", codes=[named("A", name="of S", names={"en": "of S"}), named("B")]),
        listing("LATER", "", extension("I(1.0.0)"), extension("S(1.0.0)")),
        listing("OWN", "X", extension("I(1.0.0)")),
    )
    assert found.expand("A:LATER(1.0.0)").codes["A"].name() == "of S"
    own = found.expand("A:OWN(1.0.0)")
    assert list(own.codes) == ["A", "X"]
    assert own.codes["X"] is found.codelist("A:OWN(1.0.0)").codes["X"]


def test_prefixes_are_put_before_ids_and_parents() -> None:
    """Prefixes are put before ids and parents, and keep equal ids apart."""
    made = expanded_codes(
        PARENT, listing("X", "A", extension("P(1.0.0)", "P_"), extension("P(1.0.0)", "Q_", include=["A"]))
    )
    assert made == ["P_A", "P_B<P_A", "P_C<P_B", "P_D<P_A", "P_Z", "Q_A", "A"]


def test_codes_of_several_extensions_by_one_list_keep_their_parents() -> None:
    """The parent may be inherited by another extension, if that names the same list and has the same prefix."""
    twice = [extension("P(1.0.0)", include=["B"]), extension("P(1.0.0)", include=["C"])]
    assert expanded_codes(PARENT, listing("X", "", *twice)) == ["B", "C<B"]
    assert expanded_codes(PARENT, listing("X", "", *reversed(twice))) == ["C<B", "B"]
    other = extension("P(1.0.0)", "Q_", include=["B"])
    assert expanded_codes(PARENT, listing("X", "", other, twice[1])) == ["Q_B", "C"]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ([], [], "A AB<A ABC<AB B BC<B"),
        (["A", "BC"], [], "A BC"),
        (["AB%"], [], "AB ABC<AB"),
        (["%C"], [], "ABC BC"),
        (["%B%"], [], "AB ABC<AB B BC<B"),
        (["%"], [], "A AB<A ABC<AB B BC<B"),
        (["A%C", "NONE"], [], "ABC"),
        ([], ["AB"], "A ABC B BC<B"),
        ([], ["A%"], "B BC<B"),
        ([("A", True)], [], "A AB<A ABC<AB"),
        ([("A", False)], [], "A"),
        ([("A", "excluderoot")], [], "AB ABC<AB"),
        ([("A", "excluderoot"), "A"], [], "A AB<A ABC<AB"),
        ([("A%", "excluderoot")], [], ""),
        ([("_", True)], [], ""),
        ([], [("AB", True)], "A B BC<B"),
        ([], [("A", "excluderoot")], "A B BC<B"),
        ([], [("%", True)], ""),
    ],
)
def test_selections_use_the_ids_of_the_extended_list(include: Any, exclude: Any, expected: str) -> None:
    """Ids, patterns and cascades over all descendants select by the extended list's own ids, without prefixes."""
    extended = listing("X", "", extension("P(1.0.0)", include=include, exclude=exclude))
    assert expanded_codes(TREE, extended) == expected.split()
    prefixed = listing("X", "", extension("P(1.0.0)", "P", include=include, exclude=exclude))
    assert [
        expanded_code.replace("<P", "<")[1:] for expanded_code in expanded_codes(TREE, prefixed)
    ] == expected.split()


def test_parents_are_kept_where_they_can_be() -> None:
    """Parents are kept unless the parent is left out, or its id is a code of another list or the list's own.

    The list's own codes keep their parents.
    """
    assert expanded_codes(TREE, listing("X", "", extension("P(1.0.0)", exclude=["AB"]))) == ["A", "ABC", "B", "BC<B"]
    other = listing("O", "AB")
    assert expanded_codes(TREE, other, listing("X", "", extension("P(1.0.0)"), extension("O(1.0.0)"))) == [
        "A", "ABC", "B", "BC<B", "AB",
    ]  # fmt: skip
    assert expanded_codes(TREE, listing("X", "B NEW<ABC", extension("P(1.0.0)"))) == [
        "A", "AB<A", "ABC<AB", "BC", "B", "NEW<ABC",
    ]  # fmt: skip


def test_lists_extend_lists_that_extend() -> None:
    """Prefixes and selections of nested extensions accumulate; a selection covers all codes of the extended list."""
    made = expanded_codes(
        TREE,
        listing("M", "OWN<m_A", extension("P(1.0.0)", "m_", include=[("A", True)])),
        listing("X", "", extension("M(1.0.0)", "x_", exclude=["m_ABC"]), extension("P(1.0.0)", include=["B"])),
    )
    assert made == ["x_m_A", "x_m_AB<x_m_A", "x_OWN<x_m_A", "B"]


def test_an_expanded_list_is_a_plain_codelist() -> None:
    """An expanded list is a codelist with its own URNs, names and no extensions; the artefact itself is unchanged."""
    structures = structures_of(listing("P", "A B<A"), listing("X", "C", extension("P(1.0.0)", "P_")))
    found = structures.expand("A:X(1.0.0)")
    assert str(found.codes["P_B"].urn) == f"{URN}codelist.Code=A:X(1.0.0).P_B"
    assert found.codes["P_B"].name("fr") is None
    assert found.codes["P_B"].name("en") == "B"
    assert (found.extensions, found.is_partial, found.name("fr")) == ((), False, "X fr")
    assert structures.expand(found) is found
    own = structures.codelist("A:X(1.0.0)")
    assert list(own.codes) == ["C"]
    assert len(own.extensions) == 1
    plain = structures.codelist("A:P(1.0.0)")
    assert structures.expand(plain) is plain


def test_inherited_codes_are_found_by_their_urns() -> None:
    """A code of an extended list is an item of the extending list; excluded codes are not."""
    structures = structures_of(
        listing("P", "A B"), listing("X", "C", extension("P(1.0.0)", "P_", exclude=["B"])), listing("Y", "D")
    )
    found = structures.get(f"{URN}codelist.Code=A:X(1.0.0).P_A")
    assert isinstance(found, Code)
    assert found.name() == "A"
    for missing in ("X(1.0.0).P_B", "X(1.0.0).A", "Y(1.0.0).A"):
        with pytest.raises(ArtefactNotFoundError, match="has no Code"):
            structures.get(f"{URN}codelist.Code=A:{missing}")


def test_codes_of_any_class_come_in() -> None:
    """Grid cells stay grid cells, and a geographic list is found under the name of a codelist."""
    grid = artefact("G", geoType="GeoGridCodelist", gridDefinition="D", geoGridCodes=[named("A", geoCell="1")])
    more = artefact(
        "X", geoType="GeoGridCodelist", gridDefinition="D", geoGridCodes=[named("B", geoCell="2")],
        codelistExtensions=[{"codelist": f"{URN}codelist.Codelist=A:G(1.0.0)", "prefix": "G"}],
    )  # fmt: skip
    found = structures_of(geoGridCodelists=[grid, more]).expand("A:X(1.0.0)")
    cell = found.codes["GA"]
    assert isinstance(cell, GeoGridCode)
    assert (cell.geo_cell, cell.urn.cls, found.urn.cls) == ("1", "GeoGridCode", "GeoGridCodelist")


def test_a_list_of_partial_lists_is_partial() -> None:
    """A list that extends partial lists is partial, as codes may be missing."""
    lists = [listing("P", "A", isPartial=True), listing("M", "", extension("P(1.0.0)"))]
    structures = structures_of(*lists, listing("X", "", extension("M(1.0.0)")))
    assert structures.expand("A:X(1.0.0)").is_partial


def test_a_version_rule_means_the_newest_list() -> None:
    """A version rule in an extension means the newest list, as in any reference."""
    lists = [listing("P", "OLD"), listing("P", "NEW", version="1.2.0"), listing("P", "TOO_NEW", version="2.0.0")]
    assert expanded_codes(*lists, listing("X", "", extension("P(1.0+.0)"))) == ["NEW"]


@pytest.mark.parametrize(
    ("lists", "error", "reason"),
    [
        ([listing("X", "A", extension("X(1.0.0)"))], ExtensionError, "extends itself"),
        (
            [listing("X", "A", extension("Y(1.0.0)")), listing("Y", "B", extension("X(1.0.0)"))],
            ExtensionError,
            r"by A:X\(1\.0\.0\) -> A:Y\(1\.0\.0\)",
        ),
        ([listing("X", "A", extension("NONE(1.0.0)"))], ArtefactNotFoundError, r"expanding .*A:X.*A:NONE\(1\.0\.0\)"),
        (
            [artefact("P", isExternalReference=True), listing("X", "", extension("P(1.0.0)"))],
            UnreadableContentError,
            r"A:P\(1\.0\.0\): this record is.*stub",
        ),
        ([artefact("X", isExternalReference=True)], UnreadableContentError, "stub"),
        ([listing("P", "A"), listing("X", "", extension("P(1.0.0)", "a b"))], ExtensionError, "'a bA'.*prefix"),
        (
            [listing("P", "A"), listing("X", "", extension("P(1.0.0)", "Q" * 3_000))],
            ExtensionError,
            "3001 characters",
        ),
        (
            [*(listing(f"L{i}", "A", extension(f"L{i + 1}(1.0.0)")) for i in range(60)), listing("L60", "A"),
             listing("X", "", extension("L0(1.0.0)"))],
            ExtensionError,
            "more than 50 lists",
        ),
    ],
)  # fmt: skip
def test_an_unexpandable_list_is_named_with_the_reason(
    lists: list[dict[str, Any]], error: type[Exception], reason: str
) -> None:
    """The error names the list that was to be expanded, and the reason."""
    structures = structures_of(*lists)
    for _ in range(2):
        with pytest.raises(error, match=reason) as caught:
            structures.expand("A:X(1.0.0)")
        assert "X(1.0.0)" in str(caught.value)


def test_lists_that_double_lists_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty lists that each double the one before are a thousand million codes: an error comes before memory fills."""
    monkeypatch.setattr(module, "MAX_CODES", 5_000)
    lists = [listing("L0", "A")]
    lists += [listing(f"L{i}", "", *(extension(f"L{i - 1}(1.0.0)", one) for one in "ab")) for i in range(1, 31)]
    structures = structures_of(*lists)
    assert len(structures.expand("A:L12(1.0.0)").codes) == 4_096
    with pytest.raises(ExtensionError, match="more than 5000 codes"):
        structures.expand("A:L30(1.0.0)")


def test_an_expanded_list_is_made_again_only_when_it_changes() -> None:
    """An expanded list is made once while its sources are unchanged, even across versions; older ones keep theirs."""
    lists = {
        "P": listing("P", "A"),
        "M": listing("M", "", extension("P(1.0.0)")),
        "X": listing("X", "", extension("M(1.0.0)")),
        "Q": listing("Q", "Q"),
    }
    first = structures_of(*lists.values())
    made = first.expand("A:X(1.0.0)")
    assert first.expand("A:X(1.0.0)") is made
    second, _ = changed(first, lists | {"Q": listing("Q", "R")}, "Q")
    assert second.expand("A:X(1.0.0)") is made
    third, _ = changed(second, lists | {"P": listing("P", "A B")}, "P")
    assert list(third.expand("A:X(1.0.0)").codes) == ["A", "B"]
    assert list(first.expand("A:X(1.0.0)").codes) == ["A"]


def changed(structures: Structures, lists: dict[str, Any], id_: str) -> tuple[Structures, bytes]:
    """Return the next version, in which one list is changed."""
    parts = split_message(message({"codelists": list(lists.values())}))
    key = urn_of(f"{id_}(1.0.0)").encode()
    records = {bytes(part.urn): record(bytes(part.urn), part.value, part.content_type) for part in parts}
    return structures.moved_to(FakeSnapshot(records, structures.version + 1), [key]), key


def test_many_lists_are_kept_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used expanded lists are dropped and made again on request, with the same content."""
    monkeypatch.setattr("kafka_replica.sdmx.lookups.expansions.MAX_KEPT_CODES", 2)
    structures = structures_of(listing("P", "A"), *(listing(f"X{i}", "B", extension("P(1.0.0)")) for i in range(3)))
    first = structures.expand("A:X0(1.0.0)")
    assert structures.expand("A:X0(1.0.0)") is first
    structures.expand("A:X1(1.0.0)")
    again = structures.expand("A:X0(1.0.0)")
    assert again is not first
    assert again == first
    monkeypatch.setattr("kafka_replica.sdmx.lookups.expansions.MAX_KEPT_CODES", 4)
    used, unused = (structures.expand(f"A:X{i}(1.0.0)") for i in (0, 1))
    assert structures.expand("A:X0(1.0.0)") is used
    structures.expand("A:X2(1.0.0)")
    assert structures.expand("A:X0(1.0.0)") is used
    assert structures.expand("A:X1(1.0.0)") is not unused


def test_hostile_patterns_and_circles_take_no_time() -> None:
    """A pattern with many gaps is not a search among millions of ways, and circular parents terminate."""
    ids = {"a" * 200 + "b": None}
    assert matching_ids("%a" * 100 + "c", ids) == set()
    assert matching_ids("%a" * 100 + "%b", ids) == set(ids)
    lists = [listing("P", "A<C B<A C<B"), listing("X", "", extension("P(1.0.0)", include=[("A", "excluderoot")]))]
    assert expanded_codes(*lists) == ["B", "C<B"]


@given(st.text("ab%", max_size=6), st.sets(st.text("ab", min_size=1, max_size=5), max_size=8))
def test_patterns_agree_with_the_simplest_definition(pattern: str, ids: set[str]) -> None:
    """Patterns agree with the simplest definition: a gap is empty or begins with some letter."""

    def fits(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "%":
            return fits(pattern[1:], text) or (bool(text) and fits(pattern, text[1:]))
        return text[:1] == pattern[0] and fits(pattern[1:], text[1:])

    assert matching_ids(pattern, ids) == {id_ for id_ in ids if fits(pattern, id_)}


IDS = st.sampled_from(["A", "B", "C", "D"])
LISTS = st.lists(
    st.tuples(
        st.lists(st.tuples(IDS, st.none() | IDS), max_size=4, unique_by=lambda one: one[0]),
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["", "p", "q"]), st.sets(IDS, max_size=2)), max_size=2),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None)
@given(LISTS)
def test_random_extensions_have_the_counted_ids(lists: list[Any]) -> None:
    """Random lists that extend later ones have the counted ids, and parents of the same origin that exist."""
    made = [
        listing(
            f"L{number}",
            " ".join(id_ if parent is None else f"{id_}<{parent}" for id_, parent in own),
            *(extension(f"L{number + 1 + of}(1.0.0)", prefix, exclude=sorted(out))
              for of, prefix, out in extensions if number + 1 + of < len(lists)),
        )
        for number, (own, extensions) in enumerate(lists)
    ]  # fmt: skip

    def ids_of(number: int) -> set[str]:
        own, extensions = lists[number]
        found = {id_ for id_, _ in own}
        for of, prefix, out in extensions:
            if number + 1 + of < len(lists):
                found |= {prefix + each for each in ids_of(number + 1 + of) - out}
        return found

    structures = structures_of(*made)
    for number in range(len(lists)):
        found = structures.expand(f"A:L{number}(1.0.0)")
        assert set(found.codes) == ids_of(number)
        own = {id_ for id_, _ in lists[number][0]}
        for id_, code in found.codes.items():
            assert code.id == id_
            assert id_ in own or code.parent is None or (code.parent in found.codes and code.parent not in own)


def test_selections_of_codes() -> None:
    """A selection is a set of ids in any order, also for constraints; an empty selection selects nothing."""
    found = structures_of(TREE).codelist("A:P(1.0.0)").codes
    assert selected_codes([], found) == set()
    assert selected_codes([MemberValue("AB", "true"), MemberValue("B%", "0")], found) == {"AB", "ABC", "B", "BC"}
    assert selected_codes([MemberValue("AB", " TRUE ")], found) == {"AB", "ABC"}


def sample(ending: str) -> list[Any]:
    """Return the file of the corpus with this ending."""
    found = rows(("sdmx-ml", "3.0"))
    return [one for one in found if one.values[0] is None or one.values[0]["file"].endswith(ending)]


@pytest.mark.parametrize("row", sample("codelist_-_extended.xml"))
def test_the_standards_own_sample(row: dict[str, str]) -> None:
    """The age list of the standard's sample has five codes less one, and two of its own, counted by hand."""
    found = Structures(FakeSnapshot.of(split_message(data_of(row))))
    assert list(found.expand("EXAMPLE:CL_EXTENDED_AGE(1.0)").codes) == ["M", "W", "D", "H", "I", "S"]


def test_any_look_up_will_do() -> None:
    """The function works with any look-up, over artefacts that are in no replica."""
    lists = {
        one.urn: one
        for one in read_message(message({"codelists": [PARENT, listing("X", "", extension("P(1.0.0)"))]}))
        if isinstance(one, Codelist)
    }
    found = lists[Urn.parse(urn_of("X(1.0.0)"))]
    assert list(module.expand(found, lambda urn: lists[urn]).codes) == ["A", "B", "C", "D", "Z"]


@pytest.mark.parametrize("row", sample("codelist_-_discriminated_union.xml"))
def test_the_standards_discriminated_union(row: dict[str, str]) -> None:
    """The standard's discriminated union, with handmade lists of 2 and 3 codes, has 5 codes with their prefixes."""
    parts = split_message(data_of(row))
    key = "EXAMPLE:CL_ACTIVITY(1.0)"
    with pytest.raises(ArtefactNotFoundError, match=r"CL_ACTIVITY_NACE2\(1\.0\)"):
        Structures(FakeSnapshot.of(parts)).expand(key)
    lists = [
        listing("CL_ACTIVITY_NACE2", "A A01<A", version="1.0", agencyID="SDMX"),
        listing("CL_ACTIVITY_ISIC4", "A B TOTAL", version="1.0", agencyID="SDMX"),
    ]
    found = Structures(FakeSnapshot.of(parts + split_message(message({"codelists": lists}))))
    assert shown(found.expand(key)) == ["NACE2_A", "NACE2_A01<NACE2_A", "ISIC4_A", "ISIC4_B", "ISIC4_TOTAL"]

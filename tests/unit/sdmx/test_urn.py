"""URNs: parsing, refusing, and converting back to text."""

from __future__ import annotations

import contextlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.sdmx import Urn
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.urn import MAX_URN, order_of

FREQ = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)"

names = st.from_regex(r"[A-Za-z0-9_@$\-]{1,12}", fullmatch=True)
agencies = st.from_regex(r"[A-Za-z][A-Za-z0-9_\-]{0,6}(\.[A-Za-z][A-Za-z0-9_\-]{0,6}){0,2}", fullmatch=True)
versions = st.sampled_from(
    ["1.0", "2.1", "1.0.0", "10.2.33", "1.0.0-draft", "1.0.0-rc.1", "1.0+", "1+.0", "1.0+.0", "*", "~", "+", "3"]
)
items = st.none() | st.lists(names, min_size=1, max_size=3).map(".".join)


@pytest.mark.thorough
@given(st.sampled_from(sorted(CLASSES)), agencies, names, versions, items)
def test_every_urn_survives_text(class_: str, agency: str, id_: str, version: str, item: str | None) -> None:
    """Text and back gives an equal URN with equal parts and hash, for every class of the standard."""
    if item is None and not CLASSES[class_].is_maintainable:
        item = "X"
    urn = Urn.of(class_, agency, id_, version, item)
    again = Urn.parse(str(urn))
    assert again == urn
    assert hash(again) == hash(urn)
    assert Urn.parse(bytes(urn)) == urn
    assert (again.cls, again.agency, again.id, again.version, again.item) == (class_, agency, id_, version, item)
    assert Urn.of_reference(class_, urn.reference) == urn
    assert urn.maintainable.item is None
    assert pickle.loads(pickle.dumps(urn)) == urn


def test_urns_with_and_without_items_are_sorted_by_a_key() -> None:
    """An artefact comes before the items of the same class, as a hierarchy of 3.x before one of 2.1."""
    wanted = [Urn.of("Hierarchy", "A", "H", version, item) for version in ("1.0", "2.0") for item in (None, "X", "Y")]
    mixed = wanted[::-1]
    for key in (order_of, str):
        assert sorted(mixed, key=key) == wanted


@pytest.mark.thorough
@given(st.text() | st.text(alphabet="urn:sdmxCodelist=()+.*-1 \n").map(lambda text: FREQ[:50] + text))
def test_any_text_is_a_urn_or_a_urn_error(text: str) -> None:
    """Any text gives a URN equal to it, or UrnError."""
    with contextlib.suppress(UrnError):
        assert str(Urn.parse(text)) == text


@given(st.binary())
def test_any_bytes_are_a_urn_or_a_urn_error(data: bytes) -> None:
    """Any bytes, valid UTF-8 or not, give a URN or UrnError."""
    with contextlib.suppress(UrnError):
        assert bytes(Urn.parse(data)) == data


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Codelist=SDMX:CL_FREQ(2.1)",
        FREQ + "\n",
        FREQ + ".",
        FREQ + "..A",
        FREQ + ".A B",
        FREQ.replace("2.1", ""),
        FREQ.replace("2.1", "2..1"),
        FREQ.replace("2.1", "two"),
        FREQ.replace("2.1", "2.1\u0661"),
        FREQ.replace("SDMX:", ":"),
        FREQ.replace("SDMX:", "SDMX.:"),
        FREQ.replace("(", "").replace(")", ""),
        FREQ.replace("Codelist=", "="),
        FREQ.upper(),
        FREQ + ".A" * MAX_URN,
    ],
)
def test_texts_similar_to_a_urn_are_refused(text: str) -> None:
    """Texts similar to a URN are refused, each with a reason."""
    with pytest.raises(UrnError, match="reading the URN"):
        Urn.parse(text)


def test_a_huge_text_is_refused_at_once() -> None:
    """The length is bounded, and the message does not repeat the text."""
    with pytest.raises(UrnError) as caught:
        Urn.parse(FREQ[:-1] + "1" * 10_000_000)
    assert len(str(caught.value)) < 1000


def test_the_attributes_are_those_of_the_grammar() -> None:
    """The attributes are those of the standard's grammar."""
    urn = Urn.parse("urn:sdmx:org.sdmx.infomodel.categoryscheme.Category=A.B-C.D:CS(1.0.0-draft).X.Y")
    assert (urn.package, urn.cls, urn.agency, urn.id) == ("categoryscheme", "Category", "A.B-C.D", "CS")
    assert (urn.version, urn.item, urn.is_maintainable) == ("1.0.0-draft", "X.Y", False)
    assert str(urn.maintainable) == "urn:sdmx:org.sdmx.infomodel.categoryscheme.CategoryScheme=A.B-C.D:CS(1.0.0-draft)"


def test_a_urn_cannot_be_changed() -> None:
    """An assignment to a part of a URN is an error."""
    with pytest.raises(AttributeError):
        Urn.parse(FREQ).id = "X"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("class_", "item", "package", "maintainable"),
    [
        ("StructureMap", None, "structuremapping", "StructureMap"),
        ("StructureMap", "M", "mapping", "StructureSet"),
        ("Hierarchy", None, "codelist", "Hierarchy"),
        ("Hierarchy", "H", "codelist", "HierarchicalCodelist"),
        ("Agency", "BIS", "base", "AgencyScheme"),
        ("TimeDimension", "TIME_PERIOD", "datastructure", "DataStructure"),
        ("HierarchicalCode", "A", "codelist", "Hierarchy"),
    ],
)
def test_classes_that_changed_between_editions(class_: str, item: str | None, package: str, maintainable: str) -> None:
    """A class that is an item in 2.1 and maintainable in 3.x has the package of its edition."""
    urn = Urn.of(class_, "A", "X", "1.0", item)
    assert (urn.package, urn.maintainable.cls) == (package, maintainable)


def test_a_vendors_class() -> None:
    """A URN of an unknown class can be parsed; making one requires its package."""
    urn = Urn.parse("urn:sdmx:org.sdmx.infomodel.publicationtable.PublicationTable=A:T(1.0)")
    assert (urn.package, urn.cls, urn.maintainable) == ("publicationtable", "PublicationTable", urn)
    assert Urn.of("PublicationTable", "A", "T", "1.0", package="publicationtable") == urn
    with pytest.raises(UrnError, match="does not have this class"):
        Urn.of("PublicationTable", "A", "T", "1.0")


@pytest.mark.parametrize(
    ("class_", "agency", "id_", "version", "item"),
    [
        ("Codelist", "A B", "X", "1.0", None),
        ("Codelist", "A", "X)", "1.0", None),
        ("Codelist", "A", "X", "1.0)", None),
        ("Codelist", "A", "X", "1.0", "a."),
        ("Code", "A", "X", "1.0", None),
        ("Codelist", "A", "X" * 3000, "1.0", None),
        ("Codelist", "A" * 1000, "X" * 1000, "1.0", None),
    ],
)
def test_bad_parts_of_a_urn_are_refused(class_: str, agency: str, id_: str, version: str, item: str | None) -> None:
    """Results of ``of()`` can always be parsed again, so bad parts are refused."""
    with pytest.raises(UrnError):
        Urn.of(class_, agency, id_, version, item)


def test_a_reference_needs_its_version() -> None:
    """The short form is refused without a version; the error shows an example."""
    with pytest.raises(UrnError, match=r"SDMX:CL_FREQ\(2\.1\)"):
        Urn.of_reference("Codelist", "SDMX:CL_FREQ")

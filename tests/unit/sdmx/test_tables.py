"""Tables of codes: the same rows in pyarrow, polars and pandas."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import Codelist, read_message
from kafka_replica.sdmx.containers import StubItems
from kafka_replica.sdmx.errors import NotExpressibleError, UnreadableContentError
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.sdmx.tables import to_arrow, to_pandas, to_polars
from support.paths import SDMX_DATA

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

DATA = SDMX_DATA


def of_class(cls: str, name: str = "every_class.sdmx30.xml") -> Any:
    """Return the artefact of this class in a sample."""
    return next(one for one in read_message((DATA / name).read_bytes()) if one.urn.cls == cls)


def sample(id_: str) -> Any:
    """Return the artefact with this id in the package's samples."""
    return next(one for path in sample_files() for one in read_message(path.read_bytes()) if one.id == id_)


def test_a_table_has_the_codes_in_the_order_of_the_list() -> None:
    """A table has ids, parents, positions, names and their languages, in the order of the list."""
    areas = sample("CL_REF_AREA")
    table = to_arrow(areas)
    assert table.column("id").to_pylist() == list(areas.codes) == table.column("path").to_pylist()
    assert table.column("parent").to_pylist() == [code.parent for code in areas.codes.values()]
    assert table.column("position").to_pylist() == list(range(1, len(areas.codes) + 1))
    assert table.column("name").to_pylist() == [code.name() for code in areas.codes.values()]
    assert [dict(names or ()) for names in table.column("names").to_pylist()] == [
        dict(code.names) for code in areas.codes.values()
    ]
    assert set(table.column("urn").to_pylist()) == {str(areas.urn)}
    [french] = {language for code in areas.codes.values() for language in code.names} - {"en"} or {"en"}
    assert to_arrow(areas, language=french).column("name").to_pylist() == [
        code.name(french) for code in areas.codes.values()
    ]


def test_languages_as_columns() -> None:
    """Languages can be columns instead of a map; a missing text is null."""
    areas = sample("CL_REF_AREA")
    frame = to_polars(areas, languages=["en", "xx"])
    assert frame["name_en"].to_list() == [code.name("en") for code in areas.codes.values()]
    assert frame["name_xx"].null_count() == len(frame)
    assert not {"names", "descriptions"} & set(frame.columns)


EVERY = ["AgencyScheme", "CategoryScheme", "Codelist", "ConceptScheme", "Hierarchy", "Process", "ReportingTaxonomy"]


@pytest.mark.parametrize("cls", [*EVERY, "ValueList", "GeographicCodelist", "TransformationScheme"])
def test_the_libraries_agree(cls: str) -> None:
    """The three libraries have the same values for every class."""
    artefact = of_class(cls)
    rows = to_arrow(artefact).to_pylist(maps_as_pydicts="strict")
    assert rows
    assert to_pandas(artefact).to_dict("records") == rows
    frame = to_polars(artefact)
    assert frame.columns == list(rows[0])
    assert frame.drop("names", "descriptions", "annotations").to_dicts() == [
        {name: value for name, value in row.items() if name not in {"names", "descriptions", "annotations"}}
        for row in rows
    ]
    assert [{each["key"]: each["value"] for each in names} for names in frame["names"].to_list()] == [
        row["names"] for row in rows
    ]
    assert [[note["id"] for note in notes] for notes in frame["annotations"].to_list()] == [
        [one["id"] for one in row["annotations"]] for row in rows
    ]


def test_nested_items_have_a_row_each() -> None:
    """Nested items have a row each, parents first, with paths as in URNs."""
    categories = of_class("CategoryScheme")
    rows = to_arrow(categories).to_pylist()
    found = [one for top in categories.categories.values() for one in top.walk()]
    assert [row["path"] for row in rows] == [one.urn.item for one in found]
    assert [row["parent"] for row in rows] == [one.urn.item.rpartition(".")[0] or None for one in found]
    hierarchy = of_class("Hierarchy")
    rows = to_arrow(hierarchy).to_pylist()
    codes = list(hierarchy.walk())
    assert [(row["path"], row["code"], row["valid_from"]) for row in rows] == [
        (code.urn.item, str(code.code), code.valid_from) for code in codes
    ]
    old = of_class("HierarchicalCodelist", "old_classes.sdmx21.xml")
    assert {row["path"].partition(".")[0] for row in to_arrow(old).to_pylist()} == set(old.hierarchies)


def test_several_and_none() -> None:
    """Many artefacts are one table, identified by URN; none is an empty table with the same columns and types."""
    lists = [one for one in read_message(sample_files()[1].read_bytes()) if isinstance(one, Codelist)]
    table = to_arrow(lists)
    assert table.num_rows == sum(len(list_.codes) for list_ in lists)
    assert set(table.column("urn").to_pylist()) == {str(list_.urn) for list_ in lists}
    assert to_arrow([]).schema == table.schema
    assert to_polars([]).schema == to_polars(lists).schema
    assert list(to_pandas([]).columns) == table.column_names
    assert to_pandas([]).dtypes.to_list() == to_pandas(lists).dtypes.to_list()


def test_a_stub_has_no_table() -> None:
    """A stub, and an artefact without items, give errors."""
    areas = sample("CL_REF_AREA")
    with pytest.raises(UnreadableContentError, match="stub"):
        to_arrow(replace(areas, is_external_reference=True, codes=StubItems(areas.urn)))
    with pytest.raises(NotExpressibleError, match="a Dataflow is not made of items"):
        to_pandas(of_class("Dataflow"))


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [(to_arrow, "pyarrow", "arrow"), (to_polars, "polars", "polars"), (to_pandas, "pandas", "pandas")],
)
def test_without_the_library(monkeypatch: pytest.MonkeyPatch, make: Any, module: str, extra: str) -> None:
    """The error for a missing library names its extra."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"kafka-replica\[{extra}\]"):
        make(sample("CL_REF_AREA"))

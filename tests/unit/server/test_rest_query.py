"""Paths and query strings become queries or rejections, as the table of the grammar says."""

from __future__ import annotations

import itertools
import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.server.rest.grammar import ANY, NOT_IMPLEMENTED, RESOURCES, Api, Detail, Items, References, resources
from kafka_replica.server.rest.query import SchemaQuery, StructureQuery
from kafka_replica.server.rest.query_parser import MAX_LENGTH, parse_query
from kafka_replica.server.rest.rejections import Rejection
from support.effort import examples
from support.paths import TESTS

_MANY = ",".join(f"A{number}" for number in range(30))
_IDS = st.text(alphabet="ABCXYZ019_@$-", min_size=1, max_size=8)
_AGENCIES = st.lists(st.text(alphabet="ABCXYZ_", min_size=1, max_size=4), min_size=1, max_size=3).map(".".join)
_VERSIONS = {
    Api.V1: st.sampled_from(["1.0", "2.1", "latest", "all"]),
    Api.V2: st.sampled_from(["1.0", "1.0.0-draft", "+", "~", "*", "2+.0.1", "1.~.0", "latest"]),
}
_WORDS = (
    "structure", "v1", "v2", "schema", "codelist", "dataflow", "*", "all", "+", "~",
    "1.0+", ".",
)  # fmt: skip
_PARAMETERS = (
    "detail=raw", "references=all", "asOf=1",
    "=", "&", "%", "a=%ff",
)  # fmt: skip


def parsed(path: str, query: str = "") -> StructureQuery:
    """Return the structure query of a path."""
    found = parse_query(path, query)
    assert isinstance(found, StructureQuery), found
    return found


def rejected(path: str, query: str = "") -> Rejection:
    """Return the rejection of a path."""
    found = parse_query(path, query)
    assert isinstance(found, Rejection), found
    return found


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, StructureQuery]:
    """Return a path, a query string and the query that they mean, in any spelling."""
    api = draw(st.sampled_from(list(Api)))
    resource = draw(st.sampled_from([ANY[api], *resources(api).values()]))
    separator = {Api.V1: "+", Api.V2: ","}[api]
    agencies = draw(st.lists(_AGENCIES, max_size=3, unique=True))
    ids = draw(st.lists(_IDS, max_size=3, unique=True))
    versions = draw(st.lists(_VERSIONS[api], min_size=1, max_size=2, unique=True))
    items = [] if resource.items is Items.NONE else draw(st.lists(_IDS, max_size=2, unique=True))
    every = draw(st.sampled_from(["all", "*"]))
    parts = [resource.name, separator.join(agencies) or every, separator.join(ids) or every, separator.join(versions)]
    parts += [separator.join(items)] if items else []
    encoded = [quote(part, safe="" if draw(st.booleans()) else "+*~,@$") for part in parts]
    if items and resource.name == "valuelist":
        encoded[-1] = quote(parts[-1], safe=",")  # an encoded comma belongs to the id of a value
    prefix = "v1/" if api is Api.V1 else draw(st.sampled_from(["v2/structure/", "structure/"]))
    path = prefix + "/".join(encoded) + draw(st.sampled_from(["", "/"]))
    detail = draw(st.sampled_from([one for one in Detail if api is Api.V2 or one is not Detail.RAW]))
    allowed = [reference for reference in References if api is Api.V2 or reference is not References.ANCESTORS]
    references = draw(st.lists(st.sampled_from([*allowed, *resources(api)]), min_size=1, max_size=2, unique=True))
    parameters = [f"detail={detail}", f"references={','.join(references)}", *draw(st.sampled_from([[], ["_=1"]]))]
    meant = parsed(f"{api}/structure/*/*/*" if api is Api.V2 else "v1/structure/all/all", "")._replace(
        resource=resource,
        agencies=tuple(agencies),
        ids=tuple(ids),
        versions=parsed(path).versions,
        items=tuple(items),
        detail=detail,
        references=tuple(reference for reference in references if reference != "none"),
    )
    assert [version.text for version in meant.versions] == list(
        dict.fromkeys("*" if v == "all" else v for v in versions)
    )
    return path, "&".join(draw(st.permutations(parameters))), meant


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None)
@given(requests())
def test_any_spelling_of_a_request_means_its_query(request: tuple[str, str, StructureQuery]) -> None:
    """Percent-encoding, trailing slashes, the order of parameters and keywords make no difference.

    Only in items of value lists, a comma that is encoded differs from one that is not.
    """
    path, query, meant = request
    assert parse_query(path, query) == meant


@pytest.mark.parametrize("version", ["V1_3_0", "V1_5_0", "V2_0_0", "V2_2_2"])
@pytest.mark.parametrize("omit_defaults", [False, True])
def test_the_urls_of_pysdmx_mean_its_queries(version: str, *, omit_defaults: bool) -> None:
    """Every resource, detail and reference that pysdmx's builder offers for a version of the API is understood."""
    qb = pytest.importorskip("pysdmx.api.qb")
    structure = pytest.importorskip("pysdmx.api.qb.structure")
    api = qb.ApiVersion[version]
    ours = Api.V2 if version.startswith("V2") else Api.V1
    known = structure._API_RESOURCES[version.replace("_", ".")]
    details = [one for one in qb.StructureDetail if ours is Api.V2 or one.value != "raw"]
    references = [one for one in qb.StructureReference if _is_valid(structure, one, api)]
    pairs = itertools.zip_longest(details, references, fillvalue=None)
    choices = [(detail or details[0], reference or references[0]) for detail, reference in pairs]
    for kind in known:
        for detail, reference in choices if kind.value == "codelist" else choices[:2]:
            item = "A" if kind in structure.ITEM_SCHEMES else "*"
            query = qb.StructureQuery(kind, ["A", "B.C"], "ID", "1.0", item, detail, reference)
            path, _, parameters = query.get_url(api, omit_defaults).partition("?")
            found = parsed(path.replace(",", "%2C"), parameters)
            assert found.api is ours
            assert found.resource.name in {kind.value, "structure" if ours is Api.V1 else "*"}
            assert (found.agencies, found.ids, found.versions[0].text) == (("A", "B.C"), ("ID",), "1.0")
            assert (found.items, found.detail.value) == (("A",) if item == "A" else (), detail.value)
            assert found.references == (() if reference.value == "none" else (reference.value,))


def _is_valid(structure: Any, reference: Any, api: Any) -> bool:
    query = structure.StructureQuery(structure.StructureType.CODELIST, references=reference)
    try:
        return bool(query.get_url(api))
    except structure.Invalid:
        return False


def test_the_urls_of_sdmx1_mean_its_queries() -> None:
    """Every structure resource of sdmx1's builders of both versions of the API is understood."""
    v21, v30 = pytest.importorskip("sdmx.rest.v21"), pytest.importorskip("sdmx.rest.v30")
    common = pytest.importorskip("sdmx.rest.common")
    sdmx = pytest.importorskip("sdmx")
    source = sdmx.source.Source(id="A", url="http://x", name="x")
    seen = 0
    for module, api in ((v21, Api.V1), (v30, Api.V2)):
        for resource in common.Resource:
            if resource.value not in resources(api):
                continue
            url = module.URL(source, resource, agency_id="A", resource_id="B", version="1.0").join()
            path, _, parameters = url.removeprefix("http://x/").partition("?")
            found = parsed(path, parameters)
            assert (found.api, found.agencies, found.ids) == (api, ("A",), ("B",))
            seen += 1
    assert seen > 40


def test_the_urls_of_the_package_sdmx_rest_mean_its_queries() -> None:
    """Every resource, detail and reference of the JavaScript client (npm sdmx-rest 2.20.0), for 1.5 and 2.0."""
    lines = (TESTS / "support/server/data/sdmx_rest_js_urls.tsv").read_text().splitlines()
    assert len(lines) > 100
    for line in lines:
        version, url = line.split("\t")
        path, _, query = url.partition("?")
        found = parsed(path, query)
        segments = path.split("/")[1 if version.startswith("v2") else 0 :]
        assert (found.api, found.resource.name) == (version[:2], segments[0])
        assert len(found.agencies) == (
            0 if segments[1:2] in ([], ["all"], ["*"]) else len(re.split("[,+]", segments[1]))
        )


@pytest.mark.parametrize(
    ("path", "api", "resource", "agencies"),
    [
        ("", Api.V1, None, ()),
        ("structure", Api.V2, "*", ()),
        ("structure/*/ECB", Api.V2, "*", ("ECB",)),
        ("v2/structure/all/ECB", Api.V2, "*", ("ECB",)),
        ("structure/ECB/EXR", Api.V1, "structure", ("ECB",)),
        ("structure/all/all/latest", Api.V1, "structure", ()),
        ("codelist", Api.V1, "codelist", ()),
        ("/codelist/BIS+ECB/", Api.V1, "codelist", ("BIS", "ECB")),
        ("structure/codelist/BIS,ECB", Api.V2, "codelist", ("BIS", "ECB")),
        ("v1/codelist/BIS%2BECB", Api.V1, "codelist", ("BIS", "ECB")),
    ],
)
def test_the_path_determines_the_version_of_the_api(
    path: str, api: Api, resource: str | None, agencies: tuple[str, ...]
) -> None:
    """In 2.x a resource follows ``structure``; in 1.x the resource comes first and ``structure`` is one of them."""
    found = parse_query(path)
    if resource is None:
        assert isinstance(found, Rejection)
    else:
        assert isinstance(found, StructureQuery)
        assert (found.api, found.resource.name, found.agencies) == (api, resource, agencies)


def test_defaults_are_those_of_the_version_of_the_api() -> None:
    """Without a version, 2.x means the latest version, stable or not, and 1.x the one in production."""
    assert [version.text for version in parsed("structure/codelist").versions] == ["~"]
    assert [version.text for version in parsed("codelist").versions] == ["latest"]
    assert parsed("codelist").detail is Detail.FULL
    assert parsed("codelist").references == ()


def test_plus_signs_in_versions_of_1_x_separate_them_unless_nothing_follows() -> None:
    """``1.0+2.1`` is a list in 1.x, as specified; ``+`` and ``1.0+`` are expressions, in either encoding."""
    for plus in ("+", "%2B"):
        assert [version.text for version in parsed(f"codelist/A/B/1.0{plus}2.1").versions] == ["1.0", "2.1"]
        assert [version.text for version in parsed(f"codelist/A/B/1.0{plus}").versions] == ["1.0+"]
        assert [version.text for version in parsed(f"codelist/A/B/{plus}").versions] == ["+"]
        assert [version.text for version in parsed(f"structure/codelist/A/B/1.0{plus},2.0").versions] == ["1.0+", "2.0"]


@pytest.mark.parametrize(
    ("path", "query", "status", "text"),
    [
        ("codelists/A", "", 400, "'codelists' is not a resource"),
        ("v2/codelist/A", "", 400, "'codelist' cannot begin a query of 2.x"),
        ("v2/structure/structureset", "", 400, "structureset is a resource of v1 paths"),
        ("v1/hierarchy", "", 400, "hierarchy is a resource of v2 paths"),
        ("structure/dataflow/A/B/1.0/X", "", 400, "a dataflow has no items"),
        ("structure/codelist/A/B/1.0/X/Y", "", 400, "too many segments"),
        ("structure/codelist/A//1.0", "", 400, "empty segment"),
        ("structure/codelist/A:B", "", 400, "'A:B' is not a valid agencyID"),
        ("structure/codelist/A,", "", 400, "'' is not a valid agencyID"),
        ("structure/codelist/A/B.C", "", 400, "'B.C' is not a valid resourceID"),
        ("structure/codelist/A/B/one", "", 400, "'one' is not a version"),
        ("structure/codelist/A/B/+.2.3", "", 400, "use +.0.0"),
        ("structure/codelist/%FF", "", 400, "not UTF-8"),
        ("structure/codelist/A%2FB", "", 400, "'A/B' is not a valid agencyID"),
        ("structure/codelist", "detail=stubs", 400, "its values in v2 are full, allstubs"),
        ("codelist", "detail=raw", 400, "its values in v1"),
        ("codelist", "references=ancestors", 400, "its values in v1"),
        ("codelist", "references=hierarchy", 400, "its values in v1"),
        ("codelist", "refernces=all", 400, "'refernces' is not a parameter of this query"),
        ("codelist", "detail=full&detail=raw", 400, "two values"),
        ("codelist", "detail=", 400, "no value"),
        ("codelist", "asOf=yesterday", 400, "it must be a time"),
        ("schema/codelist/A/B", "", 400, "after schema the path names a context"),
        ("schema/dataflow/A", "", 400, "a schema query is"),
        ("schema/dataflow/all/B", "", 400, "names one agencyID"),
        ("schema/dataflow/A/B/*", "", 400, "names one version"),
        ("schema/dataflow/A/B/all", "", 400, "names one version"),
        ("schema/dataflow/A/B/1.*", "", 400, "names one version"),
        ("v2/schema/dataflow/A/B/*.0", "", 400, "names one version"),
        ("v2/schema/dataflow/A/B/1.0*", "", 400, "names one version"),
        ("v2/schema/dataflow/A/B/*.0.0", "", 400, "names one version"),
        ("v2/schema/dataflow/A/B/2*.0.0", "", 400, "names one version"),
        ("v2/schema/dataflow/A/B/2%2A.0.0", "", 400, "names one version"),
        ("codelist/" + "A" * MAX_LENGTH, "", 414, "longer than 8,192"),
        (f"structure/codelist/{_MANY}/{_MANY}/1.0,2.0,3.0,4.0", "", 400, "10800 combinations of class, agency, id"),
        (f"structure/*/{_MANY}/{_MANY}", "", 400, "combinations of class, agency, id and version are too many"),
        ("data/ECB,EXR", "", 501, "does not answer data queries"),
        ("v2/availability/dataflow/A/B", "", 501, "does not answer availability queries"),
        ("metadata/metadataset/A/B", "", 501, "does not answer metadata queries"),
    ],
)
def test_an_invalid_query_is_rejected_with_advice(path: str, query: str, status: int, text: str) -> None:
    """Each rejection has its HTTP status and names the part at fault and what is allowed instead."""
    found = rejected(path, query)
    assert found.status == status
    assert text in found.text


@pytest.mark.parametrize("version", ["1.0", "2.0.0-draft", "+", "~", "latest", "1.0+", "2+.0.0", "1.~", "1.0~"])
def test_a_schema_query_may_have_a_rule_that_selects_one_version(version: str) -> None:
    """Only wildcards are refused."""
    found = parse_query(f"v2/schema/dataflow/A/B/{version}")
    assert isinstance(found, SchemaQuery)
    assert found.version.text == version


def test_long_queries_are_parsed_again_and_not_kept() -> None:
    """Only short queries are cached, because a client determines the size of a parsed query, and their number."""
    short = "structure/codelist/ECB/CL/1.0,2.0"
    assert parse_query(short) is parse_query(short)
    versions = ",".join(str(number) for number in range(10, 1_800))
    path = f"structure/codelist/ECB/CL/{versions}"
    first, again = parsed(path), parsed(path)
    assert (first is again, first == again, len(first.versions)) == (False, True, 1_790)
    query = "references=" + ",".join(["codelist"] * 200)
    assert parsed("structure/codelist", query) is not parsed("structure/codelist", query)


@pytest.mark.parametrize(
    ("path", "items"),
    [
        ("structure/valuelist/A/B/1.0/x,y", ("x", "y")),
        ("structure/valuelist/A/B/1.0/x%2Cy", ("x,y",)),
        ("structure/valuelist/A/B/1.0/x%2Cy,z/", ("x,y", "z")),
        ("structure/*/A/B/1.0/x%2Cy", ("x,y",)),
        ("structure/codelist/A/B/1.0/x%2Cy", ("x", "y")),
        ("structure/codelist/A/B/1.0/all", ("all",)),
        ("structure/codelist/A/B/1.0/*", ()),
        ("structure/codelist/A/B/1.0/x,*", ()),
        ("codelist/A/B/1.0/all", ()),
        ("codelist/A/B/1.0/x+y", ("x", "y")),
        ("v1/structure/A/B/1.0/x%2By", ("x", "y")),
    ],
)
def test_items_are_separated_as_the_resource_requires(path: str, items: tuple[str, ...]) -> None:
    """An encoded comma may belong to the id of a value; only 1.x reserves ``all``."""
    assert parsed(path).items == items


@pytest.mark.parametrize("as_of", ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00+02:00", "2026-01-31", "1042"])
def test_the_parameter_as_of_is_an_instant_or_the_number_of_a_version(as_of: str) -> None:
    """A plus sign in a query string means itself, encoded or not."""
    assert parsed("codelist", f"asOf={as_of}").as_of == as_of
    assert parsed("codelist", f"asOf={quote(as_of, safe='')}").as_of == as_of


def test_a_schema_query_names_one_artefact() -> None:
    """The context and its artefact are parsed; parameters of XML schemas are allowed."""
    found = parse_query("v1/schema/dataflow/ECB/EXR/latest", "explicitMeasure=false&dimensionAtObservation=TIME_PERIOD")
    assert isinstance(found, SchemaQuery)
    assert (found.context.name, found.agency, found.id, found.version.text) == ("dataflow", "ECB", "EXR", "latest")


@pytest.mark.parametrize(("prefix", "api"), [("", Api.V1), ("v1/", Api.V1), ("v2/", Api.V2)])
def test_a_schema_query_without_a_version_of_the_api_is_of_1_x(prefix: str, api: Api) -> None:
    """Paths without a version belong to 1.x, as in FMR, unless they begin with ``structure`` and a resource."""
    found = parse_query(f"{prefix}schema/dataflow/ECB/EXR")
    assert isinstance(found, SchemaQuery)
    assert (found.api, found.version.text) == (api, "latest" if api is Api.V1 else "~")


def test_the_table_names_existing_classes_once_in_each_version_of_the_api() -> None:
    """A row selects classes of SDMX; in one version of the API no two rows select the same class in the same role."""
    for api in Api:
        rows = resources(api).values()
        assert all(cls in CLASSES for row in rows for cls in row.classes)
        own = [
            (cls, row.role)
            for row in rows
            if row.name not in {"organisationscheme", "namealiasscheme"}
            for cls in row.classes
        ]
        assert len(own) == len(set(own))
    assert not set(RESOURCES) & set(NOT_IMPLEMENTED)


@pytest.mark.thorough
@pytest.mark.scaled
@settings(max_examples=examples(300, long=500, proof=10_000), deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(_WORDS),
            st.text(max_size=12),
            st.binary(max_size=6).map(lambda data: "".join(f"%{byte:02x}" for byte in data)),
        ),
        max_size=8,
    ).map("/".join),
    st.lists(st.sampled_from(_PARAMETERS), max_size=3).map("&".join),
)  # fmt: skip
@example("%", "%")
@example("\ud800", "")
@example("//", "&&")
def test_no_path_raises(path: str, query: str) -> None:
    """Any text is a query or a rejection with a status of the client's error or 501."""
    found = parse_query(path, query)
    assert not isinstance(found, Rejection) or found.status in {400, 414, 501}


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("schema/dataflow/A/B/1.0", Api.V1),
        ("schema/metadataprovisionagreement/A/B/1.0", Api.V2),
        ("v2/schema/dataflow/A/B/1.0", Api.V2),
    ],
)
def test_a_schema_query_without_the_version_of_its_api(path: str, api: Api) -> None:
    """The query is one of 1.x, unless only 2.x has its context."""
    found = parse_query(path)
    assert isinstance(found, SchemaQuery)
    assert found.api is api

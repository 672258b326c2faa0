"""Random artefacts whose small parts are those of all editions: dates, zones, addresses, formats, positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.formats.shared.reading.identity import FIXED_IDS
from kafka_replica.sdmx.formats.shared.writing.rewriting import FieldChanges
from kafka_replica.sdmx.model import (
    AgencyScheme,
    Artefact,
    Categorisation,
    Contact,
    DataProviderScheme,
    DataStructure,
    Dimension,
    Link,
    Measure,
    OrganisationScheme,
    OrganisationUnitScheme,
    ProvisionAgreement,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.model.organisations import Agency, DataProvider, OrganisationUnit
from kafka_replica.sdmx.model.representation import Representation, SentinelValue, TextFormat
from kafka_replica.sdmx.urns.urn import Urn
from support.sdmx.sdmx_models import (
    IDS,
    LANGUAGES,
    TEXTS,
    TODAY,
    annotation_lists,
    data_structures,
    international,
    maintained,
    named,
    some,
    urns,
)

ZONES: Final = st.sampled_from(["", "Z", "+05:30"])
DAYS: Final = st.sampled_from(["1999-12-31", "2020-02-29"])
INSTANTS: Final = st.builds(
    "{}T{}{}".format, DAYS, st.sampled_from(["00:00:00", "23:59:59", "12:00:00.5", "12:00:00.0001"]), ZONES
)
DATES: Final = INSTANTS | DAYS | st.builds("{}{}".format, DAYS, ZONES)
PERIODS: Final = DATES | st.sampled_from(["2020", "2020-01", "2020-Q1"])
ADDRESSES: Final = st.sampled_from(["https://example.org/a?b=c#d", "urn:x:y", "files/a.xml", "www.example.org", "ü"])
NUMBERS: Final = st.none() | st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-10, max_value=10**6, places=1
)
COUNTS: Final = st.none() | st.integers(0, 5)
TYPES: Final = st.sampled_from([
    None, "String", "Alpha", "AlphaNumeric", "Integer", "Decimal", "Boolean", "URI", "XHTML", "GregorianYear", "Time",
    "DateTime", "ObservationalTimePeriod", "GeospatialInformation", "Duration", "Count",
])  # fmt: skip
FORMATS: Final = st.builds(
    TextFormat,
    text_type=TYPES,
    is_sequence=st.none() | st.booleans(),
    is_multi_lingual=st.none() | st.booleans(),
    min_length=COUNTS,
    max_length=st.none() | st.integers(1, 9),
    min_value=NUMBERS,
    interval=NUMBERS,
    start_time=st.none() | PERIODS,
    end_time=st.none() | PERIODS,
    time_interval=st.none() | st.just("P1D"),
    decimals=st.none() | st.integers(1, 3),
    pattern=st.none() | TEXTS,
    sentinel_values=some(st.builds(SentinelValue, value=IDS, names=international(1)), 1),
)
REPRESENTATIONS: Final = st.builds(
    Representation,
    enumeration=st.none() | urns("Codelist") | urns("ValueList"),
    format=st.none() | FORMATS,
    min_occurs=COUNTS,
    max_occurs=st.none() | st.integers(1, 5) | st.just("unbounded"),
)
LINKS: Final = st.builds(
    Link,
    rel=IDS,
    url=st.none() | ADDRESSES,
    urn=st.none() | urns("Codelist").map(str) | urns("GeoGridCodelist").map(str),
    type=st.none() | IDS,
    uri=st.none() | ADDRESSES,
    hreflang=st.none() | LANGUAGES,
    titles=international(),
)
CONTACTS: Final = st.builds(
    Contact,
    id=st.none() | IDS,
    names=international(),
    departments=international(),
    roles=international(),
    telephones=some(TEXTS),
    faxes=some(TEXTS),
    x400s=some(TEXTS),
    uris=some(ADDRESSES),
    emails=some(st.sampled_from(["a@example.org", "somebody"])),
)
"""Parts that are valid in one edition or another."""


@st.composite
def organisation_schemes(draw: Any) -> OrganisationScheme:
    """Draw a scheme of agencies, data providers or units."""
    scheme, class_ = draw(st.sampled_from([
        (AgencyScheme, Agency), (DataProviderScheme, DataProvider), (OrganisationUnitScheme, OrganisationUnit),
    ]))  # fmt: skip
    base = draw(maintained(scheme.__name__))
    fixed = FIXED_IDS.get(scheme.__name__)
    if fixed is not None:
        base["urn"] = Urn.of(scheme.__name__, base["urn"].agency, fixed, "1.0")
    found = {
        id_: class_(urn=base["urn"].with_item(class_.__name__, id_), contacts=draw(some(CONTACTS, 2)), **named(draw))
        for id_ in draw(st.lists(IDS, unique=True, max_size=3))
    }
    return scheme(organisations=Items(found), **base)


@st.composite
def categorisations(draw: Any) -> Categorisation:
    """Draw a dataflow in a category."""
    source, target = draw(urns("Dataflow")), draw(urns("Category", item=True))
    return Categorisation(source=source, target=target, **draw(maintained("Categorisation")))


@st.composite
def provision_agreements(draw: Any) -> ProvisionAgreement:
    """Draw a provision agreement."""
    base = draw(maintained("ProvisionAgreement"))
    provider = Urn.of("DataProvider", draw(IDS), "DATA_PROVIDERS", "1.0", draw(IDS))
    return ProvisionAgreement(structure_usage=draw(urns("Dataflow")), data_provider=provider, **base)


@st.composite
def value_lists(draw: Any) -> ValueList:
    """Draw a value list."""
    value = st.builds(ValueItem, id=TEXTS, names=international(1), annotations=annotation_lists())
    return ValueList(value_items=draw(some(value)), **draw(maintained("ValueList")))


@st.composite
def time_series(draw: Any) -> DataStructure:
    """Draw a data structure with a time dimension at any place, and perhaps the primary measure of 2.1."""
    one = draw(data_structures())
    time = Dimension(
        urn=one.urn.with_item("TimeDimension", "TIME_PERIOD"),
        concept=draw(urns("Concept", item=True)),
        representation=draw(st.none() | st.builds(Representation, format=st.builds(TextFormat, text_type=TYPES))),
        position=draw(st.integers(1, 3)),
    )
    dimensions = draw(st.permutations([*one.dimension_list.items(), ("TIME_PERIOD", time)]))
    found = replace(one, dimension_list=Items(dict(dimensions)))
    if draw(st.booleans()):
        primary = Measure(
            urn=one.urn.with_item("PrimaryMeasure", "OBS_VALUE"), concept=draw(urns("Concept", item=True))
        )
        found = replace(found, measures=Items({"OBS_VALUE": primary}))
    return found


OTHERS: Final = st.one_of(
    organisation_schemes(), categorisations(), provision_agreements(), value_lists(), time_series(),
)  # fmt: skip

VARIED: Final[dict[str, st.SearchStrategy[Any]]] = {
    "Maintainable.valid_from": PERIODS,
    "Maintainable.valid_to": PERIODS,
    "HierarchicalCode.valid_from": PERIODS,
    "RepresentationMapping.valid_from": DATES,
    "RepresentationMapping.valid_to": DATES,
    "SelectedValue.valid_from": PERIODS,
    "Region.valid_to": PERIODS,
    "Maintainable.is_final": st.just(True),
    "Maintainable.is_partial": st.booleans(),
    "Maintainable.is_partial_language": st.just(True),
    "Maintainable.structure_url": ADDRESSES,
    "Identifiable.uri": ADDRESSES,
    "Identifiable.links": some(LINKS, 2),
    "Annotation.value": TEXTS,
    "Annotation.urls": st.builds(lambda url: InternationalString([("en", url)]), ADDRESSES),
    "Component.representation": REPRESENTATIONS,
    "Concept.core_representation": REPRESENTATIONS,
    "Dimension.position": st.integers(1, 9),
    "MappedValue.start_index": st.integers(0, 3),
    "MappedValue.end_index": st.integers(3, 5),
    "MemberSelection.remove_prefix": st.booleans(),
}
"""The replacements of a field."""


@st.composite
def varied(draw: Any) -> Artefact:
    """Return an artefact with some of its fields changed, wherever they occur."""
    artefact = draw(TODAY | OTHERS)
    fields = draw(st.lists(st.sampled_from(sorted(VARIED)), max_size=3, unique=True))
    return FieldChanges([{field: _drawn(draw, VARIED[field]) for field in fields}]).apply(artefact)


def _drawn(draw: Callable[[st.SearchStrategy[Any]], Any], one: st.SearchStrategy[Any]) -> Callable[[Any, Any], Any]:
    return lambda _found, _owner: draw(one)

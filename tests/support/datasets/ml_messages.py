"""Data written as SDMX-ML in every layout, from one description of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final, Literal, TypeAlias
from xml.sax.saxutils import quoteattr

Row: TypeAlias = dict[str, str]
Place: TypeAlias = Literal["before", "between", "after"]

DIMENSIONS: Final = ("FREQ", "AREA", "TIME_PERIOD")
ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "SET": (), "A_NAME": ("AREA",), "F_NAME": ("FREQ",), "NOTE": ("FREQ", "AREA"), "ST": DIMENSIONS,
}  # fmt: skip
"""The dimensions that each attribute depends on."""
GROUPED: Final = ("A_NAME", "F_NAME")
REFERENCE: Final = "T:D(1.0)"
BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas"
DSD: Final = f"urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure={REFERENCE}"
XSI: Final = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


@dataclass(frozen=True)
class Data:
    """Observations by key, and attributes by the values of the dimensions that they depend on."""

    values: Mapping[tuple[str, ...], str]
    attributes: Mapping[str, Mapping[tuple[str, ...], str]]

    def attribute(self, name: str, row: Row) -> str | None:
        """Return the value of an attribute in a row."""
        return self.attributes[name].get(tuple(row[one] for one in ATTRIBUTES[name]))

    def rows(self) -> list[Row]:
        """Return the rows that every layout must give."""
        found = []
        for key, value in sorted(self.values.items()):
            row = dict(zip(DIMENSIONS, key, strict=True))
            given = {name: self.attribute(name, row) for name in ATTRIBUTES}
            found.append(row | {"OBS_VALUE": value} | {name: one for name, one in given.items() if one})
        return found

    def groups(self) -> Iterator[tuple[str, Row, Row]]:
        """Yield the id, the key and the attributes of each group that has rows."""
        for name in GROUPED:
            dimensions = ATTRIBUTES[name]
            for key, value in self.attributes[name].items():
                part = dict(zip(dimensions, key, strict=True))
                if any(part.items() <= row.items() for row in self.rows()):
                    yield f"G_{name}", part, {name: value}

    def series(self, at_observation: str | None) -> Iterator[tuple[Row, Row, list[tuple[Row, Row]]]]:
        """Yield key, attributes, and observations with attributes of each series; a flat one is one empty series."""
        key = [one for one in DIMENSIONS if one != at_observation] if at_observation else []
        levels = {name: set(of) <= set(key) for name, of in ATTRIBUTES.items() if name not in ("SET", *GROUPED)}

        def part(row: Row) -> list[str]:
            return [row[one] for one in key]

        for values, found in groupby(sorted(self.rows(), key=part), key=part):
            rows = list(found)
            above = {name: rows[0][name] for name, is_above in levels.items() if is_above and name in rows[0]}
            observations = [
                ({one: row[one] for one in DIMENSIONS if one not in key} | {"OBS_VALUE": row["OBS_VALUE"]},
                 {name: row[name] for name, is_above in levels.items() if not is_above and name in row})
                for row in rows
            ]  # fmt: skip
            yield dict(zip(key, values, strict=True)), above, observations


def arranged(groups: Sequence[str], series: Sequence[str], place: Place) -> str:
    """Return the elements of groups before, between or after those of series."""
    middle = {"before": 0, "between": len(series) // 2, "after": len(series)}[place]
    return "\n".join([*series[:middle], *groups, *series[middle:]])


def xml(row: Row) -> str:
    """Return components as XML attributes."""
    return "".join(f" {name}={quoteattr(value)}" for name, value in row.items())


def _header(version: str, at_observation: str | None) -> str:
    reference = '<Ref agencyID="T" id="D" version="1.0"/>'
    if version != "v2_1":
        reference = f"urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure={REFERENCE}"
    return (
        f'<m:Header><m:ID>t</m:ID><m:Structure structureID="S" namespace="urn:x" '
        f'dimensionAtObservation="{at_observation or "AllDimensions"}"><c:Structure>{reference}</c:Structure>'
        "</m:Structure></m:Header>"
    )


def _namespaces(version: str) -> str:
    base = f"http://www.sdmx.org/resources/sdmxml/schemas/{version}"
    return (
        f'xmlns:m="{base}/message" xmlns:c="{base}/common" xmlns:ss="{base}/data/structurespecific" '
        f'xmlns:g="{base}/data/generic" xmlns:n="urn:x" {XSI}'
    )


def specific(data: Data, at_observation: str | None, place: Place, version: str = "v2_1") -> str:
    """Return a structure-specific message, with series or flat."""
    groups = [f'<Group xsi:type="n:{id_}"{xml(key | own)}/>' for id_, key, own in data.groups()]
    series = []
    for key, above, observations in data.series(at_observation):
        inner = [f"<Obs{xml(own | attributes)}/>" for own, attributes in observations]
        series += [f"<Series{xml(key | above)}>{''.join(inner)}</Series>"] if at_observation else inner
    return (
        f"<m:StructureSpecificData {_namespaces(version)}>{_header(version, at_observation)}"
        f'<m:DataSet ss:structureRef="S" xsi:type="n:DataSetType" ss:action="Append"{xml(_set(data))}>'
        f"{arranged(groups, series, place)}</m:DataSet></m:StructureSpecificData>"
    )


def _values(name: str, row: Row, attribute: str = "id") -> str:
    inner = "".join(f"<g:Value {attribute}={quoteattr(one)} value={quoteattr(value)}/>" for one, value in row.items())
    return f"<g:{name}>{inner}</g:{name}>" if row else ""


def generic(data: Data, at_observation: str | None, place: Place) -> str:
    """Return a generic message of 2.1, with series or flat."""
    groups = [
        f'<g:Group type="{id_}">{_values("GroupKey", key)}{_values("Attributes", own)}</g:Group>'
        for id_, key, own in data.groups()
    ]
    series = []
    for key, above, observations in data.series(at_observation):
        inner = []
        for own, attributes in observations:
            named = {one: own[one] for one in own if one != "OBS_VALUE"}
            dimensions = _values("ObsKey", named)
            if at_observation:
                dimensions = f"<g:ObsDimension value={quoteattr(own[at_observation])}/>"
            inner.append(
                f"<g:Obs>{dimensions}<g:ObsValue value={quoteattr(own['OBS_VALUE'])}/>"
                f"{_values('Attributes', attributes)}</g:Obs>"
            )
        whole = f"{_values('SeriesKey', key)}{_values('Attributes', above)}{''.join(inner)}"
        series += [f"<g:Series>{whole}</g:Series>"] if at_observation else inner
    return (
        f"<m:GenericData {_namespaces('v2_1')}>{_header('v2_1', at_observation)}"
        f'<m:DataSet structureRef="S" action="Append">{_values("Attributes", _set(data))}'
        f"{arranged(groups, series, place)}</m:DataSet></m:GenericData>"
    )


def _set(data: Data) -> Row:
    value = data.attributes["SET"].get(())
    return {} if value is None else {"SET": value}


_OLD: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
_OLD_HEADER: Final = (
    "<Header><ID>t</ID><KeyFamilyRef>D</KeyFamilyRef><KeyFamilyAgency>T</KeyFamilyAgency>"
    "<DataSetAction>Append</DataSetAction></Header>"
)


def compact(data: Data, place: Place) -> str:
    """Return a compact message of 2.0, whose groups are elements with their names."""
    groups = [f"<k:{id_}{xml(key | own)}/>" for id_, key, own in data.groups()]
    series = [
        f"<k:Series{xml(key | above)}>{''.join(f'<k:Obs{xml(own | more)}/>' for own, more in observations)}</k:Series>"
        for key, above, observations in data.series("TIME_PERIOD")
    ]
    return (
        f'<CompactData xmlns="{_OLD}/message" xmlns:k="urn:x:compact">{_OLD_HEADER}<k:DataSet{xml(_set(data))}>'
        f"{arranged(groups, series, place)}</k:DataSet></CompactData>"
    )


def generic_2_0(data: Data, place: Place) -> str:
    """Return a generic message of 2.0."""
    groups = [
        f'<g:Group type="{id_}">{_values("GroupKey", key, "concept")}{_values("Attributes", own, "concept")}</g:Group>'
        for id_, key, own in data.groups()
    ]
    series = []
    for key, above, observations in data.series("TIME_PERIOD"):
        inner = "".join(
            f"<g:Obs><g:Time>{own['TIME_PERIOD']}</g:Time><g:ObsValue value={quoteattr(own['OBS_VALUE'])}/>"
            f"{_values('Attributes', more, 'concept')}</g:Obs>"
            for own, more in observations
        )
        own = _values("SeriesKey", key, "concept") + _values("Attributes", above, "concept")
        series.append(f"<g:Series>{own}{inner}</g:Series>")
    return (
        f'<GenericData xmlns="{_OLD}/message" xmlns:g="{_OLD}/generic">{_OLD_HEADER}<DataSet>'
        f"<g:KeyFamilyRef>D</g:KeyFamilyRef>{_values('Attributes', _set(data), 'concept')}"
        f"{arranged(groups, series, place)}</DataSet></GenericData>"
    )


def cross_sectional(data: Data) -> str:
    """Return a cross-sectional message of 2.0: a group per period, a section per frequency."""
    groups = []
    for key, _, observations in data.series("AREA"):
        found = []
        for own, _ in observations:
            row = next(one for one in data.rows() if (key | own).items() <= one.items())
            rest = {name: value for name, value in row.items() if name not in (*key, "OBS_VALUE", "SET")}
            found.append(f'<k:Obs value="{own["OBS_VALUE"]}"{xml(rest)}/>')
        section = f'<k:Section FREQ="{key["FREQ"]}">{"".join(found)}</k:Section>'
        groups.append(f'<k:Group TIME_PERIOD="{key["TIME_PERIOD"]}">{section}</k:Group>')
    return (
        f'<CrossSectionalData xmlns="{_OLD}/message" xmlns:k="urn:x:cross">{_OLD_HEADER}<k:DataSet{xml(_set(data))}>'
        f"{''.join(groups)}</k:DataSet></CrossSectionalData>"
    )


def _specific_at(at: str | None, version: str, data: Data, place: Place) -> str:
    return specific(data, at, place, version)


def _generic_at(at: str | None, data: Data, place: Place) -> str:
    return generic(data, at, place)


LAYOUTS: Final[Mapping[str, Callable[[Data, Place], str]]] = {
    **{
        f"specific {version} {at}": partial(_specific_at, at, version)
        for version in ("v2_1", "v3_0", "v3_1")
        for at in (*DIMENSIONS, None)
    },
    **{f"generic {at}": partial(_generic_at, at) for at in (*DIMENSIONS, None)},
    "compact": compact,
    "generic 2.0": generic_2_0,
    "cross-sectional": lambda data, place: cross_sectional(data),
}
"""Writers of the data, by layout."""


def message(body: str, at: str = "TIME_PERIOD", *, kind: str = "StructureSpecific", more: str = "") -> str:
    """Return a message with a data set in its third line; its structure is T:D(1.0)."""
    version = "v2_1" if kind == "Generic" else "v3_0"
    reference = '<Ref agencyID="T" id="D" version="1.0"/>' if kind == "Generic" else DSD
    return (
        f'<m:{kind}Data xmlns:m="{BASE}/{version}/message" xmlns:c="{BASE}/{version}/common" '
        f'xmlns:ss="{BASE}/{version}/data/structurespecific" xmlns:g="{BASE}/{version}/data/generic" xmlns:n="urn:n" '
        f'xmlns:x="urn:extension" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n<m:Header><m:ID>t</m:ID>'
        "<m:Test>false</m:Test><m:Prepared>2020-01-01T00:00:00</m:Prepared><m:Sender id='X'/>"
        f'<m:Structure structureID="S" namespace="urn:n" dimensionAtObservation="{at}" {more}>'
        f"<c:Structure>{reference}</c:Structure></m:Structure></m:Header>\n"
        f'<m:DataSet {"" if kind == "Generic" else "ss:"}structureRef="S">{body}</m:DataSet></m:{kind}Data>'
    )

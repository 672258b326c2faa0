"""A naive reading of SDMX-ML data messages as a tree, written from the schemas, to compare the real one with.

It holds the whole message in memory, checks nothing, and looks at every group for every observation.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree

Row = dict[str, Any]
_XSI_TYPE: Final = "{http://www.w3.org/2001/XMLSchema-instance}type"
_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_STANDARD: Final = frozenset({
    "action", "dataScope", "dataflowAgencyID", "dataflowID", "dataProviderID", "dataProviderSchemeAgencyId",
    "dataProviderSchemeId", "datasetID", "keyFamilyURI", "publicationPeriod", "publicationYear", "reportingBeginDate",
    "reportingEndDate", "setID", "structureRef", "validFromDate", "validToDate",
})  # fmt: skip
_LETTERS: Final = {"Update": "A", "Append": "A", "Merge": "M", "Replace": "R", "Delete": "D"}


@dataclass
class Naive:
    """The contents of a message.

    Attributes:
        rows: the observations, with all values that apply to them and with ``ACTION``.
        data_sets: the number of data sets.
        series: the number of series, of which ``empty`` have no observation.
        groups: the keys and values of groups; in structure-specific messages they are not distinguished.
        values: the number of values that are written in the message itself.
    """

    rows: list[Row] = field(default_factory=list)
    data_sets: int = 0
    series: int = 0
    empty: int = 0
    groups: list[tuple[Row | None, Row]] = field(default_factory=list)
    values: int = 0


def naive_message(data: bytes) -> Naive:
    """Return the content of a message, which may be gzip."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    root = etree.fromstring(data.lstrip(b"\xef\xbb\xbf \r\n\t"), etree.XMLParser(huge_tree=True, recover=True))
    found = Naive()
    header = next(_named(root.iter(), "Header"), None)
    for data_set in _named(root.iter(), "DataSet"):
        found.data_sets += 1
        _DataSet(root, header, data_set, found).read()
    return found


def _local(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _namespace(element: Any) -> str:
    return (etree.QName(element).namespace or "").lower()


def _named(elements: Iterable[Any], name: str) -> Iterator[Any]:
    return (element for element in elements if _local(element) == name)


def _pairs(element: Any, child: str | None = None) -> Row:
    """Return the values of generic messages below an element, or below one of its children."""
    parents = [element] if child is None else list(_named(element, child))
    return {
        value.get("id") or value.get("concept"): value.get("value")
        for parent in parents
        for value in _named(parent, "Value")
        if value.get("value")
    }


class _DataSet:
    def __init__(self, root: Any, header: Any, element: Any, found: Naive) -> None:
        self.element, self.found = element, found
        self.is_generic = _local(root).startswith("Generic") or _namespace(element).endswith("generic")
        self.is_cross = _local(root).startswith("Cross") or _namespace(element).endswith("cross")
        self.is_old = "v2_0" in _namespace(root) or "v1_0" in _namespace(root)
        payloads = [] if header is None else [one for one in header if one.get("structureID")]
        local = {etree.QName(name).localname: value for name, value in element.attrib.items()}
        named = [
            payload for payload in payloads if payload.get("structureID") == local.get("structureRef")
        ] or payloads[:1]
        self.at = (named[0].get("dimensionAtObservation") if named else None) or "TIME_PERIOD"
        self.explicit = bool(named) and named[0].get("explicitMeasures") in {"true", "1"}
        texts = {} if header is None else {_local(one): one.text for one in header}
        action = local.get("action") or (texts.get("DataSetAction") or "").strip()
        self.action = _LETTERS.get(action, action[:1] or "I")
        self.own = _pairs(element, "Attributes") if self.is_generic else self._components(element)
        self.own = {name: value for name, value in self.own.items() if name not in _STANDARD}
        self.groups: list[tuple[Row | None, Row]] = []

    def read(self) -> None:
        if self.is_cross:
            self._cross(self.element, self.own)
            return
        self._read_groups()
        self.found.values += len(self.own)
        for one in self.element:
            if _local(one) == "Obs":
                self._observation({}, one)
            else:
                for series in _named(one.iter(), "Series"):
                    self._series(series)

    def _components(self, element: Any) -> Row:
        """Return the XML attributes and the elements ``Comp``."""
        plain = {
            name: value for name, value in element.attrib.items()
            if value and "{" not in name and (self.is_old or name != "type")
        }  # fmt: skip
        for one in _named(element, "Comp"):
            values = [_content(value) for value in _named(one, "Value")]
            plain[one.get("id")] = values[0] if len(values) == 1 else values
        return plain

    def _read_groups(self) -> None:
        for one in self.element:
            local = _local(one)
            if self.is_generic and local == "Group" and any(True for _ in _named(one, "GroupKey")):
                self.groups.append((_pairs(one, "GroupKey"), _pairs(one, "Attributes")))
            elif not self.is_generic and (
                local in {"Group", "Atts"} or (self.is_old and local not in {"Series", "Obs", "Annotations", ""})
            ):
                self.groups.append((None, self._components(one)))
        self.found.groups += self.groups
        self.found.values += sum(len(key or {}) + len(values) for key, values in self.groups)

    def _series(self, element: Any) -> None:
        if self.is_generic:
            own = _pairs(element, "SeriesKey") | _pairs(element, "Attributes")
            parent = element.getparent()
            if _local(parent) == "Group":
                own = _pairs(parent, "Attributes") | own
        else:
            own = self._components(element)
        self.found.series += 1
        self.found.values += len(own)
        observations = list(_named(element, "Obs"))
        self.found.empty += not observations
        for obs in observations:
            self._observation(own, obs)

    def _observation(self, series: Row, obs: Any) -> None:
        own = self._generic(obs) if self.is_generic else self._components(obs)
        if self.explicit and self.at != "AllDimensions" and not self.is_generic:
            own[self.at] = (obs.get(_XSI_TYPE) or obs.get("type") or "").rpartition(":")[2] or own.get(self.at)
        self.found.values += len(own)
        key = series | own
        if self.action == "D":  # attributes of higher levels are deleted on their own
            self.found.rows.append({"ACTION": self.action, **key})
            return
        inherited: Row = {}
        ordered = sorted(self.groups, key=lambda one: len(one[0] or set(one[1]) & set(key)))
        for group, values in ordered:
            names = group or {name: value for name, value in values.items() if name in key}
            if all(key.get(name) == value for name, value in names.items()):
                inherited |= {name: value for name, value in values.items() if name not in names}
        self.found.rows.append({"ACTION": self.action, **self.own, **inherited, **key})

    def _generic(self, obs: Any) -> Row:
        own = _pairs(obs, "ObsKey") | _pairs(obs, "Attributes")
        for one in obs:
            local, value = _local(one), one.get("value")
            if local == "ObsDimension" and value:
                own[self.at if self.at != "AllDimensions" else one.get("id")] = value
            elif local == "ObsValue" and value:
                own["OBS_VALUE"] = value
            elif local == "Time" and one.text:
                own["TIME_PERIOD"] = one.text.strip()
        return own

    def _cross(self, element: Any, above: Row) -> None:
        for one in element:
            local, own = _local(one), self._components(one)
            self.found.values += len(own)
            if local in {"Group", "Section"}:
                self.found.groups.append((None, own))
                self._cross(one, above | own)
            elif local not in {"Annotations", ""}:
                value = own.pop("value", None)
                measured = {} if value is None else {"OBS_VALUE" if local == "Obs" else local: value}
                self.found.rows.append({"ACTION": self.action, **above, **own, **measured})


def _content(value: Any) -> Any:
    texts = [one for one in value if _local(one) in {"Text", "StructuredText"}]
    if texts:
        return {text.get(_LANGUAGE, "en"): _inner(text) for text in texts}
    return _inner(value)


def _inner(element: Any) -> str:
    parts = [element.text or ""]
    for one in element:
        own = "".join(f' {name}="{text}"' for name, text in one.attrib.items())
        parts.append(f"<{_local(one)}{own}>{_inner(one)}</{_local(one)}>{one.tail or ''}")
    return "".join(parts)

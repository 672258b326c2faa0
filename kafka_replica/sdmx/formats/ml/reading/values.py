"""The small parts that many artefacts share: texts, annotations, references, representations."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar, cast

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, international
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.lenient_urns import parse_lenient
from kafka_replica.sdmx.model import Annotation, Link
from kafka_replica.sdmx.model.representation import Occurs, Representation, SentinelValue, TextFormat
from kafka_replica.sdmx.urns.urn import MAX_URN, Urn

T = TypeVar("T")
Child: TypeAlias = "tuple[str, etree._Element]"  # noqa: SLF001 - the only name lxml gives this type

CLASSES_IN_REFS: Final = {"Attribute": "DataAttribute"}
"""Classes whose names in a <Ref> differ from those in URNs."""
_LISTS: Final = {
    "DimensionDescriptor", "AttributeDescriptor", "MeasureDescriptor",
    "DIMENSION_DESCRIPTOR", "ATTRIBUTE_DESCRIPTOR", "MEASURE_DESCRIPTOR",
}  # fmt: skip
"""The ids of the lists of components: those of the structures, and those that the schema fixes in references."""
_is_integer = re.compile(r"[+-]?[0-9]{1,1000}").fullmatch
_is_decimal = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?0*[0-9]{1,3})?").fullmatch
XML_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"


def text_of(element: etree._Element) -> str:
    """Return all text in an element, as written."""
    return (element.text or "") if len(element) == 0 else "".join(str(text) for text in element.itertext())


def language_of(element: etree._Element) -> str:
    """Return the language of a text; English by the schemas' default."""
    return element.get(XML_LANG, "en").strip()


def address(element: etree._Element, attribute: str) -> str | None:
    """Return an xs:anyURI or xs:NMTOKEN, which has no blanks around it, or None if the attribute is missing."""
    value = element.get(attribute)
    return None if value is None else value.strip()


def boolean(element: etree._Element, attribute: str) -> bool | None:
    """Return an xs:boolean, or None if the attribute is missing. Raises MessageError."""
    value = element.get(attribute)
    if not value:
        return None
    found = {"true": True, "1": True, "false": False, "0": False}.get(value.strip().lower())
    return found if found is not None else fail(element, f"{attribute}={value[:80]!r} is not true or false")


_CASCADES: Final = {"true": "true", "1": "true", "false": "false", "0": "false", "excluderoot": "excluderoot"}


def cascade_of(element: etree._Element) -> str | None:
    """Return cascadeValues as true, false or excluderoot, or None if it is missing. Raises MessageError."""
    written = element.get("cascadeValues")
    if not written:
        return None
    found = _CASCADES.get(written.strip().lower())
    if found is None:
        fail(element, f"cascadeValues={written[:80]!r} is not one of true, false and excluderoot")
    return found


def _number(element: etree._Element, attribute: str, make: Callable[[str], T]) -> T | None:
    value = element.get(attribute)
    if not value:
        return None
    try:
        return make(value.strip())
    except ValueError:
        fail(element, f"{attribute}={value[:80]!r} is not a number")


def whole_number(element: etree._Element, attribute: str) -> int | None:
    """Return an integer, or None if the attribute is missing. Raises MessageError."""
    return _number(element, attribute, _whole)


def occurs(element: etree._Element, attribute: str) -> Occurs | None:
    """Return a number of occurrences or "unbounded", or None if the attribute is missing. Raises MessageError."""
    return "unbounded" if element.get(attribute) == "unbounded" else _number(element, attribute, _whole)


def _whole(value: str) -> int:
    """Return an xs:integer. Unlike ``int``, it accepts only digits of ASCII, and no underscores."""
    if not _is_integer(value):
        raise ValueError(value)
    return int(value)


def _decimal(value: str) -> Decimal | None:
    """Return an xs:decimal, or an xs:double (2.0) with a small exponent: a large one would be written as zeros.

    An infinite xs:double sets no limit, so it is None.
    """
    if value in {"INF", "-INF"}:
        return None
    if not _is_decimal(value):
        raise ValueError(value)
    return Decimal(value)


def named(  # noqa: C901 - one pass
    element: etree._Element, names: Names, code_ids: list[str] | None = None, id_attribute: str = "id"
) -> tuple[dict[str, Any], list[Child]]:
    """Return names, descriptions, annotations, links and uri as arguments; and all other children.

    Empty arguments are left out, because codelists are long. If ``code_ids`` is given, the ids of all <Code> are added
    to it, and only the first <Code> is among the children.
    """
    texts: list[tuple[str, str]] = []
    descriptions: list[tuple[str, str]] = []
    links: list[Link] = []
    rest: list[Child] = []
    arguments: dict[str, Any] = {}
    for child in element:
        kind = names[child.tag]
        if kind == "Name":
            texts.append((child.get(XML_LANG, "en").strip(), text_of(child) if len(child) else child.text or ""))
        elif kind == "Code" and code_ids is not None:
            if not code_ids:
                rest.append((kind, child))
            code_ids.append(child.get(id_attribute, ""))
        elif kind == "Description":
            descriptions.append((child.get(XML_LANG, "en").strip(), text_of(child)))
        elif kind == "Annotations":
            arguments["annotations"] = read_annotations(child, names)
        elif kind == "Link":
            url, urn = address(child, "url"), address(child, "urn")
            links.append(Link(rel=child.get("rel"), url=url, urn=urn, type=child.get("type")))
        elif kind:
            rest.append((kind, child))
    if texts:
        arguments["names"] = international(tuple(texts))
    if descriptions:
        arguments["descriptions"] = InternationalString(descriptions)
    if links:
        arguments["links"] = tuple(links)
    uri = address(element, "uri")
    if uri is not None:
        arguments["uri"] = uri
    return arguments, rest


class Item:
    """An artefact or item being read: its element, its URN, the result of ``named``, its other children."""

    __slots__ = ("arguments", "code_ids", "element", "names", "rest", "urn")

    def __init__(self, element: etree._Element, urn: Urn, names: Names) -> None:
        self.element, self.urn, self.names = element, urn, names
        # Codelists are long: only the ids of their codes are read at first.
        self.code_ids: list[str] | None = (
            [] if urn.cls in {"Codelist", "GeographicCodelist", "GeoGridCodelist"} else None
        )
        self.arguments, self.rest = named(element, names, self.code_ids)

    @property
    def parts(self) -> tuple[Urn, dict[str, Any], list[Child], Names]:
        """The URN, the arguments, the other children, and the names of elements."""
        return self.urn, self.arguments, self.rest, self.names

    @property
    def identified(self) -> dict[str, Any]:
        """Annotations, links and uri as arguments, for objects without names."""
        return {key: value for key, value in self.arguments.items() if key not in {"names", "descriptions"}}


def read_annotations(element: etree._Element, names: Names) -> tuple[Annotation, ...]:
    """Return the annotations of an <Annotations>."""
    return tuple(_annotation(child, names) for child in element if names[child.tag] == "Annotation")


def _annotation(element: etree._Element, names: Names) -> Annotation:
    single: dict[str, str] = {}
    urls: list[tuple[str, str]] = []
    texts: list[tuple[str, str]] = []
    for child in element:
        kind = names[child.tag]
        if kind == "AnnotationText":
            texts.append((language_of(child), text_of(child)))
        elif kind == "AnnotationURL":
            urls.append((language_of(child), text_of(child).strip()))
        elif kind:
            single[kind] = text_of(child)
    return Annotation(
        id=element.get("id"),
        title=single.get("AnnotationTitle"),
        type=single.get("AnnotationType"),
        value=single.get("AnnotationValue"),
        urls=InternationalString(urls) if urls else NO_TEXT,
        text=InternationalString(texts) if texts else NO_TEXT,
    )


def reference(element: etree._Element, names: Names, class_: str) -> Urn:
    """Return the URN that an element refers to: <Ref>, <URN> (2.1) or its text (3.x). Raises MessageError.

    ``class_`` is the expected class, for a <Ref> without a class.
    """
    try:
        # Usually the reference is the text, or a single <Ref>.
        inside = len(element)
        if not inside:
            return parse_lenient((element.text or "").strip())
        if inside == 1 and names[(only := element[0]).tag] == "Ref":
            return _by_fields(only, class_)
        by_kind = {names[child.tag]: child for child in element}
        if "Ref" in by_kind:
            return _by_fields(by_kind["Ref"], class_)
        inner = by_kind.get(names[element.tag])
        if inner is not None:
            # A sample of the standard has <VtlMappingScheme> in <VtlMappingScheme>.
            return reference(inner, names, class_)
        return parse_lenient(text_of(by_kind.get("URN", element)).strip())
    except UrnError as error:
        fail(element, str(error))


def _by_fields(ref: etree._Element, class_: str) -> Urn:
    fields = cast("tuple[tuple[str, str], ...]", tuple(ref.items()))
    try:
        return _known_reference(fields, class_)
    except _TooLongError:
        return _made_reference(fields, class_)


class _TooLongError(Exception):
    """A signal that the reference is too long to be cached."""


@lru_cache(maxsize=4096)
def _known_reference(fields: tuple[tuple[str, str], ...], class_: str) -> Urn:
    """Return the URN of a <Ref>; cached, because many artefacts refer to the same ones."""
    if sum([len(name) + len(value) for name, value in fields]) > MAX_URN:
        raise _TooLongError
    return _made_reference(fields, class_)


def _made_reference(fields: tuple[tuple[str, str], ...], class_: str) -> Urn:
    ref = dict(fields)
    class_ = ref.get("class", class_)
    class_ = CLASSES_IN_REFS.get(class_, class_)
    agency, id_ = ref.get("agencyID", ""), ref.get("id", "")
    parent = ref.get("maintainableParentID")
    package = ref.get("package")
    if parent is None:
        return Urn.of(class_, agency, id_, ref.get("version", DEFAULT_VERSION), package=package)
    container = ref.get("containerID")
    # The lists of a data structure are not part of the path of their components.
    item = f"{container}.{id_}" if container and container not in _LISTS else id_
    return Urn.of(class_, agency, parent, ref.get("maintainableParentVersion", DEFAULT_VERSION), item, package=package)


def local_id(element: etree._Element, names: Names, fixed: str | None = None) -> str:
    """Return the id that a reference within one artefact names: <Ref id>, the end of a <URN>, or the text.

    ``fixed`` is the id that the schema fixes, which a <Ref> may leave out. Raises MessageError.
    """
    for child in element:
        if names[child.tag] == "Ref" and (id_ := child.get("id") or fixed):
            return id_
        if names[child.tag] == "URN":
            return _local_id_in(text_of(child).strip())
    text = text_of(element).strip()
    return text.rpartition(").")[2] if text.startswith("urn:") else text or fail(element, "it refers to nothing")


def _local_id_in(urn: str) -> str:
    # The path of a component may begin with its list; the id of a code may have a dot.
    path = urn.rpartition(").")[2]
    return path if ".Code=" in urn else path.rpartition(".")[2]


def read_representation(element: etree._Element, names: Names, class_: str = "Codelist") -> Representation | None:
    """Return the representation in a <LocalRepresentation> or <CoreRepresentation>, or None if it is empty.

    ``class_`` is the class of the enumeration if its <Ref> names no class. Raises MessageError.
    """
    enumeration: Urn | None = None
    format_: TextFormat | None = None
    for child in element:
        kind = names[child.tag]
        if kind == "Enumeration":
            enumeration = reference(child, names, class_)
        elif kind in {"TextFormat", "EnumerationFormat"}:
            format_ = read_text_format(child, names)
    if element.get("minOccurs") is None and element.get("maxOccurs") is None:
        if enumeration is None and format_ is None:
            return None
        return Representation(enumeration=enumeration, format=format_)
    return Representation(
        enumeration=enumeration,
        format=format_,
        min_occurs=_number(element, "minOccurs", _whole),
        max_occurs=occurs(element, "maxOccurs"),
    )


def read_text_format(element: etree._Element, names: Names) -> TextFormat:
    """Read a <TextFormat>, <EnumerationFormat> or <CodingFormat>. Raises MessageError."""
    if not len(element) and element.keys() == ["textType"]:
        return TextFormat(text_type=address(element, "textType"))
    return TextFormat(
        text_type=address(element, "textType"),
        is_sequence=boolean(element, "isSequence"),
        is_multi_lingual=boolean(element, "isMultiLingual"),
        min_length=_number(element, "minLength", _whole),
        max_length=_number(element, "maxLength", _whole),
        min_value=_number(element, "minValue", _decimal),
        max_value=_number(element, "maxValue", _decimal),
        start_value=_number(element, "startValue", _decimal),
        end_value=_number(element, "endValue", _decimal),
        interval=_number(element, "interval", _decimal),
        start_time=element.get("startTime"),
        end_time=element.get("endTime"),
        time_interval=element.get("timeInterval"),
        decimals=_number(element, "decimals", _whole),
        pattern=element.get("pattern"),
        sentinel_values=tuple(_sentinel(child, names) for child in element if names[child.tag] == "SentinelValue"),
    )


def _sentinel(element: etree._Element, names: Names) -> SentinelValue:
    arguments, _ = named(element, names)
    return SentinelValue(
        value=element.get("value", ""),
        names=arguments.get("names", NO_TEXT),
        descriptions=arguments.get("descriptions", NO_TEXT),
    )

"""Parsing of a path and query string into an immutable query, or a rejection, by the rules of ``grammar``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod
from typing import Final

from kafka_replica.server.rest.address import (
    RejectedError,
    parameters_of,
    parts_of_last_segment,
    quoted,
    rejected,
    segments_of,
)
from kafka_replica.server.rest.grammar import (
    AGENCY,
    ANY,
    AS_OF,
    DETAILS,
    IGNORED_PARAMETERS,
    ITEM,
    NOT_IMPLEMENTED,
    REFERENCES,
    RESOURCE_ID,
    RESOURCES,
    SCHEMA_PARAMETERS,
    SEGMENTS,
    SEPARATORS,
    STRUCTURE_PARAMETERS,
    VERSION,
    Api,
    Detail,
    Items,
    References,
    Resource,
    Segment,
    referable,
    resources,
)
from kafka_replica.server.rest.query import Query, SchemaQuery, StructureQuery
from kafka_replica.server.rest.rejections import Rejection, not_implemented, too_long
from kafka_replica.server.rest.version_expressions import InvalidVersionError, VersionExpression, parse_version

MAX_LENGTH: Final = 8_192
"""The maximum length of a path and query string together, in characters."""

CACHED_LENGTH: Final = 256
"""The length up to which queries are cached; the size of a parsed query grows with its length."""

_ALL: Final = "*"
_APIS: Final = frozenset(Api)
_MOST_COMBINATIONS: Final = 10_000
_SEPARATORS: Final = tuple(SEPARATORS.values())


def parse_query(path: str, query: str = "") -> Query | Rejection:
    """Parse a path and query string; return a rejection if they are invalid, and never raise.

    Args:
        path: the path after the base path, percent-encoded; it may begin with ``v1`` or ``v2``. Otherwise, a query is
            of 2.x if its path begins with ``structure`` and a resource, else of 1.x.
        query: the query string, percent-encoded; a plus sign is not a space.
    """
    length = len(path) + len(query)
    if length > MAX_LENGTH:
        return too_long(MAX_LENGTH)
    return _cached(path, query) if length <= CACHED_LENGTH else _parsed_or_rejected(path, query)


def _parsed_or_rejected(path: str, query: str) -> Query | Rejection:
    try:
        return _parsed(path, parameters_of(query))
    except RejectedError as error:
        return error.rejection


_cached = lru_cache(maxsize=512)(_parsed_or_rejected)


def format_of(query: str) -> str | None:
    """Return the parameter ``format`` of a query string; None if it is missing or the query string is malformed.

    Error messages of invalid queries have the requested format, too.
    """
    try:
        return parameters_of(query).get("format")
    except RejectedError:
        return None


def _parsed(path: str, parameters: dict[str, str]) -> Query:
    segments = segments_of(path)
    api = Api(segments.pop(0)) if segments and segments[0] in _APIS else None
    head = segments[0] if segments else ""
    if head == "schema":
        return _schema_query(api or _api_of_schema(segments[1:]), segments[1:], parameters)
    if head in NOT_IMPLEMENTED and (api is None or api in NOT_IMPLEMENTED[head]):
        raise RejectedError(not_implemented(f"this service does not answer {head} queries, only structure queries"))
    if head == "structure" and (api is Api.V2 or (api is None and _is_v2(segments))):
        return _structure_query(Api.V2, segments[1:] or [_ALL], parameters, path)
    if api is Api.V2:
        others = ", ".join(name for name, apis in NOT_IMPLEMENTED.items() if api in apis)
        raise rejected(
            f"{quoted(head)} cannot begin a query of 2.x; queries begin with structure or schema ({others} are not "
            "implemented)"
        )
    return _structure_query(api or Api.V1, segments, parameters, path)


def _api_of_schema(segments: list[str]) -> Api:
    """Return the API of a schema query whose path names none: 1.x, unless only 2.x has the context."""
    of_newer = _schema_contexts(Api.V2).keys() - _schema_contexts(Api.V1).keys()
    return Api.V2 if segments and segments[0] in of_newer else Api.V1


def _schema_contexts(api: Api) -> dict[str, Resource]:
    return {name: row for name, row in resources(api).items() if row.is_schema_context}


def _is_v2(segments: list[str]) -> bool:
    """Return whether a resource follows, as in ``structure/codelist/...``; in 1.x, an agency follows."""
    return len(segments) == 1 or segments[1] == _ALL or segments[1] in RESOURCES


def _structure_query(api: Api, segments: list[str], parameters: dict[str, str], path: str) -> StructureQuery:
    resource = _resource(api, segments[0] if segments else "")
    allowed = SEGMENTS if resource.items is not Items.NONE or resource is ANY[api] else SEGMENTS[:-1]
    given = segments[1:]
    if len(given) > len(allowed):
        wanted = "/".join(segment.name for segment in allowed)
        why = "" if len(allowed) == len(SEGMENTS) else f", because a {resource.name} has no items to select"
        raise rejected(f"the path has too many segments: at most {wanted} follow {resource.name}{why}")
    texts = dict(zip(allowed, given, strict=False))
    items = _items(api, resource, texts.pop(ITEM), path) if ITEM in texts else ()
    values = {segment: _values(api, segment, text) for segment, text in texts.items()}
    detail, references = _detail(api, parameters), _references(api, parameters)
    _check_known(parameters, STRUCTURE_PARAMETERS)
    as_of = _as_of(parameters)
    agencies, ids = values.get(AGENCY, ()), values.get(RESOURCE_ID, ())
    versions = _versions(api, values.get(VERSION, ()))
    _check_selectors(resource.classes, agencies, ids, versions)
    return StructureQuery(
        api,
        resource,
        agencies,
        ids,
        versions,
        items,
        detail,
        references,
        as_of,
        parameters.get("format"),
    )


def _schema_query(api: Api, segments: list[str], parameters: dict[str, str]) -> SchemaQuery:
    contexts = _schema_contexts(api)
    if not segments or segments[0] not in contexts:
        raise rejected(f"after schema the path names a context: {', '.join(contexts)}")
    if not 3 <= len(segments) <= 4:
        raise rejected("a schema query is schema/context/agencyID/resourceID/version; the version may be omitted")
    _check_known(parameters, SCHEMA_PARAMETERS)
    agency, id_, *rest = segments[1:]
    for segment, text in ((AGENCY, agency), (RESOURCE_ID, id_)):
        if segment.form.fullmatch(text) is None or text == "all":
            raise rejected(f"a schema query names one {segment.name}, such as {segment.example}, not {quoted(text)}")
    versions = _versions(api, tuple(rest))
    if _ALL in versions[0].text:
        raise rejected("a schema query names one version; use +, ~ or a number instead of *")
    return SchemaQuery(
        api,
        contexts[segments[0]],
        agency,
        id_,
        versions[0],
        _as_of(parameters),
        parameters.get("format"),
        parameters.get("dimensionAtObservation"),
        _flag(parameters, "explicitMeasure") or _flag(parameters, "explicit"),
        _flag(parameters, "deletion"),
    )


def _flag(parameters: dict[str, str], name: str) -> bool:
    text = parameters.get(name, "false").lower()
    if text not in {"true", "false"}:
        raise rejected(f"{name}={quoted(text)}: its values are true, false")
    return text == "true"


def _resource(api: Api, name: str) -> Resource:
    if name == ANY[api].name or (api is Api.V2 and name == "all"):
        return ANY[api]
    known = resources(api)
    if name in known:
        return known[name]
    if name in RESOURCES:
        raise rejected(f"{name} is a resource of {', '.join(sorted(RESOURCES[name].apis))} paths; {api} paths have "
                      f"{', '.join(known)}")  # fmt: skip
    raise rejected(f"{quoted(name)} is not a resource; resources are {', '.join([ANY[api].name, *known])}")


def _check_selectors(*selectors: tuple[object, ...]) -> None:
    """Check the number of combinations, each of which is looked up.

    Raises:
        RejectedError: there are too many.
    """
    combinations = prod(max(1, len(each)) for each in selectors)
    if combinations > _MOST_COMBINATIONS:
        raise rejected(
            f"{combinations} combinations of class, agency, id and version are too many; name at most "
            f"{_MOST_COMBINATIONS}, or use * instead of a list"
        )


def _values(api: Api, segment: Segment, text: str) -> tuple[str, ...]:
    if segment is VERSION:
        return _version_texts(api, text)
    if text == _ALL:
        return ()
    values = [text]
    for separator in _SEPARATORS:
        values = [part for value in values for part in value.split(separator)]
    return _checked(segment, values, {_ALL, "all"})


def _items(api: Api, resource: Resource, text: str, path: str) -> tuple[str, ...]:
    """Return the ids of items that the last segment of a path names; empty for all items.

    In 2.x the id of a value may be any text: one with a comma, which is percent-encoded then, or ``all``, which is a
    keyword only if there is no such item. ``matching_artefacts`` decides this for each artefact, and whether an encoded
    comma separates ids and keywords.
    """
    if api is Api.V1:
        return _checked(ITEM, text.split(SEPARATORS[api]), {_ALL, "all"})
    has_any_ids = "ValueList" in resource.classes
    return _checked(ITEM, parts_of_last_segment(path) if has_any_ids else text.split(SEPARATORS[api]), {_ALL})


def _checked(segment: Segment, values: list[str], keywords: set[str]) -> tuple[str, ...]:
    """Return distinct values; empty for all if there is a keyword. Raises RejectedError for malformed values."""
    for value in values:
        if value != _ALL and segment.form.fullmatch(value) is None:
            raise rejected(f"{quoted(value)} is not a valid {segment.name}; an example is {segment.example}")
    return () if keywords & set(values) else tuple(dict.fromkeys(values))


def _version_texts(api: Api, text: str) -> tuple[str, ...]:
    """Return the version expressions of a segment; in 1.x a plus sign separates them, unless nothing follows it."""
    if api is Api.V1 and "," not in text and "+" in text and all(text.split("+")):
        return tuple(dict.fromkeys(text.split("+")))
    return tuple(dict.fromkeys(text.split(",")))


def _versions(api: Api, texts: tuple[str, ...]) -> tuple[VersionExpression, ...]:
    found = []
    for text in texts or ("latest" if api is Api.V1 else VERSION.default,):
        try:
            found.append(parse_version(text))
        except InvalidVersionError as error:
            raise rejected(f"{quoted(text)} is not a version: {error}; examples are {VERSION.example}") from None
    return tuple(dict.fromkeys(found))


def _detail(api: Api, parameters: dict[str, str]) -> Detail:
    text = parameters.get("detail")
    if text is None:
        return Detail.FULL
    text = text.lower()
    allowed = [value for value, apis in DETAILS.items() if api in apis]
    if text not in allowed:
        raise rejected(f"detail={quoted(text)}: its values in {api} are {', '.join(allowed)}")
    return Detail(text)


def _references(api: Api, parameters: dict[str, str]) -> tuple[str, ...]:
    text = parameters.get("references")
    if text is None:
        return ()
    values = text.lower().split(",")
    allowed = [*(value for value, apis in REFERENCES.items() if api in apis), *referable(api)]
    for value in values:
        if value not in allowed:
            raise rejected(f"references={quoted(value)}: its values in {api} are {', '.join(allowed)}")
    return tuple(value for value in dict.fromkeys(values) if value != References.NONE)


def _as_of(parameters: dict[str, str]) -> str | None:
    text = parameters.get("asOf")
    if text is not None and AS_OF.fullmatch(text) is None:
        raise rejected(
            f"asOf={quoted(text)}: it must be a time, such as 2026-01-31T12:00:00Z, or the number of a version"
        )
    return text


def _check_known(parameters: Iterable[str], known: tuple[str, ...]) -> None:
    unknown = sorted(name for name in parameters if name not in known and name not in IGNORED_PARAMETERS)
    if unknown:
        raise rejected(f"{quoted(unknown[0])} is not a parameter of this query; its parameters are {', '.join(known)}")

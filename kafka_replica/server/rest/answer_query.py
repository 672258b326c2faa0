"""The entry point: the function that answers a request from a version."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import Structures
from kafka_replica.server.rest.answer_artefacts import Contents, contents_of
from kafka_replica.server.rest.answer_writer import WrittenMessage, omits_less, written
from kafka_replica.server.rest.error_messages import error_message
from kafka_replica.server.rest.etag import entity_tag, matches, matches_any, media_types_of
from kafka_replica.server.rest.grammar import Api, Detail
from kafka_replica.server.rest.negotiation import (
    OfferedFormat,
    error_format,
    names_json_schema,
    offered,
    offered_schemas,
    offers,
    schema_query_offers,
)
from kafka_replica.server.rest.query import Query, SchemaQuery, StructureQuery
from kafka_replica.server.rest.query_parser import format_of, parse_query
from kafka_replica.server.rest.rejections import (
    Rejection,
    not_acceptable,
    not_found,
    not_implemented,
    semantic_error,
    too_large,
    unreadable,
)
from kafka_replica.server.rest.request_and_answer import VARY, RestAnswer, RestRequest
from kafka_replica.server.rest.schema import schema_contents
from kafka_replica.server.rest.settings import RestSettings
from kafka_replica.server.rest.stored_answer import stored_answer
from kafka_replica.server.rest.xml_schema import first_schema

OMITTED: Final = "Kafka-Replica-Omitted"
"""The header with the number of artefacts that an answer omits; absent if the answer is complete."""

DEFAULT_SETTINGS: Final = RestSettings()

_UNREPRESENTABLE: Final = {406, 501}
"""The statuses if there is no such XML schema or message; then what the request accepts with less weight is tried."""

_FEW: Final = 100
"""The number of artefacts up to which a format is tried without asking first whether it represents more of them."""

_NAMED: Final = 3
"""The number of unreadable artefacts that an error names."""


def answer(request: RestRequest, structures: Structures, settings: RestSettings = DEFAULT_SETTINGS) -> RestAnswer:
    """Return the answer to an SDMX REST query from one version. Thread-safe.

    Invalid requests raise no errors; they are answered with an SDMX error message.

    Args:
        request: the request.
        structures: the version; the whole answer comes from it, or from the version that ``asOf`` names.
        settings: the settings of the answers.
    """
    query = parse_query(request.path, request.query)
    if isinstance(query, Rejection):
        return error_answer(query, request, settings)
    result = _answered(query, request, structures, settings)
    if isinstance(result, Rejection):
        return _rejected(result, request, query.api, settings)
    if result.status == 200 and matches_any(request.if_none_match):
        return RestAnswer(304, tuple(pair for pair in result.headers if pair[0] != "Content-Type"), b"")
    return result


def error_answer(rejection: Rejection, request: RestRequest, settings: RestSettings = DEFAULT_SETTINGS) -> RestAnswer:
    """Return the answer to a request that is rejected before its query is parsed, in a format that it accepts."""
    return _rejected(rejection, request, Api.V1 if _is_v1(request.path) else Api.V2, settings)


def _answered(
    query: Query, request: RestRequest, structures: Structures, settings: RestSettings
) -> RestAnswer | Rejection:
    negotiate = schema_query_offers if isinstance(query, SchemaQuery) else offers
    accepted = negotiate(request.accept, query.format, query.api)
    if not accepted:
        return _no_format(query, request)
    version = _version(query, structures, settings)
    if isinstance(version, Rejection):
        return version
    day = _day(query, settings)
    if isinstance(day, Rejection):
        return day
    tag = entity_tag(version.version, day, request, media_types_of(accepted))
    headers = (("ETag", tag), VARY)
    if request.if_none_match and matches(request.if_none_match, tag):
        return RestAnswer(304, headers, b"")
    try:
        return _build_response(_Request(query, version, settings, headers, day), accepted)
    except KafkaReplicaError as error:
        # The answer depends on a record that cannot be read.
        return unreadable(str(error))


class _Request(NamedTuple):
    """A query with everything on which its answer depends, except the accepted formats."""

    query: Query
    version: Structures
    settings: RestSettings
    headers: tuple[tuple[str, str], ...]
    """Headers of a complete answer."""
    day: date | None
    """The date on which constraints must be valid; None if the answer does not depend on it."""


def _build_response(request: _Request, accepted: tuple[OfferedFormat, ...]) -> RestAnswer | Rejection:
    """Return an XML schema or a message of structures, in the order in which the request prefers them."""
    first_reason: Rejection | None = None
    for is_schema, offered_formats in groupby(accepted, attrgetter("is_schema")):
        make = _schema if is_schema else _message_of_structures
        made = make(request, tuple(offered_formats))
        if not isinstance(made, Rejection) or made.status not in _UNREPRESENTABLE:
            return made
        first_reason = first_reason or made
    assert first_reason is not None  # noqa: S101 - there is at least one offer
    return first_reason


def _message_of_structures(request: _Request, accepted: tuple[OfferedFormat, ...]) -> RestAnswer | Rejection:
    query, version = request.query, request.version
    found = (
        schema_contents(query, version, request.day)
        if isinstance(query, SchemaQuery)
        else contents_of(query, version, request.settings, request.day)
    )
    if isinstance(found, Rejection):
        return found
    if not found.matched and (not found.errors or (found.has_others and request.settings.unwritable == "omit")):
        return _nothing(found, version)
    return _in_first_format(request, found, accepted)


def _nothing(found: Contents, version: Structures) -> Rejection:
    """Return the rejection of a query that no readable artefact matches; it names the unreadable ones, if any."""
    text = f"version {version.version} has nothing that matches the query"
    if found.errors:
        names = ", ".join(str(urn) for urn in list(found.errors)[:_NAMED])
        text += f"; {counted(len(found.errors), 'artefact')} that might match cannot be read, such as {names}"
    return not_found(text, len(found.errors))


def _schema(request: _Request, accepted: tuple[OfferedFormat, ...]) -> RestAnswer | Rejection:
    """Return the XML schema for the first accepted edition of SDMX-ML whose messages can represent the data."""
    assert isinstance(request.query, SchemaQuery)  # noqa: S101 - only these are offered schemas
    found = first_schema(request.query, accepted, request.version, request.day)
    if isinstance(found, Rejection):
        return found
    offer, data = found
    return _complete(request, offer, data)


def _complete(request: _Request, offer: OfferedFormat, data: bytes, omitted: int = 0) -> RestAnswer | Rejection:
    """Return the answer with a body, or a rejection if the body is too large."""
    limit = request.settings.max_bytes
    if limit is not None and len(data) > limit:
        return too_large(f"the answer has more than {limit:,} bytes; query for fewer structures or stubs")
    return RestAnswer(200, (("Content-Type", offer.content_type), *request.headers, *_omitted(omitted)), data)


def _depends_on_date(query: Query) -> bool:
    return isinstance(query, SchemaQuery) or query.detail is Detail.REFERENCE_PARTIAL


def _day(query: Query, settings: RestSettings) -> date | Rejection | None:
    """Return the date on which constraints must be valid, or None if the answer does not depend on it.

    This is the date in UTC of the instant that ``asOf`` names, or else today: the number of a version names no date.
    """
    if not _depends_on_date(query):
        return None
    if query.as_of is None or query.as_of.isdigit():
        return settings.today()
    try:
        instant = datetime.fromisoformat(query.as_of)
        return (instant if instant.tzinfo is None else instant.astimezone(UTC)).date()
    except (ValueError, OverflowError) as error:
        return semantic_error(f"asOf={query.as_of}: {error}")


def _no_format(query: Query, request: RestRequest) -> Rejection:
    if not isinstance(query, SchemaQuery):
        return not_acceptable(f"none of the requested formats is offered; {offered()}")
    alternatives = f"XML schemas ({offered_schemas(query.api)}) or the structures: {offered()}"
    if names_json_schema(request.accept, query.format):
        return not_implemented(f"JSON schemas are not generated; request {alternatives}")
    return not_acceptable(f"none of the requested formats is offered; request {alternatives}")


def _version(query: Query, structures: Structures, settings: RestSettings) -> Structures | Rejection:
    if query.as_of is None:
        return structures
    if settings.version_at is None:
        return not_implemented("this service keeps no history, so it answers no queries with asOf")
    try:
        return settings.version_at(query.as_of)
    except KafkaReplicaError as error:
        return semantic_error(f"asOf={query.as_of}: {error}")


def _in_first_format(request: _Request, found: Contents, accepted: tuple[OfferedFormat, ...]) -> RestAnswer | Rejection:
    """Return the answer in the first format that can represent all of it, else in the format that omits the least."""
    best: tuple[OfferedFormat, WrittenMessage] | None = None
    first_reason: Rejection | None = None
    for offer in accepted:
        if best is not None and len(found.artefacts) > _FEW and not omits_less(found, offer.format, best[1]):
            continue
        message = _message(request, found, offer)
        if isinstance(message, Rejection):
            first_reason = first_reason or message
            continue
        if best is None or message.omitted < best[1].omitted:
            best = offer, message
        if message.omitted <= len(found.errors):
            break
    if best is None:
        assert first_reason is not None  # noqa: S101 - there is at least one offer
        return first_reason
    offer, message = best
    return _complete(request, offer, message.data, message.omitted)


def _message(request: _Request, found: Contents, offer: OfferedFormat) -> WrittenMessage | Rejection:
    query = request.query
    is_one = len(found.artefacts) == 1 and not found.errors and not found.unsearched
    if isinstance(query, StructureQuery) and is_one and not found.is_reduced:
        data = stored_answer(query, found.artefacts[0], offer, request.version)
        if data is not None:
            return WrittenMessage(data)
    return written(found, offer.format, request.settings)


def _omitted(count: int) -> tuple[tuple[str, str], ...]:
    return ((OMITTED, str(count)),) if count else ()


def _rejected(rejection: Rejection, request: RestRequest, api: Api, settings: RestSettings) -> RestAnswer:
    lacking = _omitted(rejection.omitted)
    if rejection.status == 404 and settings.empty_status == 204:
        return RestAnswer(204, (VARY, *lacking), b"")
    format_ = error_format(request.accept, format_of(request.query), api)
    content_type, body = error_message(rejection, format_, settings.header)
    return RestAnswer(rejection.status, (("Content-Type", content_type), VARY, *lacking), body, rejection.text)


def _is_v1(path: str) -> bool:
    """Return whether an invalid path is probably of API 1.x, whose errors are in SDMX-ML by default."""
    return not path.lstrip("/").startswith((Api.V2, "structure/"))

"""The routes that validate and map uploaded data."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.requests import Request

from kafka_replica.server.answers.file_response import FileResponse
from kafka_replica.server.answers.versions import ServedVersion, pinned_version
from kafka_replica.server.data.accepting import choose_format
from kafka_replica.server.data.answers import MAP_FORMATS, REPORT_FORMATS, map_answer, validation_answer
from kafka_replica.server.data.content import Content
from kafka_replica.server.data.fmr import fmr_answer, fmr_error, fmr_request
from kafka_replica.server.data.options import MAP_OPTIONS, VALIDATE_OPTIONS, options_of
from kafka_replica.server.data.processing import map_file, validate_file
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.uploads.data_requests import DataRequests
from kafka_replica.server.uploads.receiving import Upload


class DataRoutes:
    """The endpoints for uploaded data.

    Args:
        requests: receives the data.
    """

    def __init__(self, requests: DataRequests) -> None:
        self._requests = requests

    async def validate(self, request: Request) -> FileResponse:
        """Answer with the validation report of uploaded data."""
        return await self._requests.respond(request, pinned_version(request.path_params), partial(_validated, request))

    async def map(self, request: Request) -> FileResponse:
        """Answer with mapped data."""
        return await self._requests.respond(request, pinned_version(request.path_params), partial(_mapped, request))

    async def validate_like_fmr(self, request: Request) -> FileResponse:
        """Answer as Fusion Metadata Registry does."""
        try:
            return await self._requests.respond(
                request, pinned_version(request.path_params), partial(_validated_like_fmr, request)
            )
        except Problem as problem:
            if problem.status_code not in {400, 404, 415, 422}:
                raise
            return FileResponse(fmr_error(400, problem.detail), dict(problem.headers or {}), _nothing)


def _validated(request: Request, upload: Upload, served: ServedVersion, out: Path) -> Content:
    options = options_of([*request.query_params.multi_items(), *upload.fields], VALIDATE_OPTIONS)
    format_name = choose_format(_accept(request), options.format, REPORT_FORMATS)
    done = validate_file(upload.path, options, served.structures, out, lists=format_name == "zip")
    return validation_answer(done.outcome, out, format_name)


def _mapped(request: Request, upload: Upload, served: ServedVersion, out: Path) -> Content:
    options = options_of([*request.query_params.multi_items(), *upload.fields], MAP_OPTIONS)
    format_name = choose_format(_accept(request), options.format, MAP_FORMATS)
    done = map_file(upload.path, options, served.structures, out, lists=format_name == "zip")
    return map_answer(done.outcome, out, format_name)


def _validated_like_fmr(request: Request, upload: Upload, served: ServedVersion, out: Path) -> Content:
    parsed = fmr_request(request.headers)
    return fmr_answer(parsed, validate_file(upload.path, parsed.options, served.structures, out), upload.path, out)


def _accept(request: Request) -> str:
    return ", ".join(request.headers.getlist("accept"))


def _nothing() -> None:
    """Do nothing."""

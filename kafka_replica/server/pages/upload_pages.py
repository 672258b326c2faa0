"""The pages for uploads: forms for a file, and the report of its validation or mapping. The service keeps no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from kafka_replica.data.jobs import Outcome
from kafka_replica.errors import UsageError
from kafka_replica.server.answers.file_response import FileResponse
from kafka_replica.server.answers.versions import ServedVersion, Versions, pinned_version
from kafka_replica.server.data.answers import map_answer, validation_answer
from kafka_replica.server.data.content import Content
from kafka_replica.server.data.options import MAP_OPTIONS, VALIDATE_OPTIONS, options_of
from kafka_replica.server.data.processing import map_file, validate_file
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.rendering import POLICY, Renderer
from kafka_replica.server.pages.report_page import report_context
from kafka_replica.server.pages.views import Pages
from kafka_replica.server.settings import ServerSettings
from kafka_replica.server.uploads.data_requests import DataRequests
from kafka_replica.server.uploads.receiving import Upload

_OFFERED: Final = 500
_HEADERS: Final = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"}
"""The headers of the pages; with the policy ``no-referrer``, browsers would not send the origin of a form."""
_NAMES: Final = {"csv": "mapped.csv", "zip": "report.zip"}
_FORMATS: Final = {"validate": ("html", "zip"), "map": ("html", "csv", "zip")}


class UploadPages:
    """The endpoints of forms that send data.

    Args:
        pages: renders pages of a version.
        requests: receives data.
        versions: the versions of the replica.
        renderer: renders the templates.
        settings: the limits, which the page shows.
    """

    def __init__(
        self, pages: Pages, requests: DataRequests, versions: Versions, renderer: Renderer, settings: ServerSettings
    ) -> None:
        self._pages = pages
        self._requests = requests
        self._versions = versions
        self._renderer = renderer
        self._settings = settings

    async def page(self, request: Request) -> Response:
        """Answer with the forms."""

        def context(served: ServedVersion, links: Links) -> Mapping[str, object]:
            return {
                "section": "upload",
                "here": Address(("upload",)),
                "flows": _references(served, "Dataflow"),
                "maps": _references(served, "StructureMap"),
                "limit_bytes": self._settings.max_upload_bytes,
                "actions": {"validate": links.page("upload"), "map": links.page("upload", "map")},
            }

        answer = await self._pages.of_version(request, "upload.html", context)
        answer.headers["Referrer-Policy"] = _HEADERS["Referrer-Policy"]
        return answer

    async def upload(self, request: Request) -> FileResponse:
        """Answer with the report of the validation of a file."""

        def compute(upload: Upload, served: ServedVersion, out: Path) -> Content:
            options = options_of(upload.fields, VALIDATE_OPTIONS)
            kind = _kind("validate", options.format)
            outcome = validate_file(upload.path, options, served.structures, out, lists=kind == "zip").outcome
            if kind != "html":
                return _download(validation_answer(outcome, out, kind), kind)
            return self._report(request, served, outcome, "accepted")

        return await self._requests.respond(request, pinned_version(request.path_params), compute)

    async def upload_to_map(self, request: Request) -> FileResponse:
        """Answer with the mapped rows of a file, or with the report of the mapping."""

        def compute(upload: Upload, served: ServedVersion, out: Path) -> Content:
            options = options_of(upload.fields, MAP_OPTIONS)
            kind = _kind("map", options.format)
            outcome = map_file(upload.path, options, served.structures, out, lists=kind == "zip").outcome
            if kind != "html":
                return _download(map_answer(outcome, out, kind), kind)
            return self._report(request, served, outcome, "mapped")

        return await self._requests.respond(request, pinned_version(request.path_params), compute)

    def _report(self, request: Request, served: ServedVersion, outcome: Outcome, done: str) -> Content:
        version = self._versions.id_of(served.snapshot)
        links = self._renderer.links(request.scope, None if pinned_version(request.path_params) is None else version)
        shown: dict[str, Any] = {
            "section": "upload",
            "version": version,
            "again": links.page("upload"),
            "done": done,
            **report_context(outcome, links.pinned_to(version)),
        }
        return Content("text/html; charset=utf-8", self._renderer.html("report.html", links, shown), headers=_HEADERS)


def _references(served: ServedVersion, cls: str) -> list[str]:
    """Return the references of a class's structures, up to a maximum number, for a list to choose from."""
    return [urn.reference for urn in served.structures.urns if urn.cls == cls][:_OFFERED]


def _kind(task: str, wanted: str | None) -> str:
    kinds = _FORMATS[task]
    if wanted is not None and wanted not in kinds:
        raise UsageError(f"format={wanted!r} is not possible here; it is one of {', '.join(kinds)}")
    return wanted or kinds[0]


def _download(content: Content, kind: str) -> Content:
    """Return content that browsers save as a file."""
    disposition = {"Content-Disposition": f'attachment; filename="{_NAMES[kind]}"'}
    return replace(content, headers={**content.headers, **disposition})

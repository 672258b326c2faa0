"""Rendering of HTML pages from templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response
from starlette.types import Scope

import kafka_replica
from kafka_replica.common.wording import counted
from kafka_replica.server.access.sessions import SESSION
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.pages.links import Links
from kafka_replica.server.settings import ServerSettings

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy of pages: only the service's own style sheet, icon and forms, and no scripts."""

_TAG: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


class Renderer:
    """Renders templates with the values that all pages share.

    Args:
        settings: the settings of the app.
        has_history: whether there is a history on disk, and so a link to its page.
    """

    def __init__(self, settings: ServerSettings, *, has_history: bool = False) -> None:
        self._settings = settings
        self._sections: list[tuple[str, tuple[str, ...]]] = [
            ("status", ()),
            ("structures", ("structures",)),
            ("upload", ("upload",)),
        ]
        if has_history:
            self._sections.append(("history", ("history",)))
        if settings.producers:
            self._sections.append(("producers", ("producers",)))
        self._templates = Environment(
            loader=PackageLoader("kafka_replica.server.pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            language=language_tag, web=web_address, number="{:,}".format, counted=counted, instant=instant_text
        )

    def links(self, scope: Scope, pinned: VersionId | None = None) -> Links:
        """Return the links for a page of the app, which may be mounted in another app."""
        return Links(quote(scope.get("root_path", "")), self._settings.base_paths, pinned, scope.get(SESSION))

    def html(self, template: str, links: Links, context: Mapping[str, object]) -> bytes:
        """Render a page in UTF-8.

        Args:
            template: the file name of the template.
            links: the links to other pages, pinned to a version or not.
            context: the values for the template.
        """
        shared: dict[str, object] = {
            "environment": self._settings.environment, "release": kafka_replica.__version__, "links": links,
            "sections": self._sections, "version": None, "here": None, "section": "",
        }  # fmt: skip
        # The texts of a message may contain lone surrogates, which UTF-8 cannot represent.
        return self._templates.get_template(template).render({**shared, **context}).encode("utf-8", "replace")


def html_response(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer with a page."""
    fixed = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    return Response(body, status, {**fixed, **(headers or {})}, "text/html")


def language_tag(text: str) -> str | None:
    """Return a message's language if it is a valid value of ``lang``, else None. Source: RFC 5646, section 2.1."""
    return text if _TAG.fullmatch(text) else None


def instant_text(instant_ms: int) -> str:
    """Return an instant, in milliseconds since 1970, as text in UTC."""
    return datetime.fromtimestamp(instant_ms / 1000, UTC).isoformat(sep=" ", timespec="milliseconds")


def web_address(text: str | None) -> str | None:
    """Return a URL of a message if it is safe to link to, else None; only HTTP, because others may run scripts."""
    return text if text is not None and text.lower().startswith(("http://", "https://")) else None

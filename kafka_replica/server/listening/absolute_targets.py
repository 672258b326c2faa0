"""Requests whose target is a whole URL, as clients send them to a proxy, and as every server must accept them.

Source: RFC 9112, section 3.2.2. The host in the target replaces that of the header ``Host``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Final
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

_parts: Final = re.compile(rb"(?i:https?)://((?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::[0-9]*)?)(/.*)?").fullmatch


class AbsoluteTargets:
    """A middleware that gives the app the path and the host of a target that is a URL.

    All other targets are left as they are; the app refuses those that are not a path.

    Args:
        app: the wrapped app.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Return the app's answer to a request."""
        if not scope.get("raw_path", b"/").startswith(b"/"):
            use_path(scope)
        return self._app(scope, receive, send)


def use_path(scope: Scope) -> None:
    """Replace a URL in a request's scope by its path, and the header ``Host`` by its host; leave all else as it is."""
    found = _parts(scope["raw_path"])
    if found is None:
        return
    host, path = found[1], found[2] or b"/"
    scope["raw_path"], scope["path"] = path, unquote(path.decode("ascii"))
    scope["headers"] = [(b"host", host), *(each for each in scope["headers"] if each[0] != b"host")]

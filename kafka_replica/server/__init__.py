"""The HTTP service: a registry's read API over a replica, web pages, and validation and mapping of uploads.

::

    app = create_app(replica)  # an ASGI app
    serve(replica)  # or the whole server

The package needs the extra ``server``. It imports the replica, SDMX and metrics, and only the command imports it. No
other package imports jinja2, starlette and uvicorn; the subpackages ``rest`` and ``data`` do without them. Read ``app``
first, then ``routes.sdmx``, ``routes.change_feed`` and ``running``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kafka_replica.server.app import create_app
    from kafka_replica.server.running.serve import serve
    from kafka_replica.server.settings import ListenSettings, ServerSettings

__all__ = ["ListenSettings", "ServerSettings", "create_app", "serve"]

_HOMES: Final = {
    "ListenSettings": "settings",
    "ServerSettings": "settings",
    "create_app": "app",
    "serve": "running.serve",
}
"""The module of each public name."""

if not TYPE_CHECKING:  # otherwise type checkers would accept any name

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: ``rest`` needs no HTTP library."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in {"jinja2", "starlette", "uvicorn"}:
                raise
            from kafka_replica.errors import MissingExtraError  # noqa: PLC0415

            raise MissingExtraError("the service over HTTP", "server") from error

"""The settings of the HTTP service: keys of the file's table ``[server]``, flags and environment variables.

``ServerSettings`` apply wherever the app runs, ``ListenSettings`` only to ``kafka-replica serve`` and ``serve``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from kafka_replica.common.secret_values import Secret
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")
BASE_PATHS: Final = ("/sdmx/v2", "/sdmx/v1", "/ws/public/sdmxapi/rest")
ACCESS_LOGS: Final = ("off", "text", "json")


def setting(default: T, help_text: str, *, least: float | None = None) -> T:
    """Return a field of a settings class.

    Args:
        default: the default value.
        help_text: the description in the help of the command.
        least: the smallest possible number; None if the setting is not a number.
    """
    found: T = field(default=default, metadata={"help": help_text, "least": least})
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The settings of the app.

    Raises:
        ConfigurationError: a value is impossible.
    """

    base_paths: tuple[str, ...] = setting(BASE_PATHS, "A path below which the SDMX REST API answers. Repeatable.")
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "A host name that requests may use; * allows any. Repeatable. By default the loopback names and that of host.",
    )
    allowed_origins: tuple[str, ...] = setting(
        (), "An origin whose web pages may read answers (CORS); * allows any. Repeatable."
    )
    environment: str = setting("", "The name of the environment, which all pages show.")
    tokens_file: Path | None = setting(None, "File with the hashes of the tokens that are accepted.")
    producers: tuple[str, ...] = setting(
        (), "The settings file of a reference producer, to show it and to control it. Repeatable."
    )
    ready_when_stale: bool = setting(False, "Report ready with a version from before a restart.")
    max_lag_s: float | None = setting(None, "Report not ready while the version lags behind for longer.", least=0)
    max_lag_records: int | None = setting(None, "Report not ready while the version lags by more offsets.", least=0)
    threads: int = setting(4, "Threads that compute answers.", least=1)
    max_requests: int = setting(100, "Maximum number of requests in progress; further ones get 503.", least=1)
    request_timeout_s: float = setting(
        30.0, "Time limit for computing an answer, after which the request gets 503.", least=0
    )
    max_response_bytes: int = setting(
        256 * 1024 * 1024, "Maximum size of an answer; larger answers become 413.", least=1
    )
    cache_bytes: int = setting(64 * 1024 * 1024, "Maximum size of the cache of answers.", least=0)
    decoded_bytes: int | None = setting(
        None,
        "Maximum size of the messages that are kept decoded. By default 128 MiB, shared with the rest of the process.",
        least=0,
    )
    written_bytes: int = setting(64 * 1024 * 1024, "Maximum size of the cache of written artefacts.", least=0)
    search_bytes: int = setting(128 * 1024 * 1024, "Maximum size of the texts kept for the explorer's search.", least=0)
    empty_status: int = setting(404, "Status of an SDMX answer without structures: 404, or 204 without a body.")
    max_url_bytes: int = setting(8192, "Maximum length of path and query; longer ones get 414.", least=1)
    max_header_bytes: int = setting(16 * 1024, "Maximum size of a request's headers; larger ones get 431.", least=256)
    max_streams: int = setting(100, "Maximum number of open streams of changes; further ones get 503.", least=0)
    max_pending_changes: int = setting(100, "Changes that may be pending for a stream before they are merged.", least=1)
    heartbeat_s: float = setting(15.0, "Interval of comments in a stream without changes.", least=0.05)
    max_uploads: int = setting(8, "Maximum number of requests with data in progress; further ones get 503.", least=0)
    max_upload_bytes: int = setting(64 * 1024 * 1024, "Maximum size of uploaded data; larger data gets 413.", least=1)
    upload_timeout_s: float = setting(
        60.0, "Time limit for receiving uploaded data, after which the request gets 408.", least=0
    )
    data_threads: int = setting(2, "Threads that validate and map data.", least=1)
    data_timeout_s: float = setting(
        300.0, "Time limit for validating or mapping data, after which the request gets 503.", least=0
    )

    def __post_init__(self) -> None:
        check_fields(self)
        if self.empty_status not in {204, 404}:
            raise ConfigurationError(f"empty_status={self.empty_status} is not possible; it is 404 or 204")
        for path in self.base_paths:
            if not path.startswith("/") or path.endswith("/") or any(sign in path for sign in "%?#{} "):
                raise ConfigurationError(f"base_paths: {path!r} is not possible; it is a path such as /sdmx/v2")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenSettings:
    """The settings of the server around the app.

    Raises:
        ConfigurationError: a value is impossible.
    """

    host: str = setting("127.0.0.1", "The address to listen at; 0.0.0.0 and :: mean all addresses.")
    port: int = setting(8080, "The port to listen at; 0 chooses a free one.", least=0)
    tls_certificate: Path | None = setting(None, "The server's certificate and its chain (PEM); enables HTTPS.")
    tls_key: Path | None = setting(None, "The private key of the certificate (PEM), if it is not in the same file.")
    tls_key_password: str = setting("", "The password of the private key; better given by file or environment.")
    tls_client_ca: Path | None = setting(
        None, "Authorities (PEM), one of which must have signed each client's certificate."
    )
    max_connections: int = setting(
        1000, "Maximum number of open connections; requests on further ones get 503, except for health.", least=1
    )
    header_timeout_s: float = setting(
        10.0,
        "Time limit for receiving a request's line and headers, and for a small form such as that to sign in.",
        least=0.05,
    )
    idle_timeout_s: int = setting(15, "Time that a connection may be idle between requests.", least=1)
    write_timeout_s: float = setting(30.0, "Time for which a client may stop reading an answer.", least=0.05)
    grace_s: int = setting(10, "Time for requests to end at shutdown.", least=0)
    access_log: str = setting("text", "Format of the access log on stderr: off, text or json.")
    workers: int = setting(1, "Processes that answer; with more than 1, another process keeps the replica.", least=1)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "tls_key_password", Secret(self.tls_key_password))
        if self.port > 65535:
            raise ConfigurationError(f"port={self.port} is not possible; it is 0 to 65535")
        if self.access_log not in ACCESS_LOGS:
            raise ConfigurationError(f"access_log={self.access_log!r} is not possible; it is {', '.join(ACCESS_LOGS)}")
        if self.tls_certificate is None and (self.tls_key is not None or self.tls_client_ca is not None):
            raise ConfigurationError("tls_key and tls_client_ca need tls_certificate, the server's own certificate")


def check_fields(settings: ServerSettings | ListenSettings) -> None:
    """Check the types and limits of all settings that are numbers.

    Raises:
        ConfigurationError: a value is impossible.
    """
    for each in fields(settings):
        value, least = getattr(settings, each.name), limit_of(each.metadata)
        if least is None or value is None:
            continue
        whole = "int" in str(each.type)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value >= least:
            what = "a whole number" if whole else "a number"
            raise ConfigurationError(f"{each.name}={value!r} is not possible; it is {what}, {least:g} or more")
        if not math.isfinite(value):
            raise ConfigurationError(f"{each.name}={value!r} is not possible; give a large number to set no limit")


def limit_of(metadata: Mapping[str, Any]) -> float | None:
    """Return the smallest possible number of a field that ``setting`` returned; None if the field is not a number."""
    least: float | None = metadata["least"]
    return least

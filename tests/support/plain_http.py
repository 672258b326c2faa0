"""Requests without TLS: for all others, httpx loads the known certificate authorities each time, which takes 30 ms."""

from __future__ import annotations

import ssl
from functools import partial
from typing import Final

import httpx

_NO_AUTHORITIES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

_PATIENCE_S: Final = 60.0  # five seconds by default, which a busy machine may need for a first request

get: Final = partial(httpx.get, verify=_NO_AUTHORITIES, timeout=_PATIENCE_S)
post: Final = partial(httpx.post, verify=_NO_AUTHORITIES, timeout=_PATIENCE_S)
stream: Final = partial(httpx.stream, verify=_NO_AUTHORITIES, timeout=_PATIENCE_S)
Client: Final = partial(httpx.Client, verify=_NO_AUTHORITIES, timeout=_PATIENCE_S)

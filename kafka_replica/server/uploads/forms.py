"""Reading of small forms."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from kafka_replica.server.errors.problems import Problem

_FORM: Final = "application/x-www-form-urlencoded"
_MOST_BYTES: Final = 8192


async def form_fields(request: Request, timeout_s: float) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        Problem: the body is not a form, is too large, or does not arrive in time; or the client disconnects.
    """
    if request.headers.get("content-type", _FORM).partition(";")[0].strip().lower() != _FORM:
        raise Problem(415, f"the body must be a form: Content-Type: {_FORM}", {"Connection": "close"})
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            async for piece in request.stream():
                body += piece
                if len(body) > _MOST_BYTES:
                    raise Problem(413, f"the form is larger than {_MOST_BYTES} bytes", {"Connection": "close"})
    except TimeoutError as error:
        raise Problem(408, f"the form did not arrive within {timeout_s:g} s", {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise Problem(400, "the client left before its form was complete") from error
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))

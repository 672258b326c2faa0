"""SDMX error messages, and the notices about omitted artefacts in structure messages.

Source: SDMXMessage.xsd of 2.1 and 3.x (``Error``), SDMXMessageFooter.xsd (``Footer``); the schemas of SDMX-JSON 1.0,
2.0 and 2.1 for structures (``errors``).
"""

from __future__ import annotations

import json
from typing import Any, Final
from xml.sax.saxutils import escape

from kafka_replica.sdmx import Format, Header
from kafka_replica.server.rest.rejections import Rejection

_NAMESPACES: Final = {
    Format.SDMX_ML_2_1: "http://www.sdmx.org/resources/sdmxml/schemas/v2_1",
    Format.SDMX_ML_3_0: "http://www.sdmx.org/resources/sdmxml/schemas/v3_0",
    Format.SDMX_ML_3_1: "http://www.sdmx.org/resources/sdmxml/schemas/v3_1",
}
_JSON: Final = {Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1}
_TITLES: Final = {
    100: "No results found", 110: "Unauthorized", 140: "Syntax error", 150: "Semantic error",
    500: "Internal server error", 501: "Not implemented", 503: "Service unavailable",
    510: "Response size exceeds service limit",
}  # fmt: skip
_WARNING: Final = 100
_MAX_SHOWN: Final = 100


def error_message(rejection: Rejection, format_: Format, header: Header) -> tuple[str, bytes]:
    """Return the media type and bytes of an error message in a format.

    For formats that define no error message, it is in SDMX-JSON 2.0 (Fusion-JSON) or SDMX-ML 2.1 (all others).
    """
    if format_ in _JSON or format_ is Format.FUSION_JSON:
        edition = format_ if format_ in _JSON else Format.SDMX_JSON_2_0
        content = {
            "meta": _meta(header),
            "errors": [_status(edition, rejection.status, rejection.code, rejection.text)],
        }
        media_type = str(edition) if format_ in _JSON else "application/json"
        return media_type, json.dumps(content, ensure_ascii=False).encode()
    base = _NAMESPACES.get(format_, _NAMESPACES[Format.SDMX_ML_2_1])
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<message:Error xmlns:message="{base}/message" xmlns:common="{base}/common">'
        f'<message:ErrorMessage code="{rejection.code}">'
        f'<common:Text xml:lang="en">{_xml(rejection.text)}</common:Text>'
        "</message:ErrorMessage></message:Error>"
    )
    return "application/xml", text.encode()


def with_notices(message: bytes, notices: list[str], format_: Format) -> bytes:
    """Add notices about omitted artefacts to a structure message, unless the format has no place for them."""
    shown = [*notices[:_MAX_SHOWN], *([f"and {len(notices) - _MAX_SHOWN:,} more"] if len(notices) > _MAX_SHOWN else [])]
    if format_ in _JSON:
        statuses = [_status(format_, 200, _WARNING, text) for text in shown]
        return message.rstrip()[:-1] + b',"errors":' + json.dumps(statuses, ensure_ascii=False).encode() + b"}"
    if format_ not in _NAMESPACES:
        return message
    base = _NAMESPACES[format_]
    messages = "".join(
        f'<footer:Message code="{_WARNING}" severity="Warning"><common:Text xml:lang="en">{_xml(text)}</common:Text>'
        "</footer:Message>"
        for text in shown
    )
    footer = (
        f'<footer:Footer xmlns:footer="{base}/message/footer" xmlns:common="{base}/common">{messages}</footer:Footer>'
    )
    end = message.rindex(b"</")
    return message[:end] + footer.encode() + message[end:]


def _status(format_: Format, status: int, code: int, text: str) -> dict[str, Any]:
    # Since SDMX-JSON 2.1, the code is the HTTP status.
    return {"code": status if format_ is Format.SDMX_JSON_2_1 else code, "title": _TITLES.get(code, ""), "detail": text}


def _meta(header: Header) -> dict[str, Any]:
    return {
        "id": header.id or "ERROR",
        "test": header.test,
        "prepared": header.prepared or "1970-01-01T00:00:00Z",
        "sender": {"id": header.sender or "KAFKA_REPLICA"},
    }


def _xml(text: str) -> str:
    # XML 1.0, section 2.2: most control characters, surrogates, U+FFFE and U+FFFF are not allowed.
    allowed = (
        c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff" else "\ufffd"
        for c in text
    )
    return escape("".join(allowed))

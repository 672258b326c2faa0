"""Subjects of client certificates, to which roles can be granted, in a comparable form. Source: RFC 4514."""

from __future__ import annotations

import re
from asyncio import BaseTransport
from collections.abc import Iterable
from typing import Final

SUBJECT: Final = "client_subject"
"""The key in a request's state that holds the subject of the client's certificate."""
_SHORT: Final = {
    "COMMONNAME": "CN", "ORGANIZATIONNAME": "O", "ORGANIZATIONALUNITNAME": "OU", "COUNTRYNAME": "C",
    "LOCALITYNAME": "L", "STATEORPROVINCENAME": "ST", "S": "ST", "EMAILADDRESS": "EMAIL", "E": "EMAIL",
    "DOMAINCOMPONENT": "DC", "USERID": "UID", "SURNAME": "SN", "GIVENNAME": "GN", "STREETADDRESS": "STREET",
}  # fmt: skip
"""The short name of each attribute that has several names, in capitals."""
_part: Final = re.compile(r"(?:[^,\\]|\\.)+")
_parts: Final = re.compile(rf"{_part.pattern}(?:,{_part.pattern})*")
_escaped: Final = re.compile(r"\\(.)")
_special: Final = re.compile(r"[,\\]")


def subject_of(transport: BaseTransport) -> str | None:
    """Return the subject of the certificate of a connected client; None if the client sent no certificate."""
    connection = transport.get_extra_info("ssl_object")
    certificate = None if connection is None else connection.getpeercert()
    if not certificate:
        return None
    subject: tuple[tuple[tuple[str, str], ...], ...] = certificate["subject"]
    return _joined(pair for part in subject for pair in part)


def parse_subject(text: str) -> str | None:
    """Return a subject such as ``CN=ada,O=Office`` in the form that :func:`subject_of` returns; None if malformed."""
    if not _parts.fullmatch(text):
        return None
    pairs = []
    for part in map(str.strip, _part.findall(text)):
        name, is_there, value = part.partition("=")
        if not is_there or not name.strip() or not value.strip() or not _part.fullmatch(part):
            return None
        pairs.append((name.strip(), _escaped.sub(r"\1", value.strip())))
    return _joined(pairs) if pairs else None


def _joined(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the parts as one text, sorted and with short names, so that all spellings of a subject are equal."""
    parts = ((_SHORT.get(name.upper(), name.upper()), _special.sub(r"\\\g<0>", value)) for name, value in pairs)
    return ",".join(sorted(f"{name}={value}" for name, value in parts))

"""Subjects of client certificates, to which roles can be granted, in a comparable form. Source: RFC 4514."""

from __future__ import annotations

import re
from asyncio import BaseTransport
from collections.abc import Iterable
from typing import Final

SUBJECT: Final = "client_subject"
"""The key in a request's state that holds the subject of the client's certificate."""
_SHORT: Final = {
    "commonName": "CN", "organizationName": "O", "organizationalUnitName": "OU", "countryName": "C",
    "localityName": "L", "stateOrProvinceName": "ST", "emailAddress": "EMAIL", "domainComponent": "DC",
    "userId": "UID", "serialNumber": "SERIALNUMBER",
}  # fmt: skip
_part: Final = re.compile(r"(?:[^,\\]|\\.)+")
_escaped: Final = re.compile(r"\\(.)")


def subject_of(transport: BaseTransport) -> str | None:
    """Return the subject of the certificate of a connected client; None if the client sent no certificate."""
    connection = transport.get_extra_info("ssl_object")
    certificate = None if connection is None else connection.getpeercert()
    if not certificate:
        return None
    subject: tuple[tuple[tuple[str, str], ...], ...] = certificate["subject"]
    return _joined((_SHORT.get(name, name), value) for part in subject for name, value in part)


def parse_subject(text: str) -> str | None:
    """Return a subject such as ``CN=ada,O=Office`` in the form that :func:`subject_of` returns; None if malformed."""
    pairs = []
    for part in _part.findall(text):
        name, is_there, value = part.strip().partition("=")
        if not is_there or not name.strip() or not value.strip():
            return None
        pairs.append((name.strip(), _escaped.sub(r"\1", value.strip())))
    return _joined(pairs) if pairs else None


def _joined(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the parts as one text, sorted, so that differently ordered spellings of a subject are equal."""
    return ",".join(
        sorted(
            f"{name.upper()}={value.replace(chr(92), chr(92) * 2).replace(',', chr(92) + ',')}" for name, value in pairs
        )
    )

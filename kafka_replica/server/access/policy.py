r"""The rules of access: the host names that requests may use, and the roles that tokens grant.

A file of tokens has a line for each token: the role, the SHA-256 of the token in hexadecimal, and optionally a name.
A line may also give a role to the subject of a client certificate::

    # role   SHA-256 of the token                                              holder
    read     9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  dashboards
    control  60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752  operators
    control  subject:CN=ada,O=Office of Statistics

A comment begins with ``#``; after a subject, only after whitespace, and ``\#`` begins no comment.
Tokens must be long and random (``openssl rand -hex 32``); an unsalted hash protects only such tokens.
Source: RFC 6750, sections 2.1 and 3 (bearer tokens).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from kafka_replica.errors import ConfigurationError
from kafka_replica.server.access.client_certificates import parse_subject
from kafka_replica.server.errors.problems import Problem

GRANTED: Final = "kafka_replica.token"
"""The key in a request's scope that holds its token."""
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_PORT: Final = re.compile(r":\d*$")
_SUBJECT: Final = "subject:"
_COMMENT: Final = re.compile(r"#.*")
_COMMENT_OF_SUBJECT: Final = re.compile(r"(?<!\\)\s#.*")
_names_subject: Final = re.compile(r"\s*\S+\s+subject:").match


class Role(IntEnum):
    """A role; each role includes the roles below it."""

    READ = 1
    """Read structures, changes, history and metrics."""
    CONTROL = 2
    """Control the producer."""


_ROLES: Final = tuple(role.name.lower() for role in Role)


class Token(NamedTuple):
    """An accepted token, or a certificate subject that has a role."""

    role: Role
    digest: bytes
    holder: str
    subject: str | None = None
    """The subject of a client certificate; ``digest`` is empty in this case. None for a token."""


def read_tokens(path: Path) -> tuple[Token, ...]:
    """Read a file of tokens.

    Raises:
        ConfigurationError: the file cannot be read, a line is malformed, or there is no token; hashes are not shown.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"reading the tokens in {path}: {reason}") from error
    tokens = []
    for number, line in enumerate(lines, 1):
        text = (_COMMENT_OF_SUBJECT if _names_subject(line) else _COMMENT).sub("", line).strip()
        if not text:
            continue
        token = _token_of(text)
        if token is None:
            raise ConfigurationError(
                f"{path}, line {number}: a line must have a role ({' or '.join(_ROLES)}), the SHA-256 of the token in "
                "hexadecimal, and optionally a name; or a role and a certificate's subject, subject:CN=...,O=..."
            )
        tokens.append(token)
    if not tokens:
        raise ConfigurationError(f"{path} has no token; without tokens_file, every client may read")
    return tuple(tokens)


def _token_of(line: str) -> Token | None:
    """Return the token or subject that a line of the file accepts; None if it is malformed."""
    words = line.split(maxsplit=2)
    role = Role[words[0].upper()] if words[0] in _ROLES else None
    if role is None or len(words) < 2:
        return None
    if words[1].startswith(_SUBJECT):
        subject = parse_subject(line.partition(_SUBJECT)[2])
        return None if subject is None else Token(role, b"", subject, subject)
    if not _HASH.fullmatch(words[1].lower()):
        return None
    return Token(role, bytes.fromhex(words[1]), words[2].strip() if len(words) > 2 else "")


def check_role(tokens: Sequence[Token], authorization: str, needed: Role, subject: str | None = None) -> Token:
    """Return the entry for the token of a request or for its certificate, if the entry has the needed role.

    Tokens are compared in constant time, so that the duration reveals nothing about accepted tokens.

    Args:
        tokens: the accepted tokens and subjects.
        authorization: the header ``Authorization``; empty if there is none.
        needed: the role that the request needs.
        subject: the subject of the client's certificate, which is used if ``authorization`` is empty.

    Raises:
        Problem: 401 without an accepted token; 403 if the certificate has no role, or the role is not sufficient.
    """
    if not authorization and subject is not None:
        held = [token for token in tokens if token.subject == subject]
        if not held:
            raise Problem(403, "the certificate has no role here; tokens_file gives roles to subjects")
        return _with_role(held, needed)
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        raise Problem(401, "this server needs a token: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
    digest = hashlib.sha256(given.strip().encode("utf-8", "surrogateescape")).digest()
    found = [token for token in tokens if hmac.compare_digest(token.digest, digest)]
    if not found:
        challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        raise Problem(401, "the token is not accepted", challenge)
    return _with_role(found, needed)


def _with_role(found: Sequence[Token], needed: Role) -> Token:
    best = max(found, key=lambda token: token.role)
    if best.role < needed:
        challenge = {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}
        what = "token" if best.subject is None else "certificate"
        raise Problem(403, f"the {what} lacks the role {needed.name.lower()}", challenge)
    return best


@lru_cache(maxsize=64)
def is_allowed_host(header: str, allowed: frozenset[str]) -> bool:
    """Return whether the header ``Host`` names an allowed host, on any port.

    This check stops DNS rebinding: a page of another site that resolves its own name to this server.

    Args:
        header: the value of the header ``Host``.
        allowed: the names in lower case, or ``*`` for any.
    """
    return "*" in allowed or _PORT.sub("", header.strip()).lower() in allowed


def check_own_origin(headers: Mapping[str, str]) -> None:
    """Check that a request that controls something comes from a page of this service, or from no browser.

    A proxy may add a signed-in person's token to every request of the browser, even to requests that pages of other
    sites cause.
    Source: W3C Fetch Metadata, section 2.3 (``Sec-Fetch-Site``).

    Args:
        headers: the headers of the request, by name in lower case.

    Raises:
        Problem: 403 if the request comes from another origin or site.
    """
    check_origin(headers, ())
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Problem(403, "pages of other sites may not control producers")


def check_origin(headers: Mapping[str, str], allowed: Collection[str]) -> None:
    """Check that an expensive request does not come from a page of another site.

    A browser sends some of these requests without a preflight request.
    Source: WHATWG Fetch, section 3.2 (``Origin``).

    Args:
        headers: the headers of the request, by name in lower case.
        allowed: the allowed origins, or ``*`` for any.

    Raises:
        Problem: 403 if the request comes from another origin.
    """
    origin = headers.get("origin")
    own = (f"http://{headers.get('host', '')}", f"https://{headers.get('host', '')}")
    if origin is not None and origin not in own and origin not in allowed and "*" not in allowed:
        raise Problem(403, "pages of this origin may not send data; the setting allowed_origins lists origins")

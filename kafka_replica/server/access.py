"""Access: the hosts that requests may name, and the roles that tokens grant.

A file of tokens has a line for each token: the role, the SHA-256 of the token in hexadecimal, and optionally a name::

    # role   SHA-256 of the token                                              holder
    read     9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  dashboards
    control  60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752  operators

Tokens have to be random and long (``openssl rand -hex 32``), so that a plain hash protects them.
Source: RFC 6750, sections 2.1 and 3 (bearer tokens).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Final, NamedTuple

from kafka_replica.errors import ConfigurationError
from kafka_replica.server.problems import Problem

GRANTED: Final = "kafka_replica.token"
"""The key of a request's scope under which its token is."""
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_PORT: Final = re.compile(r":\d*$")


class Role(IntEnum):
    """A role; each includes the ones below it."""

    READ = 1
    """Read structures, changes, history and metrics."""
    CONTROL = 2
    """Control the producer."""


class Token(NamedTuple):
    """A token that is accepted."""

    role: Role
    digest: bytes
    holder: str


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
        words = line.partition("#")[0].split(maxsplit=2)
        if not words:
            continue
        roles = [role.name.lower() for role in Role]
        if len(words) < 2 or words[0] not in roles or not _HASH.fullmatch(words[1].lower()):
            raise ConfigurationError(
                f"{path}, line {number}: a token is a role ({' or '.join(roles)}), the SHA-256 of the token in "
                "hexadecimal, and optionally a name"
            )
        holder = words[2].strip() if len(words) > 2 else ""
        tokens.append(Token(Role[words[0].upper()], bytes.fromhex(words[1]), holder))
    if not tokens:
        raise ConfigurationError(f"{path} has no token; without tokens_file, every client may read")
    return tuple(tokens)


def check_role(tokens: Sequence[Token], authorization: str, needed: Role) -> Token:
    """Return the token of a request. The time depends on the number of tokens only.

    Args:
        tokens: the accepted tokens.
        authorization: the header ``Authorization``.
        needed: the role that the request needs.

    Raises:
        Problem: 401 without an accepted token, 403 if its role is not enough.
    """
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        raise Problem(401, "this server needs a token: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
    digest = hashlib.sha256(given.strip().encode("utf-8", "surrogateescape")).digest()
    found = [token for token in tokens if hmac.compare_digest(token.digest, digest)]
    if not found:
        challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        raise Problem(401, "the token is not accepted", challenge)
    best = max(found, key=lambda token: token.role)
    if best.role < needed:
        challenge = {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}
        raise Problem(403, f"the token lacks the role {needed.name.lower()}", challenge)
    return best


def is_allowed_host(header: str, allowed: Collection[str]) -> bool:
    """Return whether the header ``Host`` names an allowed host, on any port.

    A page of another site that makes its own name lead to this server (DNS rebinding) is refused by this.

    Args:
        header: the header.
        allowed: the names in lower case, or ``*`` for any.
    """
    return "*" in allowed or _PORT.sub("", header.strip()).lower() in allowed


def check_own_origin(headers: Mapping[str, str]) -> None:
    """Check that a request that controls something comes from a page of this service, or from no browser.

    A proxy may add the token of a person who has signed in to each request of the browser, whoever made it.
    Source: W3C Fetch Metadata, section 2.3 (``Sec-Fetch-Site``).

    Args:
        headers: the headers of the request, by name in lower case.

    Raises:
        Problem: 403, it comes from another origin or site.
    """
    check_origin(headers, ())
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Problem(403, "pages of other sites may not control anything")


def check_origin(headers: Mapping[str, str], allowed: Collection[str]) -> None:
    """Check that a request that costs work comes from no page of another site.

    A browser would send some of these requests without asking for permission first.
    Source: WHATWG Fetch, section 3.2 (``Origin``).

    Args:
        headers: the headers of the request, by name in lower case.
        allowed: the origins that are allowed, or ``*`` for any.

    Raises:
        Problem: 403 if the origin is another one.
    """
    origin = headers.get("origin")
    own = (f"http://{headers.get('host', '')}", f"https://{headers.get('host', '')}")
    if origin is not None and origin not in own and origin not in allowed and "*" not in allowed:
        raise Problem(403, "pages of this origin may not send data; the setting allowed_origins lists origins")

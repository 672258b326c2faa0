"""Secrets in settings: the names of secret properties, and texts that hide their values.

A secret is wrapped as soon as a configuration is accepted. From then on, log lines, the ``repr`` of objects that
contain the secret, and the local variables in a traceback show ``***``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, SupportsIndex

from kafka_replica.common.error_causes import causes
from kafka_replica.errors import ConfigurationError

HIDDEN = "***"

# The only list of secret properties, for librdkafka, Java, schema registries and the producer's settings files.
_SECRET_NAME = re.compile(
    r"""pas+w | pwd | passphrase | secret | jaas | private | assertion | user\.info | kinit\.cmd
    | token(?!\.endpoint)       # but not the address from which tokens are fetched
    | oauthbearer\.config       # also an argument of oauth_cb, for which it may contain anything
    | ssl[._]key$ | key\.pem$ | keystore\.key$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PRIVATE_KEY = "PRIVATE KEY-----"
_USER_AND_PASSWORD = re.compile(
    r"(://[^\s:/@]*:|^[^\s:/@]+:(?!//)).*(?=@)"
)  # up to the last @, to hide too much rather than too little
_SECRET_PARAMETER = re.compile(rf"([?&][^=&\s]*(?:{_SECRET_NAME.pattern})[^=&\s]*=)[^&\s]*", _SECRET_NAME.flags)


class Secret(str):
    """A text whose ``repr`` is ``'***'``; for all other purposes it is the text itself.

    ``str()`` must return the value, because confluent-kafka, SQLAlchemy and smtplib call it on their arguments. The
    result is a `Secret` again, so that a value that was passed on still hides itself.
    """

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The text that may be shown to everyone."""
        return HIDDEN

    def __repr__(self) -> str:
        return repr(self.shown)

    def __str__(self) -> str:
        return self

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        return Secret(super().__getitem__(key))

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> SecretBytes:
        """Return the encoded text, which hides itself as well."""
        return SecretBytes(super().encode(encoding, errors))


class SecretBytes(bytes):
    """Bytes whose ``repr`` is ``b'***'``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(HIDDEN.encode())


class SecretUrl(Secret):
    """A URL whose ``repr`` hides its password, and query parameters that are secret."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The URL with ``***`` for its secrets."""
        return _without_secrets(self)


def is_secret(name: str) -> bool:
    """Return whether the value of a property must never be shown."""
    return _SECRET_NAME.search(name) is not None


def hide_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of settings in which secret values hide themselves. The function is idempotent.

    Secret values are those of secret properties, PEM texts with a private key, and URLs with a password.

    Raises:
        ConfigurationError: the settings are not a mapping.
    """
    if not isinstance(settings, Mapping):
        raise ConfigurationError(
            f"the configuration must be a mapping of librdkafka properties, not {type(settings).__name__}; "
            'for example {"bootstrap.servers": "localhost:9092"}'
        )
    return {name: _hidden(str(name), value) for name, value in settings.items()}


def hide_password(url: str) -> str:
    """Return a URL that hides its password and secret parameters; a URL without these is returned unchanged."""
    return url if _without_secrets(url) == url else SecretUrl(url)


def without_frames(error: BaseException) -> None:
    """Drop the tracebacks of a library's error and its causes, because their frames refer to secrets."""
    for cause in causes(error):
        cause.__traceback__ = None
        if cause.__context__ is not cause.__cause__:
            cause.__context__ = None


def _hidden(name: str, value: Any) -> Any:
    if is_secret(name):
        if isinstance(value, bytes):
            return SecretBytes(value)
        return value if value is None or isinstance(value, bool) or callable(value) else Secret(value)
    if isinstance(value, str):
        return Secret(value) if _PRIVATE_KEY in value else hide_password(value)
    return value


def _without_secrets(url: str) -> str:
    shown = _USER_AND_PASSWORD.sub(rf"\g<1>{HIDDEN}", url)
    return _SECRET_PARAMETER.sub(rf"\g<1>{HIDDEN}", shown)

"""Which librdkafka properties are secrets, and what may be shown of settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SECRET = re.compile(
    r"password|secret|jaas|token(?!\.endpoint)|\.pem$|oauthbearer\.config|assertion|private", re.IGNORECASE
)
_OF_THE_CONNECTION = ("bootstrap.servers", "metadata.broker.list", "security.", "sasl.", "ssl.")
HIDDEN = "********"


def is_secret(name: str) -> bool:
    """Whether the value of a property must not be shown."""
    return bool(_SECRET.search(name)) and name != "ssl.certificate.pem"


def shown(settings: Mapping[str, object]) -> tuple[dict[str, str], dict[str, str]]:
    """Settings as they may be shown: those of the producer, and those of the connection. Callables are left out."""
    texts = {name: HIDDEN if is_secret(name) else str(value) for name, value in settings.items() if not callable(value)}
    of_connection = {name: value for name, value in texts.items() if name.startswith(_OF_THE_CONNECTION)}
    return {name: value for name, value in texts.items() if name not in of_connection}, of_connection

"""Parse ``sasl.jaas.config``: one login module with its options, in the syntax of Java's JAAS files.

Source: javax.security.auth.login.Configuration; Kafka's documentation, "JAAS configuration for Kafka clients".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafka_replica.common.secret_values import Secret
from kafka_replica.errors import ConfigurationError

_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | \\\r?\n | //[^\n]* | \#[^\n]* | /\*.*?\*/ )
  | "(?P<quoted> (?:[^"\\\n]|\\.)* )"
  | '(?P<apostrophes> (?:[^'\\\n]|\\.)* )'
  | (?P<sign> [={};] )
  | (?P<word> [^\s"'={};]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


class Login(NamedTuple):
    """A login module and its options."""

    module: str
    """The last part of the class name, such as ``PlainLoginModule``."""
    options: Mapping[str, str]

    def __repr__(self) -> str:
        """Show the names of the options without their values, which include passwords."""
        return f"Login({self.module}, {', '.join(self.options)})"


def parse_jaas(text: str) -> Login:
    """Return the login module in a text of one or more lines.

    A text with an enclosing section, ``KafkaClient { ...; };`` as in a file, is accepted as well. A text with several
    login modules is rejected: Java would try them one after the other.

    Raises:
        ConfigurationError: the syntax is wrong. The message does not quote the text, because it contains passwords.
    """
    tokens = list(_tokens(text))
    if len(tokens) > 2 and tokens[1] == ("sign", "{"):
        end = len(tokens) - 1
        while end > 1 and tokens[end] == ("sign", ";"):
            end -= 1
        if tokens[end] != ("sign", "}"):
            raise _wrong("the closing } of the section is missing")
        tokens = tokens[2:end]
    return _login(tokens)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _wrong(f"line {text.count(chr(10), 0, at) + 1} has a quote that is not closed")
        kind, at = found.lastgroup, found.end()
        if kind in {"quoted", "apostrophes"}:
            yield "text", Secret(_ESCAPED.sub(lambda escape: _LETTERS.get(escape[1], escape[1]), found[kind]))
        elif kind in {"sign", "word"}:
            yield kind, Secret(found[kind])  # a password may be written without quotes


def _login(tokens: list[tuple[str, str]]) -> Login:
    if len(tokens) < 2 or tokens[0][0] == "sign" or tokens[1][1].lower() not in _FLAGS:
        raise _wrong("it has to begin with a class and a flag, such as ...PlainLoginModule required")
    options: dict[str, str] = {}
    at = 2
    while at < len(tokens) and tokens[at] != ("sign", ";"):
        if at + 2 >= len(tokens) or tokens[at][0] == "sign" or tokens[at + 1] != ("sign", "="):
            raise _wrong(f"after the option {_last(options)} there is no name=value")
        options[tokens[at][1]] = tokens[at + 2][1]
        at += 3
    if any(token != ("sign", ";") for token in tokens[at:]):
        raise _wrong("it names several login modules; leave one")
    if at >= len(tokens):
        raise _wrong("the semicolon at its end is missing")
    return Login(tokens[0][1].rpartition(".")[2], options)


def _last(options: Mapping[str, str]) -> str:
    return list(options)[-1] if options else "(none yet)"


def _wrong(reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"sasl.jaas.config cannot be read: {reason}; it has to look like "
        '`org.apache.kafka.common.security.plain.PlainLoginModule required username="..." password="...";`'
    )

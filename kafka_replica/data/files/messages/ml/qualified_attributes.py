"""XML attributes in a namespace: components if the namespace is one of the message, otherwise the sender's extensions.

Components are XML attributes without a namespace, but some senders give them the prefix of the element.

Source: SDMX-ML 2.1, schemas of structure-specific data, ``<xs:anyAttribute namespace="##local"/>``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.ml.unknown_elements import OF_W3C, UnknownElements

_TYPE: Final = "type"
"""The type of an element, which messages write with and without a namespace; it is not a component."""


def has_namespace(names: Iterable[str]) -> bool:
    """Return whether any of these names of XML attributes is in a namespace."""
    return "}" in "".join(names)


def without_prefixes(
    element: str, attributes: dict[str, str], unknown: UnknownElements, line: int
) -> dict[str, str]:  # fmt: skip
    """Return XML attributes, with the local names of those in a namespace of the message or of their element.

    Types, and XML attributes of the W3C, keep their names. So do extensions, of which a note says that they are not
    read.

    Args:
        element: the name of the element.
        attributes: its XML attributes.
        unknown: distinguishes extensions, and collects the notes on them.
        line: the line of the element, for the error.

    Raises:
        DatasetError: an XML attribute occurs with and without prefix, and has two values.
    """
    own = element.rpartition("}")[0]
    found: dict[str, str] = {}
    for name, value in attributes.items():
        uri, _, local = name.rpartition("}")
        is_kept = not uri or local == _TYPE or uri.startswith(OF_W3C)
        if not is_kept and uri != own and unknown.is_foreign(name):
            unknown.note_attribute(name)
            is_kept = True
        given = found.setdefault(name if is_kept else local, value)
        if given != value:
            raise DatasetError(
                f"line {line}: {local[:80]} has two values in one element: {given[:40]!r} and {value[:40]!r}; only one "
                "of the two would be read"
            )
    return found

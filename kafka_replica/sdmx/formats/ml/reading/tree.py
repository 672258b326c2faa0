"""The header and the artefacts of a parsed message of SDMX-ML, and the names of its elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.shared.reading.error_collector import Identity, unreadable
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.messages.format import Format, of_namespace
from kafka_replica.sdmx.messages.message import UnreadableArtefact
from kafka_replica.sdmx.urns.urn import Urn

AVAILABILITY = "AvailabilityConstraints"
"""The container of constraints without an id, which are not artefacts (3.1)."""


def _is_element(node: etree._Element) -> bool:
    """Return True for an element, False for a comment or a processing instruction."""
    return isinstance(node.tag, str)


class Names(dict[object, str]):
    """Tag -> local name if the tag is in a namespace of SDMX-ML or in none, else the empty text.

    Comments, and elements of other namespaces, thus have the empty name. The schemas of 2.1 leave parts of references
    unqualified, and registries do so with annotations.
    """

    def __init__(self, format_: Format) -> None:
        super().__init__()
        self.format = format_

    def __missing__(self, tag: object) -> str:
        found = ""
        if isinstance(tag, str) and tag[:1] == "{":
            namespace, _, local = tag[1:].partition("}")
            # Some registries write parts of a message in the namespace of another edition.
            if of_namespace(namespace) is not None:
                found = local
        elif isinstance(tag, str):
            found = tag
        self[tag] = found
        return found


class LocalNames(Names):
    """Tag -> local name in any namespace, for elements that are named by a metadata structure."""

    def __init__(self) -> None:
        super().__init__(Format.SDMX_ML_2_1)

    def __missing__(self, tag: object) -> str:
        # Nothing is cached: the cache would never shrink, and messages choose these names freely.
        return tag.rpartition("}")[2] if isinstance(tag, str) else ""


ANY_NAME: Final = LocalNames()

_MANY_NAMES: Final = 5000
_known: dict[Format, Names] = {}


def names_of(format_: Format) -> Names:
    """Return the names of a format. If a hostile message added too many, they are dropped."""
    found = _known.get(format_)
    if found is None or len(found) > _MANY_NAMES:
        found = _known[format_] = Names(format_)
    return found


def _local_name(element: etree._Element) -> str:
    # Not by QName, which refuses some namespaces.
    return str(element.tag).rpartition("}")[2]


def fail(element: etree._Element, reason: str) -> NoReturn:
    """Raise MessageError that names the element and its line."""
    line = element.sourceline
    local = _local_name(element)[:80]
    raise MessageError(f"reading SDMX-ML, <{local}> at line {line}: {reason}")


def opened(root: etree._Element, names: Names) -> tuple[etree._Element | None, list[etree._Element]] | None:
    """Return the Header of a structure message in the usual form, and the elements of its artefacts.

    The result is None if the root has any other child than one <Structures>, after an optional <Header>, or if an
    artefact is not in a container: ``header_of`` and ``registrations.artefacts_in`` then decide.
    """
    held = [names[child.tag] for child in root]
    if held == ["Header", "Structures"]:
        header, structures = root
    elif held == ["Structures"]:
        header, structures = None, root[0]
    else:
        return None
    found: list[etree._Element] = []
    for container in structures:
        if container.get("id") is not None or not (kind := names[container.tag]) or kind == AVAILABILITY:
            return None
        found += [element for element in container if _is_element(element)]
    return header, found


def header_of(root: etree._Element, names: Names) -> etree._Element | None:
    """Return the message's Header, if any."""
    if len(root) and names[root[0].tag] == "Header":
        return root[0]
    return next((element for element in root.iter("{*}Header") if names[element.tag]), None)


def structures_of(root: etree._Element, names: Names) -> list[etree._Element]:
    """Return the elements that hold the containers of artefacts.

    Raises MessageError if there is none, as in a data message.
    """
    # Usually they are children of the root; long messages are not searched for others.
    found = [element for element in root if names[element.tag] == "Structures"]
    found = found or [element for element in root.iter("{*}Structures") if names[element.tag]]
    if not any(len(container) for element in found for container in element):
        for message in root.iterfind("{*}Footer/{*}Message"):
            if message.get("severity") == "Error":
                refuse_failure(message)
    if not found and names[root.tag] == "Structure":
        return []  # the schemas allow a message without structures
    if not found:
        fail(root, "there is no <Structures>, so this is not a structure message")
    for element in found:
        if element.getparent() is not root and any(names[up.tag] == "Structures" for up in element.iterancestors()):
            fail(element, "<Structures> in <Structures>")
    return found


def has_structures(root: etree._Element, names: Names) -> bool:
    """Return whether a <Structures> is anywhere in a message."""
    return any(names[element.tag] for element in root.iter("{*}Structures"))


def failures(root: etree._Element, names: Names) -> list[etree._Element]:
    """Return the <StatusMessage>s of a registry's answer that report a failure."""
    return [each for each in root.iter("{*}StatusMessage") if names[each.tag] and each.get("status") == "Failure"]


def refuse_failure(element: etree._Element) -> NoReturn:
    """Raise MessageError with the text of an answer that reports a failure: it must not be read as an empty one."""
    texts = " ".join("".join(map(str, element.itertext())).split())
    fail(element, f"a registry answered with a failure, not with structures: {texts[:300] or 'without a reason'}")


def artefacts_of(root: etree._Element, names: Names) -> Iterator[etree._Element]:
    """Yield the elements of the maintainable artefacts in <Structures>, in document order; raise MessageError.

    An artefact that is not in a container is included: ``urn_in_container`` rejects it.
    """
    for container in _containers_of(root, names):
        if container.get("id") is not None:
            yield container
        elif names[container.tag] != AVAILABILITY:
            yield from (element for element in container if _is_element(element))


def urn_in_container(element: etree._Element, names: Names) -> Urn:
    """Return the URN of an element of ``artefacts_of``. Raises MessageError."""
    holder = element.getparent()
    if holder is not None and names[holder.tag] == "Structures":
        fail(element, "artefacts must be in a container, such as <Codelists>")
    return urn_of(element)


def sets_of(root: etree._Element, names: Names) -> Iterator[etree._Element]:
    """Yield the metadata sets of a message of metadata."""
    return (element for element in root.iter("{*}MetadataSet") if names[element.tag])


_METADATA: Final = ("{*}GenericMetadata", "{*}StructureSpecificMetadata")


def is_metadata(root: etree._Element, names: Names) -> bool:
    """Return True for a message of metadata, which has its sets without <Structures>."""
    if any(names[element.tag] == "Structures" for element in root):
        return False
    return any(names[element.tag] for element in root.iter(*_METADATA))


def availability_of(root: etree._Element, names: Names) -> list[etree._Element]:
    """Return the <AvailabilityConstraint> elements."""
    if is_metadata(root, names) or not has_structures(root, names):
        return []
    held = (container for container in _containers_of(root, names) if names[container.tag] == AVAILABILITY)
    return [element for container in held for element in container if _is_element(element)]


def _containers_of(root: etree._Element, names: Names) -> Iterator[etree._Element]:
    """Yield the containers of artefacts, <Codelists> and so on. Raises MessageError."""
    for structures in structures_of(root, names):
        yield from (container for container in structures if _is_element(container))


def unreadable_element(element: etree._Element, reason: str) -> UnreadableArtefact:
    """Return the entry for an artefact in the list of errors."""
    identity = Identity(*(element.get(name, "").strip() for name in ("agencyID", "id", "version")))
    return unreadable(_local_name(element), identity, f"line {element.sourceline}", reason)


def urn_of(element: etree._Element) -> Urn:
    """Return the URN of an artefact, from the identity it states. Raises MessageError."""
    return artefact_urn(
        _local_name(element),
        element.get("agencyID", "").strip(),
        element.get("id", "").strip(),
        element.get("version", "").strip(),
        element.get("urn"),
        f"at line {element.sourceline}",
    )

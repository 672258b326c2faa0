"""Build messages of SDMX-ML with one artefact each from a message with several."""

from __future__ import annotations

import copy
from typing import cast

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.shared.reading.budget import Budget

_MARK = "the artefact goes here"
_MAX_NAMESPACES = 200
_MARK_BYTES = f"<!--{_MARK}-->".encode()


def _is_accepted(uri: str) -> bool:
    """Return whether lxml accepts the name of a namespace, as it does those of SDMX; others need not be declared."""
    try:
        etree.Element("x", None, {"x": uri})
    except ValueError:
        return False
    return True


def _empty_copy(element: etree._Element, nsmap: dict[str, str]) -> etree._Element:
    """Return an element with the same name and these namespaces.

    Raises:
        MessageError: lxml does not accept the element's own namespace, so that it is not one of SDMX's.
    """
    try:
        return etree.Element(element.tag, None, nsmap)
    except ValueError as error:
        name = etree.QName(element)
        raise MessageError(
            f"splitting a structure message: the namespace {name.namespace!r} of {name.localname} at line "
            f"{element.sourceline} is not a valid URI; correct it"
        ) from error


class SingleArtefactBuilder:
    """A builder of messages with one artefact each, which keep root, header and container of the original.

    The text around the artefacts of a container is written once, so the work is linear in the size of the message.
    Namespaces in scope are also declared on the artefact: prefixes in attribute values (``xsi:type``) keep their
    meaning.
    """

    def __init__(self, names: Names, size: int) -> None:
        self._names = names
        self._budget = Budget(size)
        self._around: dict[etree._Element, tuple[bytes, bytes]] = {}

    def message_of(self, artefact: etree._Element, *more: etree._Element) -> bytes:
        """Return the message of this artefact alone (or of these items, if they are standalone), in UTF-8."""
        container = artefact.getparent()
        if container is None:  # a caller's mistake: artefacts come from containers
            raise ValueError("an artefact without a container")
        around = self._around.get(container)
        if around is None:
            around = self._around[container] = self._shell(container)
        body = b"".join(etree.tostring(one, encoding="UTF-8", with_tail=False) for one in (artefact, *more))
        return self._budget.spend(around[0] + body + around[1])

    def _shell(self, container: etree._Element) -> tuple[bytes, bytes]:
        path = [*reversed(list(container.iterancestors())), container]
        parent: etree._Element | None = None
        for element in path:
            nsmap = cast("dict[str, str]", element.nsmap)  # the type stubs omit the default namespace's None
            if len(nsmap) > _MAX_NAMESPACES:
                raise MessageError(
                    f"splitting a structure message: {len(nsmap):,} namespaces are declared around line "
                    f"{element.sourceline}, more than a structure message needs; omit unused ones"
                )
            made = _empty_copy(element, {prefix: uri for prefix, uri in nsmap.items() if _is_accepted(uri)})
            for name, value in element.attrib.items():
                made.set(name, value)
            if parent is not None:
                parent.append(made)
            self._keep(element, made)
            parent = made
        if parent is None:
            raise ValueError("a container without a root")
        parent.append(etree.Comment(_MARK))
        if self._names[container.tag] == "QueryProvisioningResponse":
            # 2.0 has the status after the agreements; a comment in it could be mistaken for the mark.
            for status in [one for one in parent if self._names[one.tag] == "StatusMessage"]:
                etree.strip_tags(status, etree.Comment)
                parent.append(status)
        written: bytes = etree.tostring(parent.getroottree(), encoding="UTF-8", xml_declaration=True)
        # The header precedes the mark and may hold anything, even the same text: the last match is the real mark.
        before, _, after = written.rpartition(_MARK_BYTES)
        return before, after

    def _keep(self, element: etree._Element, made: etree._Element) -> None:
        """Copy the children next to the artefacts: the header, or the name, description and notes of a 2.0 scheme."""
        kept = {"Header", "StatusMessage"}
        if self._names[element.tag] == "OrganisationScheme":
            kept = {"Name", "Description", "Annotations"}
        made.extend(copy.deepcopy(child) for child in element if self._names[child.tag] in kept)

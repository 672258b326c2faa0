"""SDMX structural metadata: URNs, the model, reading and cutting messages, look-ups in a version.

::

    structures = Structures(snapshot)
    freq = structures.codelist("SDMX:CL_FREQ(2.1)")
    freq.codes["A"].name("en")  # "Annual"
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    # Only to tell early, and well, that they are missing.
    import lxml.etree  # noqa: F401
    import msgspec  # noqa: F401
except ImportError as error:
    raise MissingExtraError("reading SDMX", "sdmx") from error

from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import (
    Annotation,
    Artefact,
    Attribute,
    AttributeRelationship,
    Code,
    Codelist,
    CodelistExtension,
    Component,
    Concept,
    ConceptScheme,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Link,
    Measure,
    OpaqueArtefact,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.reading import read_message
from kafka_replica.sdmx.references import Dangling
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.selection import only
from kafka_replica.sdmx.split import Part, split_message
from kafka_replica.sdmx.structures import ResolvedComponent, Snapshot, Structures
from kafka_replica.sdmx.urn import Urn

__all__ = [
    "Annotation",
    "Artefact",
    "Attribute",
    "AttributeRelationship",
    "Code",
    "Codelist",
    "CodelistExtension",
    "Component",
    "Concept",
    "ConceptScheme",
    "Dangling",
    "DataStructure",
    "Dataflow",
    "Dimension",
    "Format",
    "Group",
    "Header",
    "InternationalString",
    "Items",
    "Link",
    "Measure",
    "Message",
    "OpaqueArtefact",
    "Part",
    "Representation",
    "ResolvedComponent",
    "Snapshot",
    "Structures",
    "TextFormat",
    "Urn",
    "ValueItem",
    "ValueList",
    "only",
    "read_message",
    "split_message",
]

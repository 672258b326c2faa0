"""SDMX structural metadata: URNs, the model, a reader and a writer for each format, look-ups in a version.

::

    structures = Structures(snapshot)
    freq = structures.codelist("SDMX:CL_FREQ(2.1)")
    freq.codes["A"].name("en")  # "Annual"

Names are imported on first access, so the package ``urns`` can be used without the extra ``sdmx``. This package may
import ``filters``, ``records`` and the packages below them. Read ``model`` first, then ``reading`` and
``lookups.structures``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kafka_replica.sdmx.containers import InternationalString, Items
    from kafka_replica.sdmx.errors import (
        ArtefactNotFoundError,
        ExtensionError,
        IncompleteStructureError,
        MessageError,
        NotExpressibleError,
        SdmxError,
        UnreadableContentError,
        UnwritableError,
        UrnError,
    )
    from kafka_replica.sdmx.files.merging import MergedPart, merge_copies
    from kafka_replica.sdmx.lookups.cache import CacheStats, DecodeCache, decode_cache
    from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
    from kafka_replica.sdmx.lookups.file_structures import FileError, FileStructures, read_files
    from kafka_replica.sdmx.lookups.hierarchy_tree import HierarchyNode, HierarchyTree
    from kafka_replica.sdmx.lookups.live_structures import LiveStats, LiveStructures
    from kafka_replica.sdmx.lookups.query_result import QueryResult
    from kafka_replica.sdmx.lookups.references import DanglingReference
    from kafka_replica.sdmx.lookups.resolved_structure import AttachedConstraint, MissingReference, ResolvedStructure
    from kafka_replica.sdmx.lookups.stored_message import StoredMessage
    from kafka_replica.sdmx.lookups.structures import ResolvedComponent, Snapshot, Structures
    from kafka_replica.sdmx.messages.format import Format
    from kafka_replica.sdmx.messages.message import Header, Message, UnreadableArtefact
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
    from kafka_replica.sdmx.model.representation import Representation, TextFormat
    from kafka_replica.sdmx.reading.messages import read_message
    from kafka_replica.sdmx.reading.splitting import MessagePart, SplitMessage, split_message, split_readable
    from kafka_replica.sdmx.records.key_filter import only
    from kafka_replica.sdmx.records.validator import StructureCheck, check_structure
    from kafka_replica.sdmx.urns.urn import Urn
    from kafka_replica.sdmx.writing.messages import explain_unwritable, media_types, write_message

__all__ = [
    "Annotation",
    "Artefact",
    "ArtefactNotFoundError",
    "AttachedConstraint",
    "Attribute",
    "AttributeRelationship",
    "CacheStats",
    "Code",
    "Codelist",
    "CodelistExtension",
    "Component",
    "Concept",
    "ConceptScheme",
    "DanglingReference",
    "DataStructure",
    "Dataflow",
    "DecodeCache",
    "Dimension",
    "EffectiveComponent",
    "ExtensionError",
    "FileError",
    "FileStructures",
    "Format",
    "Group",
    "Header",
    "HierarchyNode",
    "HierarchyTree",
    "IncompleteStructureError",
    "InternationalString",
    "Items",
    "Link",
    "LiveStats",
    "LiveStructures",
    "Measure",
    "MergedPart",
    "Message",
    "MessageError",
    "MessagePart",
    "MissingReference",
    "NotExpressibleError",
    "OpaqueArtefact",
    "QueryResult",
    "Representation",
    "ResolvedComponent",
    "ResolvedStructure",
    "SdmxError",
    "Snapshot",
    "SplitMessage",
    "StoredMessage",
    "StructureCheck",
    "Structures",
    "TextFormat",
    "UnreadableArtefact",
    "UnreadableContentError",
    "UnwritableError",
    "Urn",
    "UrnError",
    "ValueItem",
    "ValueList",
    "check_structure",
    "decode_cache",
    "explain_unwritable",
    "media_types",
    "merge_copies",
    "only",
    "read_files",
    "read_message",
    "split_message",
    "split_readable",
    "write_message",
]

_HOMES: Final = {
    "errors": (
        "ArtefactNotFoundError",
        "ExtensionError",
        "IncompleteStructureError",
        "MessageError",
        "NotExpressibleError",
        "SdmxError",
        "UnreadableContentError",
        "UnwritableError",
        "UrnError",
    ),
    "lookups.cache": ("CacheStats", "DecodeCache", "decode_cache"),
    "records.validator": ("StructureCheck", "check_structure"),
    "containers": ("InternationalString", "Items"),
    "messages.format": ("Format",),
    "lookups.hierarchy_tree": ("HierarchyNode", "HierarchyTree"),
    "lookups.file_structures": ("FileError", "FileStructures", "read_files"),
    "lookups.live_structures": ("LiveStats", "LiveStructures"),
    "files.merging": ("MergedPart", "merge_copies"),
    "messages.message": ("Header", "Message", "UnreadableArtefact"),
    "model": (
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
        "Dataflow",
        "DataStructure",
        "Dimension",
        "Group",
        "Link",
        "Measure",
        "OpaqueArtefact",
        "ValueItem",
        "ValueList",
    ),
    "reading.messages": ("read_message",),
    "lookups.references": ("DanglingReference",),
    "model.representation": ("Representation", "TextFormat"),
    "lookups.effective_component": ("EffectiveComponent",),
    "lookups.query_result": ("QueryResult",),
    "lookups.resolved_structure": ("AttachedConstraint", "MissingReference", "ResolvedStructure"),
    "records.key_filter": ("only",),
    "reading.splitting": ("MessagePart", "SplitMessage", "split_message", "split_readable"),
    "lookups.stored_message": ("StoredMessage",),
    "lookups.structures": ("ResolvedComponent", "Snapshot", "Structures"),
    "urns.urn": ("Urn",),
    "writing.messages": ("media_types", "explain_unwritable", "write_message"),
}
_FREE: Final = {"messages.format", "urns.urn"}  # modules that work without the extra
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if home not in _FREE:
        import_module(f"{__name__}.extra")
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

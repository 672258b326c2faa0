"""A reader of structure messages in a process of its own: the processor time for all messages, in seconds.

    reading FORMAT WHICH READER PASSES

FORMAT is ml20, ml21, ml30, json or fusion; WHICH is long (one codelist of 20,000 codes) or small (1,000 messages);
READER is read (``read_message``), walk (reading, then access to each code, concept and component), lxml, json, sdmx1 or
pysdmx. The long message is best read once per process: the state of the memory after freeing it changes the next time
by half, for every reader.
"""

from __future__ import annotations

import gc
import io
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.messages import long_message, small_messages
from benchmarks.programs.common import tell

_CODES, _MESSAGES, _WARM = 20_000, 1000, 40

Reader = Callable[[bytes], Any]


def _read() -> Reader:
    from kafka_replica.sdmx import read_message  # noqa: PLC0415 - only what is measured is imported

    return read_message


def _walk() -> Reader:
    from kafka_replica.sdmx import read_message  # noqa: PLC0415
    from kafka_replica.sdmx.model import DataStructure  # noqa: PLC0415
    from kafka_replica.sdmx.model.base import ItemScheme  # noqa: PLC0415

    def walk(data: bytes) -> None:
        for artefact in read_message(data):
            if isinstance(artefact, ItemScheme):
                for _ in artefact.items.values():
                    pass
            elif isinstance(artefact, DataStructure):
                for _ in artefact.components:
                    pass

    return walk


def _lxml() -> Reader:
    from lxml import etree  # noqa: PLC0415

    return etree.fromstring


def _sdmx1() -> Reader:
    import sdmx  # noqa: PLC0415

    return lambda data: sdmx.read_sdmx(io.BytesIO(data))


def _pysdmx() -> Reader:
    import msgspec  # noqa: PLC0415
    from pysdmx.io.json.fusion import messages as pysdmx  # noqa: PLC0415

    # pysdmx has a decoder per class of artefact; its users know which class they request.
    decoders: dict[bytes, Any] = {
        b"Codelist": msgspec.json.Decoder(pysdmx.FusionCodelistMessage),
        b"ConceptScheme": msgspec.json.Decoder(pysdmx.FusionConceptSchemeMessage),
        b"DataStructure": msgspec.json.Decoder(pysdmx.FusionDataStructuresMessage),
        b"Dataflow": msgspec.json.Decoder(pysdmx.FusionDataflowsMessage),
    }

    def read(data: bytes) -> Any:
        at = data.index(b'"', data.index(b"}}")) + 1
        return decoders[data[at : data.index(b'"', at)]].decode(data).to_model()

    return read


READERS: dict[str, Callable[[], Reader]] = {
    "read": _read,
    "walk": _walk,
    "lxml": _lxml,
    "json": lambda: json.loads,
    "sdmx1": _sdmx1,
    "pysdmx": _pysdmx,
}


def seconds(read: Reader, messages: list[bytes]) -> float:
    """Return the processor time for all messages; nothing is kept between messages, and freeing them counts."""
    gc.collect()
    began_s = time.process_time()
    for data in messages:
        read(data)
    return time.process_time() - began_s


def main() -> None:
    """Warm up on small messages, then measure."""
    warnings.simplefilter("ignore")
    format_, which, reader, passes = sys.argv[1:]
    messages = [long_message(format_, _CODES)] if which == "long" else small_messages(format_, _MESSAGES)
    read = READERS[reader]()
    seconds(read, small_messages(format_, _WARM))
    taken = [seconds(read, messages) for _ in range(int(passes))]
    tell(
        what="reading", format=format_, which=which, reader=reader, bytes=sum(map(len, messages)),
        s=statistics.median(taken),
    )  # fmt: skip


if __name__ == "__main__":
    main()

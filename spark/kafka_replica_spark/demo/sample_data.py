"""The data of the demonstration: structures, a changed codelist, a large number of records, a small data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafka_replica.sdmx import MessagePart, Urn
from kafka_replica.sdmx.files.structure_files import FileContents, read_structures, structure_files
from kafka_replica.sdmx.samples import sample_files

LABOUR = "KR_DEMO:LABOUR(1.0)"
AREAS = Urn.of("Codelist", "KR_DEMO", "CL_REF_AREA", "1.0")

RECORDS = 50_000
RECORDS_PER_TRANSACTION = 100
VALUE_BYTES = 1024

DATA_COLUMNS = ("FREQ", "REF_AREA", "INDICATOR", "SEX", "TIME_PERIOD", "OBS_VALUE", "UNIT_MEASURE", "OBS_STATUS")
DATA = (  # each row of the second half has an error
    ("A", "LU", "EMP", "T", "2024", "492.7", "KPS", "A"),
    ("A", "BE", "UNE_R", "F", "2024", "5.4", "PC", "A"),
    ("Q", "CH", "UNE", "M", "2025-Q3", "118.2", "KPS", "P"),
    ("A", "PT", "EMP", "T", "2024", "5110.0", "KPS", "A"),
    ("A", "XX", "EMP", "T", "2024", "1.0", "KPS", "A"),
    ("A", "LU", "EMP", "T", "2024-Q5", "1.0", "KPS", "A"),
    ("A", "LU", "EMP", None, "2024", "1.0", "KPS", "A"),
    ("A", "LU", "EMP", "T", "2023", "a lot", "KPS", None),
)


def corpus_folder() -> Path | None:
    """Return the folder of real structure files that developers have next to the project; None if it is missing."""
    folder = Path(__file__).resolve().parents[4] / "shared" / "corpus"
    return folder if folder.is_dir() else None


def structures() -> FileContents:
    """Return all structures to publish: the project's sample, and the corpus if it exists.

    The sample comes last, so that the corpus cannot replace the structures that the demonstration uses.
    """
    folder = corpus_folder()
    files = [*(structure_files([folder]) if folder else ()), *sample_files()]
    return read_structures(files, skip_unreadable=True)


def with_portugal(areas: MessagePart) -> MessagePart:
    """Return the list of areas with one more code."""
    code = (
        b'<str:Code id="PT"><com:Name xml:lang="en">Portugal</com:Name>'
        b'<com:Name xml:lang="fr">Portugal</com:Name></str:Code></str:Codelist>'
    )
    return areas._replace(value=areas.value.replace(b"</str:Codelist>", code))


def many_records() -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of many records, with values of a kilobyte as in a directory."""
    for number in range(RECORDS):
        name = b"terminal-%06d" % number
        yield name, name.ljust(VALUE_BYTES, b".")

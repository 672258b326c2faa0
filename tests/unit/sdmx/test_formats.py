"""The packages of the formats: each is complete, and is imported only when a message of its format is met."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica.sdmx import Format, media_types, read_message, write_message
from kafka_replica.sdmx.formats import registry
from kafka_replica.sdmx.samples import sample_files

_CODELIST = next(one for path in sample_files() for one in read_message(path.read_bytes()) if one.urn.id == "CL_FREQ")
_ONE_OF_EACH = {
    "ml": Format.SDMX_ML_3_0,
    "ml20": Format.SDMX_ML_2_0,
    "sdmx_json": Format.SDMX_JSON_2_0,
    "fusion": Format.FUSION_JSON,
}
_LOADED = (
    "import sys\n"
    "print(*sorted(name for name in sys.modules if name.endswith(('.reader', '.writer')) and '.sdmx.' in name))"
)


def loaded_by(code: str) -> list[str]:
    """Return the formats' packages whose reader or writer a fresh interpreter has imported after this code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{_LOADED}"], capture_output=True, text=True, check=True, timeout=60
    )
    return [name.split(".")[-2] for name in done.stdout.split()]


@pytest.mark.thorough
@pytest.mark.parametrize("package", _ONE_OF_EACH)
def test_reading_a_message_imports_only_its_format(package: str, tmp_path: Path) -> None:
    """A message imports the reader of its own format, no other and no writer; and nothing of the network."""
    (tmp_path / "message").write_bytes(write_message(_CODELIST, _ONE_OF_EACH[package]))
    path = str(tmp_path / "message")
    code = f"from kafka_replica.sdmx import read_message\nassert read_message(open({path!r}, 'rb').read())"
    no_client = "import sys\nassert not sys.modules.keys() & {'ssl', 'urllib.request'}"
    assert loaded_by(f"{code}\n{no_client}") == [package]


@pytest.mark.thorough
def test_the_package_imports_no_format() -> None:
    """The import of the package, of reading and of writing imports no format."""
    assert loaded_by("import kafka_replica.sdmx\nfrom kafka_replica.sdmx import read_message, write_message") == []


def test_every_format_is_read_and_written() -> None:
    """Each format has a writer; each reader has the functions that the registry promises."""
    assert set(media_types()) == set(Format)
    for format_ in Format:
        module = registry.writer(format_)
        assert callable(module.element_of)
        assert callable(module.message_of)
    for reader in (registry.xml_reader(), registry.reader("edi"), registry.reader("xlsx")):
        assert callable(reader.read_message)
        assert callable(reader.split_message)
    for format_ in (Format.SDMX_ML_1_0, Format.SDMX_ML_2_0, Format.SDMX_ML_2_1):
        assert callable(registry.tree_reader(format_).read_tree)
        assert callable(registry.tree_reader(format_).split_tree)
    for json_reader in (registry.json_reader("sdmx_json"), registry.json_reader("fusion")):
        assert callable(json_reader.read_fast)
        assert callable(json_reader.read_message)

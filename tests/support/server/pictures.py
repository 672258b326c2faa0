"""Make the pictures of the documentation: ``make pictures``. They need Chromium and its driver.

PYTHONPATH=tests .venv/bin/python -m support.server.pictures [FOLDER]
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from kafka_replica.embedded import kafka_for
from kafka_replica.history import VersionHistory
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.outbox.modes import Mode
from kafka_replica.sdmx import Code, Codelist, Format, InternationalString, Items, Structures
from kafka_replica.server import ServerSettings
from kafka_replica.testing import FakeTopic
from support.paths import ROOT
from support.server.browser import Browser, browsing
from support.server.data_samples import LABOUR_CSV, labour_topic
from support.server.page_topic import publish
from support.server.server_tools import running
from support.waiting import wait_until

_SIZE: Final = (1100, 756)
_SCALE: Final = 0.75
_TOKEN: Final = "a token of the pictures"
_AREAS: Final = "KR_DEMO:CL_REF_AREA(1.0)"


def main(folder: Path) -> None:
    """Write all pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        with _service(place) as (address, versions), browsing(place) as browser:
            _pictures(browser, address, versions, place, folder)


def _pictures(browser: Browser, address: str, versions: tuple[int, int], place: Path, folder: Path) -> None:
    def take(name: str, path: str | None = None) -> None:
        if path is not None:
            browser.open(address + path)
        (folder / f"page-{name}.png").write_bytes(browser.picture(*_SIZE, _SCALE))
        print(f"page-{name}.png")

    browser.set_size(*_SIZE)
    browser.set_theme("light")
    take("sign-in", "/sign-in?next=/producers/registry")
    browser.type("#token", _TOKEN)
    browser.submit("form[action$='/sign-in'] button")
    take("producer")
    wait_until(lambda: "per second" in _text(browser, f"{address}/"))
    take("status")
    take("structures", "/structures?q=unemployed")
    take("artefact", "/structures/Codelist/KR_DEMO/CL_REF_AREA/1.0")
    take("history", "/history")
    take("diff", f"/diff/{versions[0]}/{versions[1]}")
    take("upload", "/upload")
    data = place / "labour_data.csv"
    data.write_bytes(LABOUR_CSV)
    browser.open(f"{address}/upload")
    browser.choose_file("#validate-file", data)
    browser.submit("form[action$='/upload'] button")
    take("report")
    browser.set_theme("dark")
    take("dark", "/structures/Codelist/KR_DEMO/CL_REF_AREA/1.0")


def _text(browser: Browser, address: str) -> str:
    browser.open(address)
    return str(browser.run("return document.body.textContent"))


@contextmanager
def _service(place: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the address of a service, and two of its versions."""
    tokens, topic = place / "tokens", labour_topic("sdmx.structures")
    tokens.write_text(f"control {hashlib.sha256(_TOKEN.encode()).hexdigest()} Ada\n")
    with (
        _producer(place) as producer,
        topic.replica(kept_versions=20) as replica,
        VersionHistory(place / "history").follow(replica) as history,
    ):
        settings = ServerSettings(environment="test", tokens_file=tokens, producers=(producer,))
        replica.wait_ready(60)
        first = replica.snapshot().version
        _change(topic, replica.snapshot())
        replica.wait_for(topic.end(), 60)
        wait_until(lambda: len(history.versions(None, 10)) > 1)
        with running(replica, settings=settings, answer=None, history=history) as (address, _):
            yield address, (first, replica.snapshot().version)


def _change(topic: FakeTopic, snapshot: Any) -> None:
    """Change names, a parent, and the codes of a codelist; add another one."""
    areas = Structures(snapshot).codelist(_AREAS)
    codes = dict(areas.codes)
    first, *others = codes
    codes[first] = msgspec.structs.replace(codes[first], names=InternationalString({"en": "The world", "fr": "Monde"}))
    del codes[others[-1]]
    codes["NZ"] = Code(urn=areas.urn.with_item("Code", "NZ"), names=InternationalString({"en": "New Zealand"}))
    changed = msgspec.structs.replace(areas, codes=Items(codes))
    urn = areas.urn.of("Codelist", "KR_DEMO", "CL_SECTOR", "1.0")
    sector = Code(urn=urn.with_item("Code", "S1"), names=InternationalString({"en": "Total economy"}))
    added = Codelist(urn=urn, names=InternationalString({"en": "Sectors"}), codes=Items({"S1": sector}))
    publish(topic, [changed, added], Format.SDMX_JSON_2_0)


@contextmanager
def _producer(place: Path) -> Iterator[str]:
    """Yield the settings file of a producer that is suspended, with transactions that were sent, and others."""
    file = place / "registry.toml"
    with kafka_for() as kafka:
        file.write_text(f"""
            [producer]
            id = "registry-1"
            topic = "sdmx.structures"
            database = "sqlite:///{place / "outbox.db"}"
            first_start = "resume"
            [kafka]
            "bootstrap.servers" = "{kafka.bootstrap_servers}"
        """)
        kafka.create_topic("sdmx.structures", config={"cleanup.policy": "compact"})
        with StructureProducer(read_configuration(file).producer) as producer:
            _record(producer, "codelist 1", "codelist 2")
            _record(producer, "dataflow 1")
            wait_until(lambda: producer.status().sent == 2)
            producer.suspend("maintenance (by Ada)")
            wait_until(lambda: producer.status().mode is Mode.SUSPENDED)
            _record(producer, "codelist 3")
            yield str(file)


def _record(producer: StructureProducer, *keys: str) -> None:
    with producer.engine.begin() as connection:
        producer.record(connection, [Put(key, b"value", "text/plain") for key in keys])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images")

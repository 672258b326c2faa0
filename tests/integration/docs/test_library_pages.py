"""The programs on the pages about the library run as they are written there, on a real broker."""

from __future__ import annotations

import urllib.request

import polars as pl
import pytest

from kafka_replica.embedded import ports
from kafka_replica.sdmx import read_files
from support.docs.page_world import PageWorld

pytestmark = pytest.mark.broker

FREQ = "SDMX:CL_FREQ(2.1)"


@pytest.mark.runs("docs/index.md", language="python")
def test_the_first_page(world: PageWorld, capsys: pytest.CaptureFixture[str]) -> None:
    """The program prints a code's name, and the present state as the first change."""
    world.run_python("docs/index.md", {})
    keys = len(world.replica.snapshot())
    assert capsys.readouterr().out == f"1 Annual\n1 {keys} 0\n"


@pytest.mark.runs("docs/stores.md")
def test_stores(world: PageWorld) -> None:
    """The store on disk holds the topic; the filters are accepted."""
    names = world.names()
    world.run_python("docs/stores.md", names, {"/var/lib/checks": str(world.folder)})
    assert len(names["snapshot"]) == len(world.replica.snapshot())
    assert (world.folder / "structures").is_dir()


@pytest.mark.runs("docs/validation.md")
def test_validation(world: PageWorld, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rows of the sample are rejected, and the picture is made."""
    frame = pl.read_csv("samples/labour_data.csv", infer_schema=False)
    names = world.names(frame=frame)
    world.run_python("docs/validation.md", names)
    assert (names["bad"].height, names["good"].height) == (2, 25)
    assert "code-unknown" in capsys.readouterr().out
    assert (world.folder / "findings.svg").stat().st_size > 1_000


@pytest.mark.runs("docs/mapping.md")
def test_mapping(world: PageWorld) -> None:
    """The programs of the page map the sample: 26 rows are good, and one is bad."""
    names = world.names(observations=pl.read_csv("samples/labour_data.csv", infer_schema=False))
    world.run_python("docs/mapping.md", names)
    assert (names["bad"].height, names["good"].height) == (1, 26)


@pytest.mark.runs("docs/sdmx.md", language="python")
def test_sdmx(world: PageWorld, capsys: pytest.CaptureFixture[str]) -> None:
    """Look-ups, hierarchies, live structures, checks of records, and messages with bad artefacts."""
    version, message = world.replica.snapshot().version, world.folder / "samples" / "labour_codelists.sdmx21.xml"
    names = world.names(data=message.read_bytes().replace(b'id="CL_SEX"', b'id="1 2"'))
    world.run_python("docs/sdmx.md", names, {"at(41)": f"at({version})"})
    printed = capsys.readouterr().out
    assert "Codelist=KR_DEMO:CL_REF_AREA(1.0)" in printed
    assert len(names["message"].errors) == 1
    assert [place.path for place in names["tree"].places_of("LU")] == ["NEAR.LUX"]
    assert names["structures"].codelist(FREQ).codes["A"].name() == "Annual"


@pytest.mark.long
@pytest.mark.runs("docs/sdmx-libraries.md")
def test_other_libraries(world: PageWorld) -> None:
    """Tables, objects of sdmx1 and pysdmx, and URNs."""
    import sdmx

    structures = read_files("samples")
    names = world.names(structures=structures, sdmx=sdmx, other=structures.codelist("KR_DEMO:CL_SEX(1.0)"))
    names["artefact"] = structures.codelist(FREQ)
    names["artefacts"] = [names["artefact"]]
    world.run_python("docs/sdmx-libraries.md", names)
    assert names["freq"].urn == names["artefact"].urn
    assert names["schema"].components


@pytest.mark.runs("docs/writing-sdmx.md")
def test_writing(world: PageWorld) -> None:
    """The program of the page writes a codelist in two formats, with its header, and finds it writable in a third."""
    codelist = read_files("samples").codelist(FREQ)
    names = world.names(artefacts=[codelist], codelist=codelist, value_list=codelist)
    world.run_python("docs/writing-sdmx.md", names)
    assert b"IREF1" in names["data"]
    assert names["why_not"] is None


@pytest.mark.runs("docs/metrics.md", language="python", without="producer")
def test_metrics(world: PageWorld) -> None:
    """Prometheus can scrape the port, and finds the metrics of the replica and of its structures."""
    from kafka_replica.metrics.replica import unexport_replica
    from kafka_replica.metrics.sdmx import unexport_structures

    port = ports.choose_port()
    names = world.names()
    try:
        world.run_python("docs/metrics.md", names, {"9100": str(port)}, without="producer")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            scraped = answer.read().decode()
    finally:
        unexport_replica(world.topic)
        unexport_structures("codes")
    assert f'kafka_replica_ready{{replica="{world.topic}"' in scraped
    assert 'kafka_replica_sdmx_artefacts{replica="codes"}' in scraped

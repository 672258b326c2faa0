"""R's client of SDMX services, unmodified, reads what a direct read returns. NOT TESTED without R's package rsdmx."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess

import pytest

from kafka_replica.sdmx import read_files
from kafka_replica.sdmx.samples import sample_files
from support.server.data_samples import labour_topic
from support.server.rest_service import rest_service

SCRIPT = """
suppressMessages(library(rsdmx))
base <- commandArgs(TRUE)[1]
show <- function(data, columns) {
  rows <- as.data.frame(data)[, columns]
  write.table(rows, sep = ",", row.names = FALSE, col.names = FALSE, qmethod = "double")
  cat("\\n")
}
show(readSDMX(paste0(base, "/codelist/KR_DEMO/CL_REF_AREA/1.0")), c("id", "name.en"))
show(readSDMX(paste0(base, "/dataflow/KR_DEMO/LABOUR/1.0")), c("id", "Name.en", "dsdRef"))
message <- readSDMX(paste0(base, "/datastructure/KR_DEMO/DSD_LABOUR/1.0?references=children"))
structure <- message@datastructures@datastructures[[1]]
components <- structure@Components
parts <- c(components@Dimensions, list(components@TimeDimension), components@Attributes)
text <- function(value) if (length(value) == 0 || is.na(value)) "" else value
show(data.frame(
  concept = sapply(parts, function(part) text(part@conceptRef)),
  codelist = sapply(parts, function(part) text(part@codelist))
), c("concept", "codelist"))
"""


def run(address: str) -> list[list[list[str]]]:
    """Return the tables that R prints."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("NOT TESTED: Rscript is not installed (Debian: r-cran-rsdmx)")
    found = subprocess.run([program, "-e", "library(rsdmx)"], capture_output=True, timeout=120, check=False)
    if found.returncode:
        pytest.skip("NOT TESTED: R has no package rsdmx (Debian: r-cran-rsdmx)")
    command = [program, "-e", SCRIPT, address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [list(csv.reader(io.StringIO(table))) for table in done.stdout.split("\n\n") if table.strip()]


@pytest.mark.long
def test_rsdmx_reads_codelists_flows_and_data_structures() -> None:
    """Ids, names, the flow's structure, and each component's concept and codelist are those of the samples."""
    samples = read_files(*sample_files())
    with rest_service(labour_topic()) as service:
        codes, flows, components = run(f"{service.address}/sdmx/v1")
        assert service.statuses() == {"200"}
    areas = samples.codelist("KR_DEMO:CL_REF_AREA(1.0)").codes.values()
    assert codes == [[code.id, code.name("en")] for code in areas]
    flow = samples.dataflow("KR_DEMO:LABOUR(1.0)")
    assert flows == [["LABOUR", flow.name("en"), "DSD_LABOUR"]]
    own = samples.components("KR_DEMO:DSD_LABOUR(1.0)")  # rsdmx shows local codelists, not those of concepts
    expected = {}
    for part in own:
        local = part.component.representation
        codes_of = local.enumeration if local is not None else None
        concept = part.component.concept
        assert concept is not None
        expected[concept.item] = codes_of.id if codes_of is not None else ""
    del expected["OBS_VALUE"]
    assert dict(components) == expected
    assert len(expected) == len(components) == len(own) - 1

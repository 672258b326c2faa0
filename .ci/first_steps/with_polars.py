"""Codes as a table."""

from kafka_replica.sdmx import read_files
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.sdmx.tables import to_polars

structures = read_files(*sample_files())
codelist = structures.codelist("SDMX:CL_FREQ(2.1)")
assert len(to_polars(codelist)) == len(codelist.codes)

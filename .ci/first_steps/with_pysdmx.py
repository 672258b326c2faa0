"""Structures as objects of another library."""

from kafka_replica.sdmx import read_files
from kafka_replica.sdmx.exchange import to_pysdmx
from kafka_replica.sdmx.samples import sample_files

structures = read_files(*sample_files())
assert to_pysdmx(structures.codelist("SDMX:CL_FREQ(2.1)")).id == "CL_FREQ"

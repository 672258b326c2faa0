"""Structures are read and written."""

from kafka_replica.sdmx import Format, read_files, read_message, write_message
from kafka_replica.sdmx.samples import sample_files

structures = read_files(*sample_files())
codelist = structures.codelist("SDMX:CL_FREQ(2.1)")
assert list(read_message(write_message([codelist], Format.SDMX_JSON_2_0)).artefacts) == [codelist.urn]

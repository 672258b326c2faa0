"""A representation map as a workbook."""

from kafka_replica.sdmx import Format, InternationalString, Urn, read_message, write_message
from kafka_replica.sdmx.model import MappedValue, RepresentationMap, RepresentationMapping

made = RepresentationMap(
    urn=Urn.of("RepresentationMap", "A", "MAP", "1.0.0"),
    names=InternationalString({"en": "Map"}),
    sources=(Urn.of("Codelist", "A", "CL", "1.0"),),
    targets=("String",),
    mappings=(RepresentationMapping(sources=(MappedValue(value="A"),), targets=("B",)),),
)
assert list(read_message(write_message(made, Format.XLSX))) == [made]

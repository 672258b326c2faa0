"""The parts that many artefacts of SDMX-JSON share: structs, reading and writing."""

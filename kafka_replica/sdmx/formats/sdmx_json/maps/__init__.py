"""Structure maps, representation maps and maps of item schemes of SDMX-JSON 2.x: structs, reading and writing."""

"""Parts of the writer of SDMX-EDI that belong to no subject: the syntax."""

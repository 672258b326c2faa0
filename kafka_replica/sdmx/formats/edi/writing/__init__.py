"""Parts of the writer of SDMX-EDI that are no subject: the syntax."""

"""Parts of the reader of SDMX-EDI that belong to no subject: syntax, messages, texts, components."""

"""Parts of the reader of SDMX-EDI that are no subject: syntax, messages, texts, components."""

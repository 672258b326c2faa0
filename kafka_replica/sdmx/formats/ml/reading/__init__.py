"""Parts of the reader of SDMX-ML that are no subject: trees, values, items, the fast path for small messages."""

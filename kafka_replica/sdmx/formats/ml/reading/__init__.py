"""Parts of the reader of SDMX-ML that belong to no subject: trees, values, items, the fast path for small messages."""

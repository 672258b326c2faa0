"""Parts of the writer of SDMX-ML 2.0 and 1.0 that belong to no subject: references and values."""

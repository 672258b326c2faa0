"""Parts of the reader of SDMX-ML 2.0 and 1.0 that belong to no subject: the places of artefacts, references, values."""

"""Parts of the reader of SDMX-ML 2.0 and 1.0 that belong to no subject: artefact elements, references, values."""

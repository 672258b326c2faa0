"""Parts of the writer of SDMX-ML that are no subject: its editions, values, and XML as text."""

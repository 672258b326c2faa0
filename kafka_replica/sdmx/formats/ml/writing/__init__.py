"""Parts of the writer of SDMX-ML that belong to no subject: its editions, values, and XML as text."""

"""Data structures and dataflows of SDMX-ML: ``reading`` and ``writing``."""

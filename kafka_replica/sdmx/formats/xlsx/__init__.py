"""XLSX as Fusion Metadata Registry reads and writes it: representation maps, one per worksheet.

It may import the model and ``formats.shared``, but no other format; writing needs the extra ``xlsx``.
Read ``maps`` first.
"""

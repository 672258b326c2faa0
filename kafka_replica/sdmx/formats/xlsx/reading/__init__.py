"""Parts of the reader of XLSX: the files of a workbook, and the cells of a worksheet."""

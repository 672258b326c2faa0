"""Workbooks with changed cells, package parts and bytes."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Sequence

from fuzz import texts, trees
from fuzz.samples import WORKBOOK, workbook


def xlsx(samples: Sequence[bytes], seed: int) -> bytes:
    """Return a workbook like the sample."""
    chance = random.Random(seed)
    act = chance.randrange(3)
    if act == 0:
        return _other_cells(chance)
    return _other_part(chance.choice(list(samples)), chance)


def _other_cells(chance: random.Random) -> bytes:
    rows = [list(row) for row in WORKBOOK]
    for _ in range(chance.choice((1, 2, 5))):
        row = chance.choice(rows)
        if row and chance.random() < 0.7:
            row[chance.randrange(len(row))] = chance.choice(trees.JUNK)
        elif row:
            row.append(chance.choice(row))
        else:
            rows.insert(chance.randrange(len(rows)), list(chance.choice(rows)))
    return workbook(rows)


def _other_part(data: bytes, chance: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(sorted(parts))
    if chance.random() < 0.15:
        del parts[name]
    elif name.endswith((".xml", ".rels")) and chance.random() < 0.6:
        parts[name] = trees.xml([parts[name]], chance.getrandbits(32))
    else:
        parts[name] = texts.spliced([parts[name]], chance.getrandbits(32))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return file.getvalue()

"""The table in the guide is the one in the code."""

from __future__ import annotations

from kafka_replica.data.validation.catalogue import CATALOGUE
from support.paths import ROOT

GUIDE = ROOT / "docs" / "validation.md"


def written() -> str:
    """The table as Markdown."""
    lines = ["| rule | severity | broken when | FMR | STRUVAL | source |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{one.code}` | {one.severity} | {one.broken} | {one.fmr} | {one.struval} | {one.source} |"
        for one in CATALOGUE.values()
    ]
    return "\n".join(lines)


def test_the_guide_has_the_rules() -> None:
    """Between its marks stands what the catalogue says, no more and no less."""
    text = GUIDE.read_text(encoding="utf-8")
    found = text.split("<!-- rules -->\n")[1].split("\n<!-- /rules -->")[0]
    assert found == written()

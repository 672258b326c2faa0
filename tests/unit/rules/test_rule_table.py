"""The guide's table of rules equals the code's."""

from __future__ import annotations

from kafka_replica.data.validation.catalogue import CATALOGUE
from support.paths import ROOT

GUIDE = ROOT / "docs" / "validation.md"


def written() -> str:
    """Return the table as Markdown."""
    lines = ["| rule | severity | broken when | FMR | STRUVAL | source |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{value.code}` | {value.severity} | {value.broken} | {value.fmr} | {value.struval} | {value.source} |"
        for value in CATALOGUE.values()
    ]
    return "\n".join(lines)


def test_the_guide_has_the_rules() -> None:
    """The text between the guide's marks is exactly the catalogue's table."""
    text = GUIDE.read_text(encoding="utf-8")
    found = text.split("<!-- rules -->\n")[1].split("\n<!-- /rules -->")[0]
    assert found == written()

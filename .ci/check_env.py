"""Check the sizes that ``make_env.py`` and README.md name against the environment, as far as it has been made."""

import re
import sys
from importlib.metadata import distribution
from pathlib import Path

from make_env import DISK_MB
from packaging.markers import Marker

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.2  # wheels of other systems have other sizes


def installed_mb(lock: Path) -> float:
    """Return the size of the lock file's packages that are installed here; byte code comes with use."""
    names = set(re.findall(r"^([\w.-]+)==.*?(?: ; (.*?))? \\$", lock.read_text(), re.MULTILINE))
    total = 0
    for name in sorted({name for name, marker in names if not marker or Marker(marker).evaluate()}):
        total += sum(path.size or 0 for path in distribution(name).files or () if path.suffix != ".pyc")
    return total / 1e6


def main() -> None:
    """Fail with a line for each size that is stated wrongly."""
    wrong, total = [], 25.0  # pip and setuptools
    readme = (ROOT / "README.md").read_text()
    present = [level for level in DISK_MB if (Path(sys.prefix) / f".{level}").exists()]
    for level in present:
        stated = DISK_MB[level]
        total += installed_mb(ROOT / "requirements" / f"{level}.lock")
        print(f"{level}: {total:.0f} MB on disk")
        if abs(total - stated) > TOLERANCE * total:
            wrong.append(f".ci/make_env.py says that {level} takes {stated} MB; it takes {total:.0f} MB")
        if level not in {"check", "docs"} and f"{stated / 1000:.1f} GB" not in readme:
            wrong.append(f"README.md does not say that {level} takes {stated / 1000:.1f} GB")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

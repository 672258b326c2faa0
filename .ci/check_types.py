"""Check the package with pyright, and a user's program and the programs in README.md with mypy and pyright.

Those programs are checked as users check theirs: at the strictest, outside this project, against the installed package.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "support" / "typing" / "user_program.py"
# The programs in README.md assume that the user has a frame.
BEGINNING = "from pyspark.sql import DataFrame\n\n\ndef program(frame: DataFrame) -> None:\n"


def readme_program() -> str:
    """Return the Python of README.md as one program."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return BEGINNING + indent("\n".join(blocks), "    ")


def main() -> None:
    """Fail if either type checker reports an error."""
    tools = Path(sys.executable).parent
    pyright = [tools / "pyright", "--pythonpath", sys.executable]
    package = subprocess.Popen(pyright, cwd=ROOT)  # at the same time, with the settings in pyproject.toml
    with tempfile.TemporaryDirectory(prefix="kafka-replica-types-") as folder:
        (Path(folder) / "user_program.py").write_text(PROGRAM.read_text())
        (Path(folder) / "readme.py").write_text(readme_program())
        settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "reportUnusedVariable": False}
        (Path(folder) / "pyrightconfig.json").write_text(json.dumps(settings))
        commands = (
            [tools / "mypy", "--strict", "--python-version", "3.11", "--cache-dir", ROOT / ".mypy_cache" / "user", "."],
            pyright,
        )
        rejected = [
            command[0].name for command in commands if subprocess.run(command, cwd=folder, check=False).returncode
        ]
    failures = [f"a user's program is rejected by {' and '.join(rejected)}"] if rejected else []
    if package.wait():
        failures.append("the package is rejected by pyright")
    if failures:
        sys.exit(f"types: {'; '.join(failures)}")


if __name__ == "__main__":
    main()

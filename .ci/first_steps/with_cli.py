"""The commands."""

import subprocess
import sys
from pathlib import Path

command = Path(sys.executable).with_name("kafka-replica")
assert "publish" in subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout

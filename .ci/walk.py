"""Follow README.md and docs/tutorial.md as a newcomer does, on a machine that has nothing but Python and make.

    python3 .ci/walk.py [readme] [tutorial]

Every command runs as it is written, in the order of the page, in one shell and in a folder of its own; a text block
after a command has to be the end of its output. Installing comes first, in a new virtual environment. The time of each
step is shown. The tests run the same blocks in the environment of `make env`; this shows that nothing else is needed.
Not run: `make test`, and `make demo-directory`, which needs PostgreSQL.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^\n((?:    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
_DONE = "walk-is-done"
_LATER = ("kafka-replica watch", "kafka-replica serve")  # they run until Ctrl-C
_STATUS = {"validate": 3, "map": 3}  # README: two rows of the sample data are wrong


class Shell:
    """A shell that keeps its folder, variables and virtual environment from step to step."""

    def __init__(self, folder: Path) -> None:
        # Messages on stderr are shown as they come; pages show what is on stdout.
        self._broker = "localhost:9092"
        self._process = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)

    def run(self, text: str, status: int = 0) -> str:
        """Run lines; show their output, and return what is on stdout.

        Raises:
            SystemExit: the exit status of the last line is another one.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        say("", *[f"$ {line}" for line in text.splitlines()])
        began_s = time.monotonic()
        self._process.stdin.write(f"{{ {text}\n}} </dev/null; echo {_DONE} $?\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            last, is_done, status_text = line.partition(_DONE)  # the output may end without a line break
            lines.append(last)
            sys.stdout.write(last)
            if is_done:
                break
        else:
            sys.exit("the shell has ended")
        say(f"    [{time.monotonic() - began_s:.0f} s]")
        found = int(status_text)
        if found != status:
            sys.exit(f"the exit status is {found} instead of {status}")
        output = "".join(lines)
        if started := re.search(r"Kafka is running at ([\w.]+:\d+)", output):
            self._broker = started[1]
        return output

    def python(self, text: str, folder: Path) -> str:
        """Run a program, with the address at which the broker has started if port 9092 was in use."""
        (folder / "program.py").write_text(text.replace("localhost:9092", self._broker))
        return self.run("python program.py")

    def end(self) -> None:
        """End the shell."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def say(*lines: str) -> None:
    """Write lines at once."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield language and text of each block of a page; an indented block has none."""
    for found in _BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        language, fenced, indented = found.groups()
        yield language or "", fenced if indented is None else re.sub(r"^    ", "", indented, flags=re.MULTILINE)


def install(shell: Shell, command: str, folder: Path) -> None:
    """Install from this checkout, in a virtual environment in the folder; go to the folder."""
    shell.run(f"cd {folder} && python3 -m venv env && . env/bin/activate && cd {ROOT}")
    shell.run(f"{command} --quiet --disable-pip-version-check")
    shell.run(f"cd {folder}")


def readme(shell: Shell, folder: Path) -> None:
    """Follow README.md: the demonstration, the commands, the programs."""
    shell.run(f"cd {ROOT} && make demo")
    found = [*blocks("README.md")]
    (line,) = [text for language, text in found if not language and "pip install" in text]
    install(shell, line.splitlines()[-1].partition("   #")[0].rstrip(), folder)
    (commands,) = [text for language, text in found if language == "sh"]
    for each in [line.partition("   #")[0].rstrip() for line in commands.splitlines()]:
        if each.startswith(_LATER):
            shell.run(f"timeout --signal INT 20 {each}; [ $? = 124 ]")
        else:
            shell.run(each, _STATUS.get(each.split()[1], 0))
    programs = [text for language, text in found if language == "python"]
    shell.python("\n".join(programs), folder)  # the second one continues with the first one's snapshot


def tutorial(shell: Shell, folder: Path) -> None:
    """Follow docs/tutorial.md, and compare the end of each output with what it shows."""
    found = [*blocks("docs/tutorial.md")]
    output = ""
    for number, (language, text) in enumerate(found):
        if "pip install" in text:
            install(shell, text.splitlines()[-1], folder)
        elif language == "text":
            if not f"\n{output}".endswith(f"\n{text}"):
                sys.exit(f"docs/tutorial.md shows other output than that of block {number}:\n{text}")
        elif language == "python":
            output = shell.python(text, folder)
        else:
            output = shell.run(text)
    shell.run("kafka-replica broker stop")


def main() -> None:
    """Follow the pages that are named, or both."""
    pages = {"readme": readme, "tutorial": tutorial}
    for name in sys.argv[1:] or pages:
        with tempfile.TemporaryDirectory(prefix=f"walk-{name}-") as made:
            shell = Shell(ROOT)
            try:
                pages[name](shell, Path(made))
            finally:
                shell.run("command -v kafka-replica >/dev/null && kafka-replica broker stop; true")
                shell.end()
        say("", f"{name}: everything runs as it is written")


if __name__ == "__main__":
    main()

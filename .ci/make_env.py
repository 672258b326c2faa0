"""Make or extend the environment in a folder: a venv with locked dependencies and this project in it.

``make_env.py FOLDER LEVEL [SOURCE...]``: the level names the last of the lock files to install; each adds to those
before it. Nothing is done if the level is newer than all sources, because another process has just made it.
Runs on any Python 3 with nothing installed, and says in one sentence what is missing.
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 14)  # all that is locked has wheels for these
MACHINES = ("x86_64", "aarch64", "arm64")  # and for these, on Linux with glibc
PIP_WITH_PYTHON = (22, 3)  # the first pip with the option --python
UNFINISHED = ".unfinished"  # in an environment: it is being made, or was when this ended
# Megabytes on disk of each level with those before it; .ci/check_env.py compares them with the environment.
DISK_MB = {"demo": 1000, "test": 1400, "check": 1700, "docs": 1800}
BUILD_MB = 1500  # PySpark comes as a source distribution, which pip unpacks and packs next to the environment
CAUSES = (  # what pip says -> what a person should do
    ("No space left on device", "the disk is full; free some space"),
    ("Errno 28", "the disk is full; free some space"),
    (
        "Temporary failure in name resolution",
        "the package index cannot be reached; check the network or pip's settings",
    ),
    (
        "Failed to establish a new connection",
        "the package index cannot be reached; check the network or pip's settings",
    ),
    ("Max retries exceeded", "the package index cannot be reached; check the network or pip's settings"),
    ("ProxyError", "the package index cannot be reached through the proxy; check the proxy's settings"),
    ("SSLError", "the package index's certificate is not trusted here; check pip's `cert` setting"),
    ("DO NOT MATCH THE HASHES", "a download differs from what is locked; run it again, or check the mirror in use"),
    ("No matching distribution", "the package index in use lacks a locked package; see the log"),
    ("Permission denied", "no right to write here; check the owner of this folder"),
    ("No module named pip", "the environment has no pip; run `make clean`, then the same command again"),
)


def fail(sentence):
    """End with one sentence and status 1."""
    sys.exit("make env: " + sentence)


def good_python():
    """Return a Python that is neither too old nor too new: this one, or another on the path."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)
        if found:
            return found
    return fail(
        "Python %d.%d to %d.%d is needed, this is %d.%d; install one, or name it: make PYTHON=/path/to/python3.12 ..."
        % (OLDEST + NEWEST + sys.version_info[:2])
    )


def check_machine():
    """Fail on a machine for which the locked packages have no wheels: pip would try to compile them for long."""
    if sys.platform not in ("linux", "darwin"):
        fail("Linux or macOS is needed; on Windows, use WSL")
    if platform.machine() not in MACHINES or sys.maxsize < 2**32:
        fail(
            "a 64-bit system and Python on x86-64 or ARM64 are needed, as some locked packages exist for no other; "
            "this is %s with a Python of %d bits" % (platform.machine(), sys.maxsize.bit_length() + 1)
        )
    if sys.platform == "linux" and not has_glibc():
        fail(
            "Linux with glibc is needed, because some of the locked packages exist for no other C library; on Alpine, "
            "use a container of Debian"
        )


def has_glibc():
    """Return whether this Python runs on glibc."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (OSError, ValueError):
        return False


def run(command, log, doing, advice, **environment):
    """Run a step; its output goes to the log, and decides the sentence if it fails."""
    environment["PIP_USER"] = "0"  # the user's settings may ask for installations in the home folder
    with open(log, "ab") as out:
        start = out.tell()
        try:
            code = subprocess.call(
                command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env=dict(os.environ, **environment), close_fds=False,  # a pip that survives this keeps the lock
            )  # fmt: skip
        except OSError as error:
            fail("%s: %s" % (doing, error))
    if code == 0:
        return
    with open(log, errors="replace") as text:
        text.seek(start)
        output = text.read()
    reason = next((todo for words, todo in CAUSES if words in output), advice)
    fail("%s failed: %s (the whole story: %s)" % (doing, reason, log))


def output_of(python, program):
    """Return what a program prints, or None if it fails or there is no such Python."""
    try:
        return subprocess.check_output([python, "-c", program], stderr=subprocess.DEVNULL).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def has(python, module):
    """Return whether a Python has a module."""
    return output_of(python, "import " + module) is not None


def has_pip_for_others(python):
    """Return whether a Python has a pip that can install into another environment."""
    version = output_of(python, "import pip; print(pip.__version__)")
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is not None and tuple(map(int, found.groups())) >= PIP_WITH_PYTHON


def make_venv(python, folder, log):
    """A virtual environment; without a pip of its own where Debian's python3 lacks ensurepip but has pip."""
    name = "python" + (output_of(python, "import sys; print('%d.%d' % sys.version_info[:2])") or "3")
    advice = "install the venv module of this %s (on Debian and Ubuntu: apt install %s-venv)" % (name, name)
    if not has(python, "venv") or not (has(python, "ensurepip") or has_pip_for_others(python)):
        fail(advice)
    if os.path.islink(folder):
        fail("%s is a link, in which Python makes no environment; remove it" % folder)
    options = [] if has(python, "ensurepip") else ["--without-pip"]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)  # the folder of a volume stays, only its content is removed
    # Its Python is there before its pip: without the mark, an interrupted one would look finished.
    mark = os.path.join(folder, UNFINISHED)
    open(mark, "w").close()
    run([python, "-m", "venv", *options, folder], log, "making a virtual environment", advice)
    os.remove(mark)


def pip_for(python, inside):
    """The pip that installs into the environment: its own, or that of the Python it was made with; None without one."""
    if has(inside, "pip"):
        return [inside, "-m", "pip"]
    return [python, "-m", "pip", "--python", inside] if has_pip_for_others(python) else None


def is_finished(folder, inside):
    """Return whether there is an environment that can be extended: Python or folder may have been moved since."""
    return has(inside, "sys") and not os.path.exists(os.path.join(folder, UNFINISHED)) and not is_copy(folder)


def is_copy(folder):
    """Return whether an environment was made in another folder, the Python of which its programs would start."""
    try:
        with open(os.path.join(folder, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            commands = [line.rstrip() for line in file if re.match(r"command\s*=", line)]
    except OSError:
        return False
    here = (" " + os.path.abspath(folder), " " + os.path.realpath(folder))
    return bool(commands) and not commands[-1].endswith(here)


def is_current(folder, level, sources):
    """Return whether a level is newer than its sources, as make compares them."""
    try:
        made = os.stat(os.path.join(folder, "." + level)).st_mtime_ns
        return bool(sources) and all(os.stat(source).st_mtime_ns <= made for source in sources)
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked(folder):
    """Keep other processes from changing this environment; the lock ends with this process, however it ends."""
    import fcntl  # noqa: PLC0415 - Windows has no such module

    file = os.open(folder.rstrip("/") + ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    os.set_inheritable(file, True)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another process that makes the environment in %s ..." % folder, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(file)


def install(pip, levels, folder, log):
    """Install the locked dependencies, and this project."""
    # Unpacked next to the environment: elsewhere, the folder for temporary files is often a small one in memory.
    temporary = os.path.abspath(os.path.join(folder, "tmp"))
    os.makedirs(temporary, exist_ok=True)
    locks = [word for level in levels for word in ("-r", os.path.join("requirements", level + ".lock"))]
    try:
        run(
            [*pip, "--retries", "2", "--no-compile", "--require-hashes", *locks],
            log, "installing the locked dependencies", "see the end of the log", TMPDIR=temporary,
        )  # fmt: skip
        run(
            [*pip, "--no-deps", "--no-build-isolation", "--no-index", "-e", "."],
            log, "installing this project", "see the end of the log", TMPDIR=temporary,
        )  # fmt: skip
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def main(folder, level, *sources):
    """Check the machine, and make or extend the environment; end with one sentence if this fails."""
    check_machine()
    python = good_python()
    with locked(folder):
        make(python, folder, level, sources)


def make(python, folder, level, sources):
    """Make or extend the environment."""
    log = os.path.abspath(folder.rstrip("/") + ".log")
    began = time.time()
    inside = os.path.join(folder, "bin", "python")
    is_new = not is_finished(folder, inside)
    if not is_new and is_current(folder, level, sources):
        return
    levels = list(DISK_MB)[: list(DISK_MB).index(level) + 1]
    present = [] if is_new else [name for name in levels if os.path.exists(os.path.join(folder, "." + name))]
    needed = DISK_MB[level] - (DISK_MB[present[-1]] if present else -BUILD_MB)
    if shutil.disk_usage(".").free < needed * 10**6:
        fail("less than %.1f GB of disk are free here, which is needed for a moment" % (needed / 1000))
    if os.path.exists(log):
        os.remove(log)
    print(
        "%s the environment in %s, %.1f GB on disk (the first time this takes some minutes) ..."
        % ("Extending" if present else "Making", folder, DISK_MB[level] / 1000), flush=True,
    )  # fmt: skip
    if is_new:
        make_venv(python, folder, log)
    pip = pip_for(python, inside)
    if pip is None:
        fail("the environment in %s has no pip; run `make clean`, then the same command again" % folder)
    install([*pip, "install", "--quiet", "--disable-pip-version-check"], levels, folder, log)
    for name in levels:
        with open(os.path.join(folder, "." + name), "w") as stamp:
            stamp.write("%d\n" % time.time())
    with contextlib.suppress(FileNotFoundError):  # make clean
        os.remove(log)
    print("Ready after %d s." % (time.time() - began), flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        fail("interrupted")
    except OSError as error:
        fail(str(error))

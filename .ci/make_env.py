"""Makes the environment in the folder named: a venv with the locked dependencies and this project in it.

Runs on any Python 3 with nothing installed, and says in one sentence what is missing.
"""

import os
import shutil
import subprocess
import sys
import time

NEEDED = (3, 11)
CAUSES = (  # what pip says -> what a person should do
    ("No space left on device", "the disk is full; free about 2 GB"),
    ("Errno 28", "the disk is full; free about 2 GB"),
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
)


def fail(sentence):
    """Ends with one sentence and status 1."""
    sys.exit("make env: " + sentence)


def good_python():
    """A Python that is new enough: this one, or another on the path."""
    if sys.version_info >= NEEDED:
        return sys.executable
    for minor in range(20, NEEDED[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)
        if found:
            return found
    return fail(
        "Python >= 3.11 is needed, this is %d.%d; install one, or name it: make PYTHON=/path/to/python3.12 ..."
        % sys.version_info[:2]
    )


def run(command, log, doing, advice):
    """Runs a step; its output goes to the log, and decides the sentence if it fails."""
    with open(log, "ab") as out:
        start = out.tell()
        try:
            code = subprocess.call(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        except OSError as error:
            fail("%s: %s" % (doing, error))
    if code == 0:
        return
    with open(log, errors="replace") as text:
        text.seek(start)
        said = text.read()
    reason = next((todo for words, todo in CAUSES if words in said), advice)
    fail("%s failed: %s (the whole story: %s)" % (doing, reason, log))


def has(python, module):
    """Whether a Python has a module."""
    return subprocess.call([python, "-c", "import " + module], stderr=subprocess.DEVNULL) == 0


def make_venv(python, folder, log):
    """A virtual environment; without a pip of its own where Debian's python3 lacks ensurepip but has pip."""
    shutil.rmtree(folder, ignore_errors=True)
    advice = "install Python's venv module (on Debian and Ubuntu: apt install python3-venv)"
    if not has(python, "venv") or not (has(python, "ensurepip") or has(python, "pip")):
        fail(advice)
    options = [] if has(python, "ensurepip") else ["--without-pip"]
    run([python, "-m", "venv", *options, folder], log, "making a virtual environment", advice)


def pip_for(python, inside):
    """The pip that installs into the environment: its own, or that of the Python it was made with."""
    return [inside, "-m", "pip"] if has(inside, "pip") else [python, "-m", "pip", "--python", inside]


def main(folder):
    """Makes it, or says what is in the way."""
    log = os.path.abspath(folder.rstrip("/") + ".log")
    began = time.time()
    python = good_python()
    if shutil.disk_usage(".").free < 2 * 10**9:
        fail("less than 2 GB of disk are free here; the environment needs 1.3 GB")
    if os.path.exists(log):
        os.remove(log)
    print("Making the environment in %s (about a minute the first time) ..." % folder, flush=True)
    inside = os.path.join(folder, "bin", "python")
    if not os.path.exists(inside):
        make_venv(python, folder, log)
    pip = [*pip_for(python, inside), "install", "--quiet", "--disable-pip-version-check"]
    run(
        [*pip, "--retries", "2", "--require-hashes", "-r", "requirements.lock"],
        log, "installing the locked dependencies", "see the end of the log",
    )  # fmt: skip
    run(
        [*pip, "--no-deps", "--no-build-isolation", "--no-index", "-e", "."],
        log, "installing this project", "see the end of the log",
    )  # fmt: skip
    with open(os.path.join(folder, ".made"), "w") as stamp:
        stamp.write("%d\n" % time.time())
    os.remove(log)
    print("Ready after %d s." % (time.time() - began), flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        fail("interrupted")
    except OSError as error:
        fail(str(error))

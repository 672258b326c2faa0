"""Build the container image, and run it as docs/deployment.md says: without root, with a read-only file system.

``make image`` runs this with docker or podman (``CONTAINER_TOOL``), an embedded broker and the sample structures. The
service must become ready, serve a structure, validate data and pass its health check; stop at once, with status 0; and
continue from the volume after a restart. The image of Python is downloaded unless it is there already.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from programs import output_of

from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.ports import choose_port
from kafka_replica.sdmx.samples import sample_files

ROOT = Path(__file__).resolve().parent.parent


def works(tool: str) -> bool:
    """Return whether a program is installed and, for docker, its server runs."""
    return (
        shutil.which(tool) is not None
        and not subprocess.run([tool, "info"], capture_output=True, check=False).returncode
    )


TOOL = os.environ.get("CONTAINER_TOOL") or next(filter(works, ("docker", "podman")), "")
IMAGE = "localhost/kafka-replica:checked"
NAME, VOLUME, TOPIC = "kafka-replica-checked", "kafka-replica-checked", "sdmx.structures"
MAX_ADDED_MB = 330
PATIENCE_S = 120
CODELIST = "/sdmx/v2/structure/codelist/KR_DEMO/CL_REF_AREA/1.0"
DATA = "REF_AREA,INDICATOR,SEX,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,OBS_STATUS,DECIMALS\nXX,EMP,T,2024-Q1,1.5,PS,A,1\n"


def run(*command: str, fails: bool | None = False) -> str:
    """Run a command in the checkout; return its output. ``fails=None`` accepts a failure."""
    return output_of("image", ROOT, *command, fails=fails)


def check(condition: bool, what: str) -> None:
    """End with a message and the log of the service unless a condition holds."""
    if not condition:
        sys.exit(f"image: {what}\n{run(TOOL, 'logs', NAME, fails=None)}")


def build() -> float:
    """Build the image; return how many MB it adds to the image of Python."""
    docker_format = ["--format", "docker"] if TOOL == "podman" else []  # that of OCI has no health check
    run(TOOL, "build", *docker_format, "--network", "host", "-f", "deploy/container/Containerfile", "-t", IMAGE, ".")
    recipe = (ROOT / "deploy" / "container" / "Containerfile").read_text()
    python = recipe.partition("ARG PYTHON=")[2].split()[0]
    own, base = (
        int(run(TOOL, "image", "inspect", "--format", "{{.Size}}", image))
        for image in (IMAGE, f"docker.io/library/python:{python}")
    )
    return (own - base) / 1e6


@contextmanager
def running(bootstrap: str, port: int) -> Iterator[str]:
    """Run the container; yield the address of the service. It must stop at once and with status 0."""
    settings = {"BOOTSTRAP_SERVERS": bootstrap, "TOPIC": TOPIC, "PORT": str(port), "ALLOWED_HOSTS": "127.0.0.1"}
    given = (word for name, value in settings.items() for word in ("-e", f"KAFKA_REPLICA_{name}={value}"))
    run(
        TOOL, "run", "--detach", "--name", NAME, "--network", "host", "--read-only", "--tmpfs", "/tmp",
        "-v", f"{VOLUME}:/var/lib/kafka-replica", *given, IMAGE,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        give_up_s = time.monotonic() + PATIENCE_S
        while not _is_ready(address):
            check(time.monotonic() < give_up_s, "the service does not become ready")
            time.sleep(0.2)
        yield address
        run(TOOL, "stop", "--time", str(PATIENCE_S), NAME)
        status = run(TOOL, "inspect", "--format", "{{.State.ExitCode}}", NAME)
        check(status == "0", f"the service ends with status {status}")
    finally:
        run(TOOL, "rm", "--force", NAME, fails=None)


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health/ready").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def use(address: str) -> str:
    """Use the service and look into the container; return the codelist that it serves."""
    check(run(TOOL, "exec", NAME, "id", "-u") == "10001", "the service runs as another user")
    check(
        "Read-only file system" in run(TOOL, "exec", NAME, "sh", "-c", "touch /opt/x 2>&1 || true"),
        "the file system is not read-only",
    )
    image = json.loads(run(TOOL, "image", "inspect", IMAGE))[0]
    health = image.get("Healthcheck") or image["Config"]["Healthcheck"]  # podman's place, and docker's
    run(TOOL, "exec", NAME, *health["Test"][1:])
    report = httpx.post(f"{address}/validate?structure=KR_DEMO:LABOUR(1.0)&format=json", content=DATA, timeout=60)
    check(report.status_code == httpx.codes.OK and '"XX"' in report.text, f"data is not validated: {report.text}")
    served = httpx.get(address + CODELIST)
    check(served.status_code == httpx.codes.OK and "CL_REF_AREA" in served.text, f"no structure: {served.text}")
    return served.text


def main() -> None:
    """Build, run, stop and run again."""
    if not TOOL:
        sys.exit("image: install docker or podman, and start the server of docker")
    added_mb = build()
    check(added_mb < MAX_ADDED_MB, f"it adds {added_mb:.0f} MB to the image of Python, more than {MAX_ADDED_MB}")
    run(TOOL, "volume", "rm", "--force", VOLUME, fails=None)
    with LocalKafka() as kafka:
        kafka.create_topic(TOPIC, 1, {"cleanup.policy": "compact"})
        program = str(Path(sys.executable).with_name("kafka-replica"))
        run(program, "publish", *map(str, sample_files()), "--topic", TOPIC, "-b", kafka.bootstrap_servers)
        with running(kafka.bootstrap_servers, choose_port()) as address:
            first = use(address)
        with running(kafka.bootstrap_servers, choose_port()) as address:
            check(use(address) == first, "after a restart the structure is another one")
    run(TOOL, "volume", "rm", "--force", VOLUME, fails=None)
    print(f"image: built and run by {TOOL}; it adds {added_mb:.0f} MB to the image of Python")


if __name__ == "__main__":
    main()

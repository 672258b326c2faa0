"""The files in deploy/: accepted by the tools that they are for, about settings that exist, and true of the service."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import tomllib
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.cli.run import CALLED_WRONGLY
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.broker.kafka_tools import producer, write
from support.core.certificates import Authority
from support.paths import ROOT
from support.waiting import wait_until

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd" / "kafka-replica.service"
CHART = DEPLOY / "helm" / "kafka-replica"
PROGRAM = Path(sys.executable).with_name("kafka-replica")
CODELIST = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_A(1.0)"
_KAFKA = "KAFKA_REPLICA_KAFKA_"  # properties of Kafka's clients


def needs(tool: str, package: str) -> pytest.MarkDecorator:
    """Return the mark of a test that a tool is needed for."""
    reason = f"SKIPPED LOUDLY: {tool} is not installed ({package}): files in deploy/ are NOT checked by it"
    return pytest.mark.skipif(shutil.which(tool) is None, reason=reason)


def run(*command: str | Path) -> str:
    """Run a command, which must succeed; return its output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_deployment_files_use_only_existing_settings() -> None:
    """All variables in the files and on the page are those of `kafka-replica serve`."""
    command = kafka_replica.get_command(click.Context(kafka_replica), "serve")
    assert command is not None
    known = {str(param.envvar or f"KAFKA_REPLICA_{(param.name or '').upper()}") for param in command.params}
    known.add("KAFKA_REPLICA_COMPILED")  # of the installation
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and path.parent.name != "monitoring"]
    texts = [path.read_text(encoding="utf-8") for path in (*files, ROOT / "docs" / "deployment.md")]
    named = {name for text in texts for name in re.findall(r"\bKAFKA_REPLICA_[A-Z_]+", text)}
    assert len(named) >= 6
    assert {name for name in named if not name.startswith(_KAFKA)} <= known


def test_the_extras_of_the_image_exist() -> None:
    """Pip would only warn about an extra that does not exist."""
    declared = re.findall(r"^(\w[\w-]*) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    texts = [
        path.read_text(encoding="utf-8") for path in (DEPLOY / "container/Containerfile", ROOT / "docs/deployment.md")
    ]
    named = [found for text in texts for found in re.findall(r"(?:\"\.|kafka-replica)\[([\w,-]+)\]", text)]
    assert len(named) == 2
    assert {extra for found in named for extra in found.split(",")} <= set(declared)


def test_the_image_has_all_files_that_its_build_needs(tmp_path: Path) -> None:
    """The files that the container file copies are enough to build the package.

    Modules that were compiled in the checkout may be of another Python, system or source, and are never in the package.
    """
    written = (DEPLOY / "container" / "Containerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (?!--from)(.+) (\S+)$", written, re.MULTILINE)
    sources = [source for names, _ in copied for source in names.split()]
    build = tmp_path / "build"
    build.mkdir()
    for source in sources:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, build / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, build)
    (build / "kafka_replica/common/_batches.cpython-311-x86_64-linux-gnu.so").touch()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=build, check=True, timeout=120,
        env={name: value for name, value in os.environ.items() if name != "KAFKA_REPLICA_COMPILED"},
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    assert {"kafka_replica/py.typed", "kafka_replica_spark/__init__.py"} <= names
    assert not [name for name in names if name.endswith(".so")]
    assert "**/*.so" in (DEPLOY / "container/Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()


def test_wrong_settings_do_not_restart_the_unit_for_ever() -> None:
    """A service with settings that cannot work ends with this status, and only a person can correct them."""
    assert f"RestartPreventExitStatus={CALLED_WRONGLY}\n" in UNIT.read_text(encoding="utf-8")


def test_a_unit_that_is_stopped_while_it_starts_has_not_failed() -> None:
    """SIGTERM ends any command with this status until `serve` itself runs."""
    assert f"SuccessExitStatus={128 + signal.SIGTERM}\n" in UNIT.read_text(encoding="utf-8")


@needs("systemd-analyze", "Debian: systemd")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """The unit has no unknown directive, and gives away little: systemd rates it below 3 of 10."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text(encoding="utf-8").replace("/opt/kafka-replica/bin/kafka-replica", str(PROGRAM)))
    run("systemd-analyze", "verify", unit)
    rated = run("systemd-analyze", "security", "--offline=true", unit)
    level = re.search(r"Overall exposure level for .*?: ([\d.]+)", rated)
    assert level is not None
    assert float(level[1]) < 3


_WITH_TOKENS = (
    "tokensSecretName=readers", "serviceMonitor.token.name=scraper", "serviceMonitor.token.key=token",
    "serviceMonitor.labels.release=prometheus",
)  # fmt: skip


@needs("helm", "helm.sh")
@pytest.mark.parametrize(
    "values", [(), ("serviceMonitor.enabled=true", "secretName=kafka", "storage.storageClassName=fast", *_WITH_TOKENS)]
)
def test_helm_accepts_the_chart(values: tuple[str, ...]) -> None:
    """The chart has no fault, and its manifests have probes, a volume, a budget, and no rights that are not needed."""
    settings = [argument for value in values for argument in ("--set", value)]
    run("helm", "lint", "--strict", CHART, *settings)
    manifests = run("helm", "template", "structures", CHART, *settings)
    kinds = re.findall(r"^kind: (\w+)", manifests, re.MULTILINE)
    monitored = ["ServiceMonitor"] if values else []
    assert sorted(kinds) == sorted(["PodDisruptionBudget", "Service", "StatefulSet", *monitored])
    for needed in ("startupProbe", "readinessProbe", "livenessProbe", "volumeClaimTemplates", "maxUnavailable: 1"):
        assert needed in manifests
    for needed in ("runAsNonRoot: true", "readOnlyRootFilesystem: true", "drop: [ALL]", "failureThreshold: 180"):
        assert needed in manifests
    assert ("secretRef: {name: kafka}" in manifests) == bool(values)
    with_tokens = (
        'KAFKA_REPLICA_TOKENS_FILE, value: "/etc/kafka-replica/tokens"', "credentials: {name: scraper, key: token}",
        "secret: {secretName: readers,", "release: prometheus",
    )  # fmt: skip
    assert [text in manifests for text in with_tokens] == [bool(values)] * 4


@needs("helm", "helm.sh")
def test_the_manifests_for_those_without_helm_are_those_of_the_chart() -> None:
    """The manifests are the output of: helm template structures deploy/helm/kafka-replica --kube-version 1.34."""
    manifests = (DEPLOY / "kubernetes" / "kafka-replica.yaml").read_text(encoding="utf-8")
    assert manifests == run("helm", "template", "structures", CHART, "--kube-version", "1.34")


@needs("helm", "helm.sh")
def test_settings_of_a_values_file_reach_the_pod_unchanged(tmp_path: Path) -> None:
    """Large whole numbers, fractions and truth values stay as they were written; null removes a default."""
    values = tmp_path / "values.yaml"
    written = {
        "KAFKA_REPLICA_MAX_RESPONSE_BYTES": "268435456", "KAFKA_REPLICA_MAX_LAG_S": "2.5",
        "KAFKA_REPLICA_READY_WHEN_STALE": "false", "KAFKA_REPLICA_TOPIC": "null",
    }  # fmt: skip
    values.write_text("settings:\n" + "".join(f"  {name}: {value}\n" for name, value in written.items()))
    manifests = run("helm", "template", "structures", CHART, "--values", values)
    found = dict(re.findall(r'\{name: (\w+), value: "(.*)"\}', manifests))
    del written["KAFKA_REPLICA_TOPIC"]
    assert {name: found[name] for name in written} == written
    assert "KAFKA_REPLICA_TOPIC" not in manifests


@needs("helm", "helm.sh")
@pytest.mark.parametrize("name", ["HOST", "STORE", "TOKENS_FILE", "PORT", "TOPIC"])
@pytest.mark.parametrize(("value", "written"), [("other", ['"other"']), ("", ['""']), ("null", [])])
def test_each_variable_is_written_once(name: str, value: str, written: list[str]) -> None:
    """A setting replaces the value that the chart gives; null leaves the variable to the Secret.

    Of two entries with one name, Kubernetes uses the last, but warns, and loses one of them in later changes.
    """
    if name == "PORT":  # a number, which the probes need
        value, written = (value.replace("other", "9000"), ['"9000"'] if value == "other" else ['"8080"'])
    given = f"settings.KAFKA_REPLICA_{name}={value}"
    manifests = run("helm", "template", "structures", CHART, "--set", "tokensSecretName=readers", "--set", given)
    assert re.findall(f"name: KAFKA_REPLICA_{name}, value: (.*)}}", manifests) == written


@needs("helm", "helm.sh")
def test_all_settings_may_be_in_the_secret(tmp_path: Path) -> None:
    """With null instead of the settings, the pod has only those that the chart itself determines."""
    values = tmp_path / "values.yaml"
    values.write_text("settings: null\nsecretName: kafka\n")
    manifests = run("helm", "template", "structures", CHART, "--values", values)
    assert set(re.findall(r"name: (KAFKA_REPLICA_\w+)", manifests)) == {
        f"KAFKA_REPLICA_{name}" for name in ("HOST", "PORT", "STORE")
    }
    assert "secretRef: {name: kafka}" in manifests


@needs("helm", "helm.sh")
@pytest.mark.parametrize(("value", "expected"), [("9000", 9000), ('"9000"', 9000), ("null", 8080)])
def test_probes_request_the_port_of_the_service(value: str, expected: int, tmp_path: Path) -> None:
    """The port of the container, by which probes and the Service find it, is the one on which the service listens."""
    values = tmp_path / "values.yaml"
    values.write_text(f"settings:\n  KAFKA_REPLICA_PORT: {value}\n")
    manifests = run("helm", "template", "structures", CHART, "--values", values)
    assert re.findall(r"name: KAFKA_REPLICA_PORT, value: (.*)}", manifests) == [f'"{expected}"']
    assert f"{{name: http, containerPort: {expected}}}" in manifests


def test_probes_that_restart_a_pod_do_not_depend_on_kafka() -> None:
    """Only the readiness probe, which restarts nothing, requests /health/ready."""
    manifests = (DEPLOY / "kubernetes" / "kafka-replica.yaml").read_text(encoding="utf-8")
    probes = dict(re.findall(r"(\w+Probe):\s+httpGet: \{path: (\S+),", manifests))
    live = "/health/live"
    assert probes == {"startupProbe": live, "readinessProbe": "/health/ready", "livenessProbe": live}


@needs("helm", "helm.sh")
@pytest.mark.parametrize(("version", "has_policy"), [("1.26", False), ("1.27", True)])
def test_pods_that_are_not_ready_do_not_block_a_drain_where_kubernetes_can_do_this(
    version: str, has_policy: bool
) -> None:
    """The disruption budget names the policy only for the versions that have it."""
    manifests = run("helm", "template", "structures", CHART, "--kube-version", version)
    assert ("unhealthyPodEvictionPolicy: AlwaysAllow" in manifests) == has_policy


def test_chart_and_manifests_have_the_version_of_the_package() -> None:
    """A release changes the numbers of the chart and the tag of the image, too."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    chart = (CHART / "Chart.yaml").read_text(encoding="utf-8")
    manifests = (DEPLOY / "kubernetes" / "kafka-replica.yaml").read_text(encoding="utf-8")
    assert dict(re.findall(r'^(version|appVersion): "?([^"\n]+)', chart, re.MULTILINE)) == {
        "version": version, "appVersion": version,
    }  # fmt: skip
    assert re.findall(r'image: "kafka-replica:(.+)"', manifests) == [version]


@pytest.mark.long
@needs("helm", "helm.sh")
@pytest.mark.skipif(
    importlib.util.find_spec("kubernetes_validate") is None,
    reason="SKIPPED LOUDLY: kubernetes-validate is not installed (make env): manifests are NOT checked by its schemas",
)
@pytest.mark.parametrize("version", ["1.25", "1.34"])
def test_manifests_are_valid_by_the_schemas_of_kubernetes(version: str, tmp_path: Path) -> None:
    """Each manifest is valid without any unknown field; one with a misspelled field is not."""
    manifests, misspelled = tmp_path / "manifests.yaml", tmp_path / "misspelled.yaml"
    settings = [argument for value in ("secretName=kafka", *_WITH_TOKENS) for argument in ("--set", value)]
    manifests.write_text(run("helm", "template", "structures", CHART, "--kube-version", version, *settings))
    misspelled.write_text(manifests.read_text().replace("readinessProbe:", "readynessProbe:"))
    validate: list[str | Path] = [Path(sys.executable).with_name("kubernetes-validate"), "--strict", "-k", version]
    assert run(*validate, manifests).count("passed for resource") == 3
    assert subprocess.run([*validate, misspelled], capture_output=True, check=False).returncode != 0


ALONE = """
set -e
mount --make-rprivate /
mount --bind "$FOLDER" "$FOLDER"
mount -o remount,bind,ro /
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
"""
"""Run a command with a file system that is read-only except for one folder, and without capabilities."""


def can_be_alone() -> bool:
    """Return whether this user may do that here."""
    try:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", ALONE, "sh", "true"], env={**os.environ, "FOLDER": "/tmp"}, check=False,
            capture_output=True,
        )  # fmt: skip
    except OSError:
        return False
    return done.returncode == 0


def is_healthy(port: str, **variables: str) -> bool:
    """Return the verdict of the image's health check, for a service on a port."""
    (words,) = re.findall(
        r"HEALTHCHECK .*?CMD (\[.*?\])\n", (DEPLOY / "container/Containerfile").read_text(), re.DOTALL
    )
    command = [sys.executable, *json.loads(words)[1:]]
    environment = {"KAFKA_REPLICA_PORT": port, **variables}
    return subprocess.call(command, env=environment, stderr=subprocess.DEVNULL) == 0


def test_the_health_check_of_the_image_uses_tls_if_the_service_does(tmp_path: Path) -> None:
    """The check accepts any certificate, because the address in the container is not the public one."""
    Authority(tmp_path, "ours").issue("service", "DNS:structures.example.org")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "service.pem")

    class Live(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health/live" else 404)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Live) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = str(server.server_port)
        try:
            assert is_healthy(port, KAFKA_REPLICA_TLS_CERTIFICATE="/service.crt")
            assert not is_healthy(port)
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.skipif(not can_be_alone(), reason="SKIPPED LOUDLY: no read-only file system for one process here")
def test_the_image_runs_without_rights_and_writes_to_one_folder(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """With the image's environment, a process without capabilities needs its store and a folder for temporary files."""
    topic = kafka_topic("deployed")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {CODELIST: "x"})
    image = dict(re.findall(r"(KAFKA_REPLICA_\w+)=(\S+)", (DEPLOY / "container/Containerfile").read_text()))
    environment = {
        "KAFKA_REPLICA_BOOTSTRAP_SERVERS": local_kafka.bootstrap_servers,
        "KAFKA_REPLICA_TOPIC": topic,
        "KAFKA_REPLICA_HOST": image["KAFKA_REPLICA_HOST"],
        "KAFKA_REPLICA_STORE": str(tmp_path / "store"),
        "KAFKA_REPLICA_PORT": "0",
        "KAFKA_REPLICA_READY_WHEN_STALE": "true",
        "TMPDIR": str(tmp_path),
        "HOME": "/nonexistent",
        "PATH": os.environ["PATH"],
        "FOLDER": str(tmp_path),
    }
    command = ["unshare", "-m", "sh", "-c", ALONE, "sh", str(PROGRAM), "serve", "--json"]
    process = subprocess.Popen(
        command, env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        address = json.loads(line)["address"].replace("0.0.0.0", "127.0.0.1")
        wait_until(lambda: plain_http.get(f"{address}/health/ready").status_code == 200)
        assert plain_http.get(f"{address}/health/live").status_code == 200
        assert is_healthy(address.rpartition(":")[2])
        assert not is_healthy("1"), "the port is not that of the variable"
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert (tmp_path / "store").is_dir()

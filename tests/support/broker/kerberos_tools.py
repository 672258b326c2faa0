"""A real Kerberos: a key distribution centre on the loopback address, and a Kafka listener that uses it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Producer

from kafka_replica.embedded import LocalKafka, ports

REALM = "KAFKA.REPLICA.TEST"
_UP_S = 30.0
_SBIN = "/usr/sbin:/sbin:/usr/local/sbin"  # the folder of the KDC's programs, which is often not on the path
_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_HEADER = Path("/usr/include/librdkafka/rdkafka.h")
_CLIENT = Path(__file__).parent / "kerberos_client.py"

_KRB5_CONF = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 default_ccache_name = FILE:{folder}/tickets
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 localhost = {realm}
"""
_KDC_CONF = """[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
  max_life = 1h
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }}
[logging]
 kdc = FILE:{folder}/kdc.log
"""


def _which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_SBIN}")


def missing_programs() -> str | None:
    """Return the reason to skip if the programs of a KDC are not on this machine, else None."""
    missing = [program for program in _PROGRAMS if _which(program) is None]
    if missing:
        return (
            f"SKIPPED LOUDLY: there is no Kerberos: {', '.join(missing)} not found; install it "
            "(apt-get install krb5-kdc krb5-admin-server krb5-user libsasl2-modules-gssapi-mit)"
        )
    return None


def wheel_has_kerberos() -> bool:
    """Return True if the confluent-kafka of this environment was built with GSSAPI."""
    probe = {"bootstrap.servers": "localhost:1", "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI"}
    try:
        Producer({**probe, "sasl.kerberos.kinit.cmd": "true", "log_level": 0})
    except KafkaException:
        return False
    return True


def client_with_kerberos(folder: Path) -> Path | str:
    """Return a confluent-kafka built from source against the system's librdkafka with GSSAPI, or why there is none."""
    if not _HEADER.exists() or shutil.which("gcc") is None:
        return "SKIPPED LOUDLY: no librdkafka with GSSAPI; install it (apt-get install librdkafka-dev libsasl2-dev gcc)"
    found = re.search(r"#define RD_KAFKA_VERSION\s+0x([0-9a-f]{8})", _HEADER.read_text())
    assert found is not None
    version = ".".join(str(part) for part in bytes.fromhex(found[1])[:3])
    wanted = ["--no-binary", "confluent-kafka", f"confluent-kafka=={version}"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *wanted]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=180)
    except subprocess.TimeoutExpired:
        return f"SKIPPED LOUDLY: confluent-kafka {version} was not to be had or built within 180 s"
    except subprocess.CalledProcessError as error:
        return f"SKIPPED LOUDLY: confluent-kafka {version} was not to be had or built: {error.stderr[-300:]}"
    return folder


class Kerberos:
    """A KDC with two principals, and a broker with a listener for Kerberos next to the open one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = ports.choose_port()
        report = {"realm": REALM, "folder": folder, "port": self.port}
        (folder / "krb5.conf").write_text(_KRB5_CONF.format(**report))
        (folder / "kdc.conf").write_text(_KDC_CONF.format(**report))
        self.environment = {
            **os.environ, "KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "PATH": f"{os.environ.get('PATH', '')}:{_SBIN}",
        }  # fmt: skip
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        for principal, keytab in (("kafka/localhost", "broker"), ("registry", "registry")):
            self.run("kadmin.local", "-q", f"addprinc -randkey {principal}@{REALM}")
            self.run("kadmin.local", "-q", f"ktadd -k {folder / keytab}.keytab {principal}@{REALM}")
        self.kdc = subprocess.Popen(
            [str(_which("krb5kdc")), "-n"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self._wait_for_kdc()
            self.kafka, self.address = self._broker()
        except BaseException:
            self._stop_kdc()
            raise

    def run(self, *command: str) -> None:
        """Run one of Kerberos' own programs, in this realm."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def stop(self) -> None:
        """End both."""
        self.kafka.stop()
        self._stop_kdc()

    def client(self, site: Path, properties: Mapping[str, Any], topic: str, value: str) -> dict[str, Any]:
        """Return the output of a client that writes a transaction and reads the topic, with these properties only."""
        environment = {**self.environment, "PYTHONPATH": str(site)}
        command = [sys.executable, str(_CLIENT), json.dumps(dict(properties)), topic, value]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=120, cwd=self.folder
        )
        assert done.returncode == 0, done.stdout + done.stderr
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report

    def _broker(self) -> tuple[LocalKafka, str]:
        plain = ports.choose_port(but=(self.port,))
        secured = ports.choose_port(but=(self.port, plain))
        controller = ports.choose_port(but=(self.port, plain, secured))
        login = (
            "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
            f'keyTab="{self.folder}/broker.keytab" principal="kafka/localhost@{REALM}";'
        )
        settings = {
            "listeners": f"OPEN://127.0.0.1:{plain},KRB://127.0.0.1:{secured},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"OPEN://127.0.0.1:{plain},KRB://localhost:{secured}",
            "listener.security.protocol.map": "OPEN:PLAINTEXT,KRB:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "OPEN",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listener.name.krb.sasl.enabled.mechanisms": "GSSAPI",
            "listener.name.krb.gssapi.sasl.jaas.config": login,
            "sasl.kerberos.service.name": "kafka",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            # A user who logs in by Kerberos has to be the keytab's principal; other users may do nothing.
            "super.users": "User:ANONYMOUS;User:registry",
        }
        java = [f"-Djava.security.krb5.conf={self.folder}/krb5.conf"]
        return LocalKafka(port=plain, settings=settings, jvm_options=java).start(), f"localhost:{secured}"

    def _wait_for_kdc(self) -> None:
        give_up_s = time.monotonic() + _UP_S
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.kdc.poll() is None, "the KDC ended"
            assert time.monotonic() < give_up_s, "the KDC does not listen"
            time.sleep(0.05)

    def _stop_kdc(self) -> None:
        self.kdc.terminate()
        self.kdc.wait()

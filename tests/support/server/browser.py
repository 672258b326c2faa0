"""Chromium without a window, driven by its own driver. Source: W3C WebDriver, sections 8, 10, 13, 15, 17."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from kafka_replica.embedded import ports
from support import plain_http
from support.waiting import wait_until

CONTRASTS = """
const channels = text => text.match(/[0-9.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const behind = element => {
  for (let one = element; one; one = one.parentElement) {
    const found = channels(getComputedStyle(one).backgroundColor);
    if (found.length < 4 || found[3] > 0) return found;
  }
  return [255, 255, 255];
};
const found = [];
for (const element of document.querySelectorAll('body *')) {
  const has_text = [...element.childNodes].some(node => node.nodeType == 3 && node.textContent.trim());
  if (!has_text || !element.getClientRects().length) continue;
  const [one, other] = [light(channels(getComputedStyle(element).color)), light(behind(element))];
  found.push([(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), element.outerHTML.slice(0, 200)]);
}
return found;
"""
"""Returns the contrast of each text with its background. Source: WCAG 2.2, "contrast ratio", "relative luminance"."""


class Browser:
    """A browser window.

    Args:
        driver: the address of a session of the driver.
    """

    def __init__(self, driver: httpx.Client) -> None:
        self._driver = driver

    def open(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self._post("url", url=address)

    def run(self, script: str, *arguments: object) -> Any:
        """Return the result of the body of a function."""
        return self._post("execute/sync", script=script, args=arguments)

    def run_async(self, script: str) -> Any:
        """Return what the body of a function passes to its last argument."""
        return self._post("execute/async", script=script, args=[])

    def messages(self) -> list[str]:
        """Return the messages of the console since the previous call."""
        return [one["message"] for one in self._post("se/log", type="browser")]

    def set_size(self, width: int, height: int) -> None:
        """Set the size of the page that the window shows, in pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)

    def picture(self, width: int, height: int, scale: float) -> bytes:
        """Return a picture of the upper left part of the page, as PNG."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        data: str = self.devtools("Page.captureScreenshot", {"clip": clip, "format": "png"})["data"]
        return base64.b64decode(data)

    def set_theme(self, name: str) -> None:
        """Set the theme that the system prefers: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.devtools("Emulation.setEmulatedMedia", {"features": features})

    def send_headers(self, **headers: str) -> None:
        """Add headers to all further requests, as a proxy would."""
        self.devtools("Network.enable", {})
        self.devtools("Network.setExtraHTTPHeaders", {"headers": headers})

    def devtools(self, command: str, parameters: dict[str, Any]) -> Any:
        """Return the result of a command of the browser's developer tools."""
        return self._post("goog/cdp/execute", cmd=command, params=parameters)

    def press(self, key: str) -> None:
        """Press a key: a WebDriver code point."""
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._post("actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose the file of a field of a form."""
        self._post(f"element/{self._element(selector)}/value", text=str(path))

    def click(self, selector: str) -> None:
        """Click an element."""
        self._post(f"element/{self._element(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        """Type a text into an empty field."""
        self._post(f"element/{self._element(selector)}/value", text=text)

    def follow(self, selector: str) -> None:
        """Click a link, and wait for the page that it leads to."""
        self.submit(selector)

    def submit(self, selector: str) -> None:
        """Click the button of a form, and wait for the page that answers; a click returns before it is there."""
        self.run("window.isBefore = true")
        self.click(selector)
        while self.run("return window.isBefore === true || document.readyState !== 'complete'"):
            pass

    def _element(self, selector: str) -> str:
        (found,) = self._post("element", using="css selector", value=selector).values()
        return str(found)

    def _post(self, path: str, **values: object) -> Any:
        answer = self._driver.post(path, json=values)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]


def chromium() -> tuple[str, str]:
    """Return the programs of the browser and of its driver; skip the test if they are not installed."""
    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("NOT TESTED: chromium and chromedriver are not installed (Debian: chromium chromium-driver)")
    return browser, driver


@contextmanager
def browsing(folder: Path, *, scripts: bool = True) -> Iterator[Browser]:
    """Open a browser window.

    Args:
        folder: where the browser keeps its profile.
        scripts: whether pages may run scripts.
    """
    browser, driver = chromium()
    port = ports.choose_port()
    arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}"]
    options: dict[str, Any] = {"binary": browser, "args": [*arguments, "--window-size=1100,900"]}
    if not scripts:
        options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
    wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
    with subprocess.Popen(
        [driver, f"--port={port}"], stdout=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)}
    ) as process:
        try:
            wait_until(lambda: _is_ready(port))
            with plain_http.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
                made = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
                assert made.status_code == 200, made.text
                session = f"/session/{made.json()['value']['sessionId']}"
                with plain_http.Client(base_url=f"http://127.0.0.1:{port}{session}", timeout=120) as window:
                    yield Browser(window)
                client.delete(session)
        finally:
            process.terminate()


def _is_ready(port: int) -> bool:
    try:
        return bool(plain_http.get(f"http://127.0.0.1:{port}/status").json()["value"]["ready"])
    except httpx.TransportError:
        return False

"""A Chromium without a window, driven over its debugging pipe."""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((path for path in map(shutil.which, NAMES) if path), None)
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions"),
    *("--disable-background-networking", "--no-first-run", "--hide-scrollbars"),
)
PATIENCE = 60.0
REFUSED = re.compile(r"responded with a status of (422|503)")
"""What the browser says of answers that the page expects."""


class Page:
    """One tab. `problems` has what was written to its console, and requests to hosts other than its own."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = os.fdopen(commands, "wb"), os.fdopen(answers, "rb")
        self._number, self._session, self._host = 0, "", ""
        self.problems: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def close(self) -> None:
        for pipe in (self._commands, self._answers):
            pipe.close()

    def open(self, address: str) -> None:
        self._host = address.split("/")[2]
        self._call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """The value of an expression; AssertionError for an error."""
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
        answer = self._call("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> Any:
        """Wait until an expression is true, or an object; its value."""
        end = time.monotonic() + PATIENCE
        while (value := self.run(condition)) in (None, False, 0, ""):
            assert time.monotonic() < end, f"{condition}: {self.run('document.body.innerText')}"
            time.sleep(0.02)
        return value

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text
            )

    def shape(self, width: int, height: int, *, dark: bool = False, scale: float = 1.0) -> None:
        """Set the size of the window, and the colours that its user prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        data = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": self._number, "method": method, "params": parameters, **session}
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._notice(answer.get("method"), answer.get("params", {}))

    def _read(self) -> dict[str, Any]:
        parts = bytearray()
        while (one := self._answers.read(1)) != b"\0":
            assert one, "the browser has ended"
            parts += one
        return json.loads(parts)

    def _notice(self, method: str | None, of: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(of["exceptionDetails"]))
        elif method == "Log.entryAdded" and not REFUSED.search(of["entry"]["text"]):
            self.problems.append(of["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            address = of["request"]["url"]
            if not address.startswith(("data:", "blob:", f"http://{self._host}/")):
                self.problems.append(address)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Page]:
    """A browser with one empty page; `folder` holds its profile."""
    assert BROWSER is not None
    to_read, commands = os.pipe()
    answers, to_write = os.pipe()
    # the browser reads its commands from descriptor 3, and writes answers to 4
    shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$0" "$@"'
    flags = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    process = subprocess.Popen(
        ["bash", "-c", shell, BROWSER, *flags],
        pass_fds=(to_read, to_write),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(to_write)
    try:
        with contextlib.closing(Page(commands, answers)) as page:
            yield page
    finally:
        process.kill()
        process.wait()

# SPDX-License-Identifier: MIT
"""A headless Chromium, through the pipe of its DevTools protocol: messages are JSON, a zero byte behind each."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--hide-scrollbars", "--remote-debugging-pipe")


def find():
    """The program; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Failed(Exception):
    """What the page or the browser answered in the place of a result."""


class Browser:
    """One page. Usable in a with statement, which ends the browser."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="tilejit-browser-", ignore_cleanup_errors=True)
        read_by_it, self.requests = os.pipe()
        self.replies, written_by_it = os.pipe()
        # The protocol is on descriptors 3 and 4, which the shell makes of those that it inherits.
        command = [program, *ARGUMENTS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec 8<&{read_by_it} 9>&{written_by_it}; exec "$@" 3<&8 4>&9 8<&- 9>&-', "bash", *command],
            pass_fds=(read_by_it, written_by_it), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_by_it)
        os.close(written_by_it)
        self.number, self.unread, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.requests)
        os.close(self.replies)
        self.profile.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.unread:
            if not select.select([self.replies], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failed("the browser does not answer")
            data = os.read(self.replies, 1 << 20)
            if not data:
                raise Failed("the browser has ended")
            self.unread += data
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, seconds=60, **parameters):
        """A method of the protocol, and its result; events that come meanwhile are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.requests, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            reply = self.receive(deadline)
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise Failed(f"{method}: {reply['error']['message']}")
                return reply["result"]

    def evaluate(self, expression, seconds=60):
        """The value of an expression of the page, or of its promise."""
        result = self.call("Runtime.evaluate", seconds, expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise Failed(f"the page never has {expression}")
            time.sleep(0.005)

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")

    def type(self, text):
        """Text, as if typed: one key after the other."""
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="char", text=letter)

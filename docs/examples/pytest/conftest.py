"""The mock service for tests with pytest. Copy this file beside your tests.

`edgeproof` is in the PATH, or EDGEPROOF names it. Python 3.9 or newer.
"""

import json
import os
import subprocess
import threading
import urllib.request

import pytest

LIMIT = 30  # seconds
ADDRESSES = [word for option in ("--listen", "--plain", "--admin") for word in (option, "127.0.0.1:0")]


class Mock:
    """A running mock service. No failed assertion prints its tokens."""

    def __init__(self, ready):
        self._ready = ready
        #: Base URL of the service without TLS: verdicts and key set, for your backend.
        self.url = ready["plain"]
        #: Public key to which `edgeproof mint collection --seal-key FILE` seals a collection.
        self.seal_key = ready["seal_key"]

    def edge_env(self):
        """Environment of your edge."""
        return {
            "LICENSE": self._ready["license"],
            "SERVICE_URL": self._ready["service_url"],
            "SERVICE_CA_FILE": self._ready["service_ca_file"],
            "EDGE_CLIENT_CERT_FILE": self._ready["client_cert_file"],
            "EDGE_CLIENT_KEY_FILE": self._ready["client_key_file"],
            "ALLOWED_ORIGIN": self._ready["allowed_origin"],
        }

    def read_token(self):
        """Read token of your backend."""
        return self._ready["read_token"]

    def admin(self, method, path, body=None):
        """A command of the admin API, such as `admin("POST", "/clock", {"advance": "2m"})`."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._ready["admin"] + path, data, method=method)
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return json.load(answer)

    def reset(self):
        """Deletes sessions, scripts and faults."""
        self.admin("POST", "/reset")


def first_line(process):
    """The first line of a program, which is killed if it prints none in time."""
    late = threading.Timer(LIMIT, process.kill)
    late.start()
    try:
        line = process.stdout.readline()
    finally:
        late.cancel()
    assert line, f"{process.args[0]} ended before it was ready"
    return line


def stop(process):
    """Ends a program."""
    process.terminate()
    try:
        process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


@pytest.fixture(scope="session")
def running_mock():
    program = os.environ.get("EDGEPROOF", "edgeproof")
    process = subprocess.Popen([program, "mock", *ADDRESSES, "--json", "--quiet"], stdout=subprocess.PIPE)
    try:
        yield Mock(json.loads(first_line(process)))
    finally:
        stop(process)


@pytest.fixture
def mock(running_mock):
    """The mock service, without what earlier tests left."""
    running_mock.reset()
    return running_mock

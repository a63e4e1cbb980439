"""Runs schemathesis with the exported OpenAPI against the mock service and the reference edge, then against both with planted
faults. Arguments: the program edgeproof, and a folder for the files of the runs."""

import json
import os
import subprocess
import sys
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from schemathesis.checks import CHECKS, load_all_checks

HERE = Path(__file__).resolve().parent
PROGRAM, WORK = sys.argv[1], Path(sys.argv[2]).resolve()
# Tags of the document by part.
TAGS = {"service": ["relay", "verdict", "keys"], "edge": ["edge"]}
# Keys of the lines in checks.toml.
KEYS = {
    "off": {"check", "operations", "reason", "cases"},
    "unseen": {"operation", "status", "reason", "cases"},
    "planted": {"part", "fault", "operation", "check"},
}
SESSION_REF = "cross-check"
ORIGIN, OTHER_ORIGIN = "https://shop.example", "https://other.example"
CONFIGURATION = f"""
hooks = "{HERE / "hooks.py"}"
continue-on-failure = true
headers = {{ Origin = "{ORIGIN}" }}
[generation]
max-examples = 30
database = "none"
deterministic = true
"""
# Events after which a run has not done all that it should.
ERRORS = {"NonFatalError", "FatalError", "Interrupted"}


class Parts:
    """A mock service and a reference edge behind it, until the end of a `with`."""

    def __init__(self, name, options, origin):
        self.name, self.options, self.origin, self.children = name, options, origin, []

    def __enter__(self):
        # Generated values of waitMs would wait for up to 30 seconds.
        profile = WORK / "profile.toml"
        profile.write_text("verdict.wait-max-ms = 50\n")
        mock = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--profile", profile, "--quiet", "--json"]
        self.ready = json.loads(self.start("mock", mock, os.environ))
        lines = Path(self.ready["env_file"]).read_text().splitlines()
        settings = {**dict(line.split("=", 1) for line in lines), "ALLOWED_ORIGIN": self.origin}
        edge = self.start("edge", ["--listen", "127.0.0.1:0"], {**os.environ, **settings})
        self.urls = {"service": self.ready["service"], "edge": edge.removeprefix("edge listening on ")}
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.terminate()
            child.wait()

    def start(self, command, arguments, environment):
        """The first line that the program prints."""
        log = WORK / f"{self.name}-{command}.log"
        with log.open("w") as errors:
            child = subprocess.Popen([PROGRAM, command, *arguments, *self.options], env=environment,
                                     stdout=subprocess.PIPE, stderr=errors, text=True)
        self.children.append(child)
        line = child.stdout.readline().strip()
        if not line:
            self.__exit__()
            sys.exit(f"  FAIL: edgeproof {command} does not start:\n{log.read_text()}")
        return line

    def admin(self, path, command):
        request = urllib.request.Request(self.ready["admin"] + path, json.dumps(command).encode())
        urllib.request.urlopen(request).read()

    def requests(self, rows):
        """Requests that cause the rows, by operation. Scripts answer those that the service would not refuse."""
        self.admin("/sessions", {"ref": SESSION_REF, "ready": "always"})
        references, bodies = [SESSION_REF], []
        for row in rows:
            if row["table"] == "relay":
                self.admin("/scripts", {"match": {"marker": f"<{row['id']}>"}, "row": row["id"]})
                bodies.append({"cross-check": f"<{row['id']}>"})
            # Only codes: the answers of the other rows depend on the request.
            elif row["table"] == "verdict" and row["code"]:
                self.admin("/scripts", {"match": {"verdict": row["id"]}, "row": row["id"]})
                references.append(row["id"])
        # Each operation has a collection of its own: the service refuses a copy.
        requests = {
            id: [{"body": body, "media_type": "application/json"} for body in [self.collection(), *bodies]]
            for id in ("postSignals", "relayCollection")
        }
        return {**requests, "getVerdict": [{"path_parameters": {"sessionRef": reference}} for reference in references]}

    def collection(self):
        """A sealed collection that the service has not seen."""
        mint = [PROGRAM, "mint", "collection", "--mock", "-", "--session-ref", SESSION_REF]
        return json.loads(subprocess.run(mint, input=json.dumps(self.ready).encode(), stdout=subprocess.PIPE, check=True).stdout)


class Run:
    """A run of schemathesis against one part: its requests, and the checks that failed."""

    def __init__(self, parts, part, requests, options):
        self.name = f"{parts.name}-{part}"
        self.count, self.statuses, self.ran, self.failed, self.is_complete = 0, set(), set(), set(), True
        config, events, given = (WORK / f"{self.name}{end}" for end in (".toml", ".ndjson", "-requests.json"))
        config.write_text(CONFIGURATION)
        given.write_text(json.dumps(requests))
        ready = parts.ready
        command = [Path(sys.executable).with_name("schemathesis"), "--config-file", config, "--no-color"]
        command += ["run", WORK / "openapi.json", "--url", parts.urls[part]]
        command += [argument for tag in TAGS[part] for argument in ("--include-tag", tag)]
        command += ["--tls-verify", ready["service_ca_file"], "--request-cert", ready["client_cert_file"]]
        command += ["--request-cert-key", ready["client_key_file"]]
        command += ["--report", "ndjson", "--report-ndjson-path", events, *options]
        # Secrets are in the environment only.
        environment = {**os.environ, "LICENSE": ready["license"], "READ_TOKEN": ready["read_token"], "REQUESTS": str(given)}
        done = subprocess.run(command, env=environment, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        (WORK / f"{self.name}.txt").write_text(done.stdout)
        self.output = done.stdout
        for line in events.read_text().splitlines() if events.exists() else []:
            event = json.loads(line)
            self.is_complete &= ERRORS.isdisjoint(event)
            if recorder := event.get("ScenarioFinished", {}).get("recorder"):
                self.add(recorder)
        self.is_complete &= done.returncode == int(bool(self.failed))

    def add(self, recorder):
        """Adds the requests to one operation, which schemathesis names by method and path."""
        operation = recorder["label"]
        for exchange in recorder.get("interactions", {}).values():
            self.count += 1
            self.statuses.add((operation, str((exchange.get("response") or {}).get("status_code"))))
        for check in (check for checks in recorder.get("checks", {}).values() for check in checks):
            self.ran.add(check["name"])
            if check["status"] != "success":
                self.failed.add((operation, check["name"]))


def mistakes(lists, operations, rows):
    """The lines of checks.toml that name what does not exist."""
    known = {
        "operation": set(operations),
        "check": set(CHECKS.get_all_names()),
        "case": {case for row in rows for case in row["cases"]},
        "part": set(TAGS),
    }
    if set(lists) != set(KEYS):
        yield f"the tables are not {sorted(KEYS)}"
        return
    for table, line in ((table, line) for table, lines in lists.items() for line in lines):
        if set(line) != KEYS[table] or not all(line.values()):
            yield f"[[{table}]] {line}: it has the keys {sorted(KEYS[table])}, each with a value"
            continue
        named = [("case", case) for case in line.get("cases", [])]
        named += [("operation", operation) for operation in line.get("operations", [])]
        named += [(kind, line[kind]) for kind in ("check", "operation", "part") if kind in line]
        yield from (f"[[{table}]] there is no {kind} {name}" for kind, name in named if name not in known[kind])


def problems(lists, labels, operations, right, planted):
    """Why the runs prove nothing, or what they find."""
    off = {(labels[operation], line["check"]) for line in lists["off"] for operation in line["operations"]}
    for run in right.values():
        if run.failed - off or not run.is_complete:
            yield f"schemathesis finds {sorted(run.failed - off)} with {run.name}:\n{run.output}"
    stale = off.difference(*(run.failed for run in right.values()))
    if stale:
        yield f"these checks are [[off]] and would not fail: {sorted(stale)}"
    missing = set(CHECKS.get_all_names()).difference(*(run.ran for run in right.values()))
    if missing:
        yield f"these checks did not run: {sorted(missing)}"
    unseen = {(line["operation"], line["status"]) for line in lists["unseen"]}
    answered = set().union(*(run.statuses for run in right.values()))
    for id, operation in operations.items():
        for status in sorted(filter(str.isdigit, operation["responses"])):
            is_seen = (labels[id], status) in answered
            if is_seen and (id, status) in unseen:
                yield f"{id}: {status} was answered: remove its [[unseen]]"
            if not is_seen and (id, status) not in unseen:
                yield f"{id}: {status} was never answered"
    for line in lists["planted"]:
        run = planted[line["part"]]
        if (labels[line["operation"]], line["check"]) not in run.failed:
            yield (f"{line['check']} does not find a planted fault at {line['operation']}: {line['fault']}; "
                   f"{run.name} finds {sorted(run.failed)}")


def main():
    export, listed = ([PROGRAM, "spec", *arguments] for arguments in (["export", "openapi"], ["list", "--json"]))
    document, rows = (json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout) for command in (export, listed))
    (WORK / "openapi.json").write_text(json.dumps(document))
    operations, labels = {}, {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            operations[operation["operationId"]] = operation
            labels[operation["operationId"]] = f"{method.upper()} {path}"
    lists = tomllib.loads((HERE / "checks.toml").read_text())
    load_all_checks()
    found = list(mistakes(lists, operations, rows))
    if not found:
        overlay = ["--spec", HERE / "planted.toml"]
        with Parts("right", [], ORIGIN) as right, Parts("planted", overlay, OTHER_ORIGIN) as planted:
            # The phases without chance find each planted fault.
            options = [(right, []), (planted, ["--phases", "examples,coverage"])]
            both = [(parts, part, parts.requests(rows), more) for parts, more in options for part in TAGS]
            # In place of the usual answer, without any header.
            planted.admin("/scripts", {"match": "keys", "answer": {"status": 200, "headers": {}, "text": '{"keys":[]}'}})
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                runs = list(threads.map(lambda one: Run(*one), both))
        right, planted = dict(zip(TAGS, runs[:2])), dict(zip(TAGS, runs[2:]))
        found = list(problems(lists, labels, operations, right, planted))
        requests = sum(run.count for run in right.values())
        print(f"schemathesis: {requests} requests to {len(operations)} operations, {len(CHECKS.get_all_names())} checks, "
              f"off in {sum(len(line['operations']) for line in lists['off'])} places, {len(lists['planted'])} planted faults")
    for problem in found:
        print(f"  FAIL: {problem}")
    return int(bool(found))


sys.exit(main())

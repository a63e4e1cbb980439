"""Tests of an edge and of a backend with the mock service: `pytest`."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest
from conftest import LIMIT, first_line, stop


@pytest.fixture(scope="session")
def edge(running_mock):
    """URL of the edge under test."""
    env = {**os.environ, **running_mock.edge_env(), "PORT": "0"}
    process = subprocess.Popen([sys.executable, Path(__file__).with_name("edge.py")], env=env, stdout=subprocess.PIPE)
    try:
        yield first_line(process).decode().split()[-1]
    finally:
        stop(process)


def call(url, body=None, **headers):
    """Status and JSON of an answer."""
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def test_collection_arrives_unchanged(mock, edge):
    body = '{"sealed": "…", "n": 9007199254740993}'
    mock.admin("POST", "/scripts", {"match": "relay", "answer": {"status": 200, "body": {"ok": True}}})
    assert call(edge + "/v1/signals", body.encode()) == (200, {"ok": True})
    assert [entry["body"] for entry in mock.admin("GET", "/journal")["entries"]] == [body]


def test_page_sees_why_the_service_refuses(mock, edge):
    mock.admin("POST", "/scripts", {"match": "relay", "row": "relay.409.replayed-bundle", "count": 1})
    refusal = {"error": "service_rejected", "reason": "replayed_bundle", "status": 409}
    assert call(edge + "/v1/signals", b"{}") == (409, refusal)


def test_backend_gets_the_verdict_of_its_session_only(mock):
    def verdict(reference):
        url = f"{mock.url}/v1/verdict/{quote(reference)}?waitMs=0"
        return call(url, Authorization="Bearer " + mock.read_token())

    mock.admin("POST", "/sessions", {"ref": "order 4711", "decision": "deny"})
    status, found = verdict("order 4711")
    assert (status, found["decision"]) == (200, "deny")
    assert verdict("order 4712")[0] == 404

"""Adds requests that cause each row to the examples of schemathesis, and authenticates requests to the service."""

import json
import os

import schemathesis

with open(os.environ["REQUESTS"]) as file:
    requests = json.load(file)


def bearer(variable):
    """A header from the environment."""
    return {"Authorization": f"Bearer {os.environ[variable]}"}


@schemathesis.auth().apply_to(operation_id="relayCollection")
class License:
    def get(self, case, context):
        return bearer("LICENSE")

    def set(self, case, header, context):
        case.headers = {**(case.headers or {}), **header}


@schemathesis.auth().apply_to(operation_id="getVerdict")
class ReadToken(License):
    def get(self, case, context):
        return bearer("READ_TOKEN")


HEADERS = {"relayCollection": bearer("LICENSE"), "getVerdict": bearer("READ_TOKEN")}


@schemathesis.hook
def before_add_examples(context, examples):
    operation = context.operation
    id = operation.definition.raw["operationId"]
    for parts in requests.get(id, []):
        case = operation.Case(headers=HEADERS.get(id), **parts)
        # Schemathesis authenticates only what it generates, and would take these headers for invented ones.
        case._has_explicit_auth = id in HEADERS
        examples.append(case)

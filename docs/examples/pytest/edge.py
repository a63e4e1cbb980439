"""A small edge with the standard library, for `test_edge.py`. fixtures/edges has edges for production."""

import http.client
import json
import os
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SERVICE = urlsplit(os.environ["SERVICE_URL"])
TRUST = ssl.create_default_context(cafile=os.environ["SERVICE_CA_FILE"])
TRUST.load_cert_chain(os.environ["EDGE_CLIENT_CERT_FILE"], os.environ["EDGE_CLIENT_KEY_FILE"])


class Edge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/signals":
            return self.answer(404, {"error": "not_found"})
        try:
            status, reason = relay(body)
        except OSError:
            return self.answer(502, {"error": "service_unreachable"})
        if 200 <= status < 300:
            return self.answer(200, {"ok": True})
        self.answer(status, {"error": "service_rejected", "reason": reason, "status": status})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Access-Control-Allow-Origin", os.environ["ALLOWED_ORIGIN"])
        self.end_headers()
        self.wfile.write(text)


def relay(body):
    """Posts the bytes as they came. The status of the service and the reason of its refusal."""
    service = http.client.HTTPSConnection(SERVICE.hostname, SERVICE.port, timeout=10, context=TRUST)
    try:
        service.request("POST", "/v1/relay", body, {"Authorization": "Bearer " + os.environ["LICENSE"]})
        reply = service.getresponse()
        text = reply.read()
    finally:
        service.close()
    try:
        return reply.status, str(json.loads(text)["reason"])
    except (ValueError, KeyError, TypeError):
        return reply.status, "unknown"


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Edge)
    print(f"edge listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

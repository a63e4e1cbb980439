"""A small edge of Python's standard library, for the tests of the packages. It relays, and gives no CORS headers, which is wrong."""

import os
import ssl
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SERVICE = urlsplit(os.environ["SERVICE_URL"])
TLS = ssl.create_default_context(cafile=os.environ.get("SERVICE_CA_FILE"))
if "EDGE_CLIENT_CERT_FILE" in os.environ and "EDGE_CLIENT_KEY_FILE" in os.environ:
    TLS.load_cert_chain(os.environ["EDGE_CLIENT_CERT_FILE"], os.environ["EDGE_CLIENT_KEY_FILE"])


class Edge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for an answer

    def do_GET(self):
        self.answer(200, b'{"ok":true}')

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        service = HTTPSConnection(SERVICE.netloc, context=TLS, timeout=10)
        service.request("POST", "/v1/relay", body, {"Authorization": f"Bearer {os.environ.get('LICENSE', '')}"})
        reply = service.getresponse()
        self.answer(reply.status, reply.read())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Edge).serve_forever()

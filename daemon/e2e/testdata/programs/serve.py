"""serve.py PORT: answers HTTP on the loopback, on rank 0; the others wait."""

import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"rank {os.environ['MLX_RANK']} heard {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if os.environ["MLX_RANK"] != "0":
    time.sleep(1000)
server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
print("serving", flush=True)
server.serve_forever()

"""llama_server.py, as llama-server: its flags, /health, which is 503 at first, and metrics."""

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

flags = argparse.ArgumentParser()
flags.add_argument("-m", "--model", required=True)
flags.add_argument("--host", default="127.0.0.1")
flags.add_argument("--port", type=int, default=8080)
flags.add_argument("--metrics", action="store_true")
given = flags.parse_args()
open(given.model.removesuffix("/"), "rb").close() if given.metrics else None
loaded = time.monotonic() + 1
made = 0


class Answer(BaseHTTPRequestHandler):
    def answer(self, status, body):
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global made
        if self.path == "/health" and time.monotonic() < loaded:
            self.answer(503, '{"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}')
        elif self.path == "/metrics" and given.metrics:
            made += 20
            self.answer(200, f"# HELP llamacpp:tokens_predicted_total Number of generation tokens processed.\n# TYPE llamacpp:tokens_predicted_total counter\nllamacpp:tokens_predicted_total {made}\n")
        elif self.path in ("/health", "/v1/models"):
            self.answer(200, '{"status": "ok"}')
        else:
            self.answer(501, "{}")

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, json.dumps({"choices": [{"text": "a", "message": {"role": "assistant", "content": "a"}}]}))


ThreadingHTTPServer((given.host, given.port), Answer).serve_forever()

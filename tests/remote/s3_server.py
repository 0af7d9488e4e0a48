#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small S3 server in memory, with faults on request. It checks every signature and checksum.

Usage: s3_server.py PORT ACCESS_KEY SECRET_KEY BUCKET    (without faults, until it is killed)

It is the second implementation of the signature, written from the documentation of Amazon S3, and
knows the requests that Calpe sends: list (in short pages), range GET, PUT and DELETE.
"""
import base64
import collections
import datetime
import hashlib
import hmac
import http.server
import random
import socketserver
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

PAGE = 50  # objects in one answer to a list
SKEW_SECONDS_MAX = 900
READ_SECONDS_MAX = 30


class Faults:
    """What goes wrong, with which probability."""

    def __init__(self, seed=0, **rates):
        self.chance = random.Random(seed)
        self.rates = collections.Counter(rates)
        self.vanishes_after = None  # requests
        self.clock_ahead = 0
        self.delay = 0.0

    def hit(self, name):
        return self.rates[name] > 0 and self.chance.random() < self.rates[name]


def sign(key, words):
    return hmac.new(key, words.encode(), hashlib.sha256).digest()


def quote(words, safe="-._~"):
    return urllib.parse.quote(words, safe=safe)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = READ_SECONDS_MAX

    def log_message(self, *_):
        pass

    @property
    def state(self):
        return self.server.state

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + self.state.faults.clock_ahead)

    def answer(self, status, body=b"", cut=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def refuse(self, status, code, message=""):
        self.state.refused[code] += 1
        self.answer(status, f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}"
                            "</Message></Error>".encode())

    def check_signature(self, body):
        """Returns a refusal, or None."""
        words = self.headers.get("Authorization", "")
        if not words.startswith("AWS4-HMAC-SHA256 "):
            return 403, "AccessDenied"
        fields = dict(part.strip().split("=", 1) for part in words.split(" ", 1)[1].split(","))
        access, day, region, service, _ = fields["Credential"].split("/")
        if access != self.state.access_key:
            return 403, "InvalidAccessKeyId"
        moment = self.headers["x-amz-date"]
        now = time.time() + self.state.faults.clock_ahead
        sent = datetime.datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(
            tzinfo=datetime.timezone.utc).timestamp()
        if abs(now - sent) > SKEW_SECONDS_MAX:
            return 403, "RequestTimeTooSkewed"
        path, _, query = self.path.partition("?")
        pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
        names = fields["SignedHeaders"].split(";")
        canonical = "\n".join([
            self.command, quote(urllib.parse.unquote(path), safe="/-._~"),
            "&".join(f"{quote(key)}={quote(value)}" for key, value in pairs),
            *(f"{name}:{self.headers[name].strip()}" for name in names), "",
            ";".join(names), self.headers["x-amz-content-sha256"]])
        scope = f"{day}/{region}/{service}/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", moment, scope,
                             hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + self.state.secret_key).encode()
        for part in (day, region, service, "aws4_request"):
            key = sign(key, part)
        if not hmac.compare_digest(sign(key, to_sign).hex(), fields["Signature"]):
            return 403, "SignatureDoesNotMatch"
        if hashlib.sha256(body).hexdigest() != self.headers["x-amz-content-sha256"]:
            return 400, "XAmzContentSHA256Mismatch"
        md5 = self.headers.get("Content-MD5")
        if md5 and md5 != base64.b64encode(hashlib.md5(body).digest()).decode():
            return 400, "BadDigest"
        return None

    def is_fault(self, body):
        """Answers wrongly, or not at all, if a fault is due."""
        faults = self.state.faults
        if faults.delay:
            time.sleep(faults.delay)
        with self.state.lock:
            self.state.requests += 1
            is_gone = (faults.vanishes_after is not None
                       and self.state.requests > faults.vanishes_after)
            due = next((name for name in ("cut_request", "error", "slow_down", "lost_answer")
                        if faults.hit(name)), None)
        if is_gone or due == "cut_request":
            self.close_connection = True
            return True
        if due == "error":
            self.refuse(500, "InternalError")
            return True
        if due == "slow_down":
            self.refuse(503, "SlowDown")
            return True
        if due == "lost_answer" and self.command == "PUT":
            if self.check_signature(body) is None:
                self.state.put(self.path, body)  # done, but the client never learns
            self.close_connection = True
            return True
        return False

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.is_fault(body):
            return
        refusal = self.check_signature(body)
        if refusal:
            self.refuse(*refusal)
            return
        path, _, query = self.path.partition("?")
        path = urllib.parse.unquote(path)
        bucket, _, key = path[1:].partition("/")
        if bucket != self.state.bucket:
            self.refuse(404, "NoSuchBucket")
        elif self.command == "GET" and not key:
            self.list(dict(urllib.parse.parse_qsl(query, keep_blank_values=True)))
        else:
            {"GET": self.get, "PUT": self.put, "DELETE": self.delete}[self.command](path, body)

    do_GET = do_PUT = do_DELETE = handle_one  # pylint: disable=invalid-name

    def list(self, query):
        prefix, last = query.get("prefix", ""), query.get("continuation-token", "")
        with self.state.lock:
            keys = sorted(path.split("/", 2)[2] for path in self.state.objects)
            sizes = {path.split("/", 2)[2]: len(body)
                     for path, body in self.state.objects.items()}
        found = [key for key in keys if key.startswith(prefix) and key > last
                 and "/" not in key[len(prefix):]]
        page = found[:PAGE]
        body = "".join(f"<Contents><Key>{escape(key)}</Key><Size>{sizes[key]}</Size></Contents>"
                       for key in page)
        more = len(found) > len(page)
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        self.answer(200, ("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>"
                          f"{str(more).lower()}</IsTruncated>{token}{body}"
                          "</ListBucketResult>").encode())

    def get(self, path, _):
        faults = self.state.faults
        with self.state.lock:
            body = self.state.objects.get(path)
            if faults.hit("old_bytes") and self.state.before.get(path) is not None:
                body = self.state.before[path]
            elif faults.hit("other_object"):
                body = faults.chance.choice(list(self.state.objects.values()))
            is_wrong, is_cut = faults.hit("wrong_bytes"), faults.hit("cut_answer")
        if body is None:
            self.refuse(404, "NoSuchKey")
            return
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        part = bytearray(body[first:last + 1])
        if not part:
            self.refuse(416, "InvalidRange")
            return
        if is_wrong:
            part[faults.chance.randrange(len(part))] ^= 1 << faults.chance.randrange(8)
        self.state.bytes_sent += len(part)
        where = f"bytes {first}-{first + len(part) - 1}/{len(body)}"
        self.answer(206, bytes(part), cut=len(part) // 2 if is_cut else None, Content_Range=where)

    def put(self, path, body):
        self.state.put(path, body)
        self.answer(200, ETag='"' + hashlib.md5(body).hexdigest() + '"')

    def delete(self, path, _):
        with self.state.lock:
            self.state.objects.pop(path, None)
        self.answer(204)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # clients that were killed


class S3:
    """A running server. Objects by "/bucket/key"."""

    def __init__(self, port=0, access_key="key", secret_key="secret", bucket="bucket"):
        self.access_key, self.secret_key, self.bucket = access_key, secret_key, bucket
        self.objects, self.before = {}, {}
        self.lock = threading.Lock()
        self.faults = Faults()
        self.refused = collections.Counter()
        self.requests = self.bytes_sent = self.bytes_received = 0
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.state = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, path, body):
        with self.lock:
            path = urllib.parse.unquote(path)
            self.before[path] = self.objects.get(path)
            self.objects[path] = body
            self.bytes_received += len(body)

    def set_faults(self, faults=None):
        with self.lock:
            self.faults = faults or Faults()
            self.requests = 0

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def main():
    port, access_key, secret_key, bucket = sys.argv[1:5]
    S3(int(port), access_key, secret_key, bucket)
    threading.Event().wait()


if __name__ == "__main__":
    main()

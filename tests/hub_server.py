"""A small Hub on this machine: what its client says to it, and faults on demand."""
import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hub(ThreadingHTTPServer):
    """Repositories in memory; `faults` maps a part of a path to what goes wrong there.

    That is a status, a status with headers, 'hang', or for files 'cut' and 'stall'.
    """
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos, self.lfs, self.faults, self.calls = {}, {}, {}, []
        self.files, self.token = {}, "hf_secret_token_of_the_test"
        self.stopped = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self): return f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.stopped.set()
        self.shutdown()
        self.server_close()

    def fault(self, path):
        "The fault that this path has, if any."
        return next((f for part, f in self.faults.items() if part in path), None)


class Handler(BaseHTTPRequestHandler):
    "Routes of the Hub's protocol."
    protocol_version = "HTTP/1.1"

    def log_message(self, *args): pass

    def answer(self, body=b"", status=200, **headers):
        "Send a response, JSON unless it is bytes."
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(body)

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length)
        path = self.path.split("?")[0]
        self.server.calls.append((self.command, path))
        fault = self.server.fault(path)
        if fault == "hang": self.server.stopped.wait(20)
        elif isinstance(fault, int): self.answer({"error": f"fault {fault}"}, fault)
        elif isinstance(fault, tuple): self.answer({"error": "fault"}, fault[0], **fault[1])
        elif route := self.route(path): route(path)
        else: self.answer({"error": "no such thing"}, 404)

    do_GET = do_HEAD = do_POST = do_PUT = handle_any

    def route(self, path) -> Callable | None:
        "The method that answers a path."
        routes = {"/api/repos/create": self.create, "/api/validate-yaml": self.yaml,
                  "/api/whoami-v2": self.whoami, "/preupload/": self.preupload,
                  "/objects/batch": self.batch, "/commit/": self.commit, "/lfs/": self.put,
                  "/resolve/": self.resolve, "/raw/": self.raw}
        if path == "/": return lambda _: self.answer()
        return next((route for part, route in routes.items() if part in path), None)

    def may(self) -> bool:
        "Whether the request carries the token; answers 401 when not."
        if self.headers.get("Authorization") == f"Bearer {self.server.token}": return True
        self.answer({"error": "Invalid credentials in Authorization header"}, 401)
        return False

    def create(self, _):
        if not self.may(): return
        wanted = json.loads(self.body)
        name = "/".join(filter(None, (wanted.get("organization"), wanted["name"])))
        url = f"{self.server.url}/{'datasets/' * (wanted.get('type') == 'dataset')}{name}"
        status = 409 if name in self.server.repos else 200
        self.server.repos.setdefault(name, {})
        self.answer({"url": url, "name": name, "id": "1"}, status)

    def yaml(self, _): self.answer({"errors": [], "warnings": []})

    def whoami(self, _):
        if self.may(): self.answer({"name": "ada", "type": "user", "orgs": []})

    def preupload(self, _):
        files = json.loads(self.body)["files"]
        mode = lambda f: "lfs" if f["path"].endswith(".parquet") else "regular"
        self.answer({"files": [{"path": f["path"], "uploadMode": mode(f), "shouldIgnore": False}
                               for f in files]})

    def batch(self, _):
        objects = json.loads(self.body)["objects"]
        upload = lambda o: {"upload": {"href": f"{self.server.url}/lfs/{o['oid']}"}}
        self.answer({"transfer": "basic", "objects": [o | {"actions": upload(o)} for o in objects]})

    def put(self, path):
        oid = path.rsplit("/", 1)[1]
        assert hashlib.sha256(self.body).hexdigest() == oid
        self.server.lfs[oid] = self.body
        self.answer()

    def commit(self, path):
        if not self.may(): return
        repo = "/".join(path.split("/")[3:5])
        for line in map(json.loads, self.body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                self.server.repos[repo][value["path"]] = base64.b64decode(value["content"])
            if line["key"] == "lfsFile":
                self.server.repos[repo][value["path"]] = self.server.lfs[value["oid"]]
        self.answer({"commitUrl": f"{self.server.url}/{repo}/commit/{'a' * 40}",
                     "commitOid": "a" * 40, "pullRequestUrl": None})

    def resolve(self, path):
        self.send_file(path, ETag=f'"{hashlib.sha256(self.content(path)).hexdigest()}"',
                       X_Repo_Commit="c" * 40)

    def raw(self, path): self.send_file(path)

    def content(self, path): return self.server.files.get(path, b"")

    def send_file(self, path, **headers):
        "A file; with the fault 'cut' the connection ends half-way, with 'stall' it stays open."
        if path not in self.server.files: return self.answer({"error": "gone"}, 404)
        body = self.content(path)
        if not self.server.faults.keys() & {"cut", "stall"} or self.command == "HEAD":
            return self.answer(body, **headers)
        self.send_response(200)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        if "stall" in self.server.faults: self.server.stopped.wait(20)
        self.close_connection = True
        time.sleep(0.05)

"""The servers that are loaded, each on the server's core: nginx from memory, and the known server."""

import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass

import host

NGINX = """
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 16384; }}
http {{
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; keepalive_requests 1000000000; keepalive_timeout 1h;
  server {{
    listen 127.0.0.1:{port} backlog=16384;
    location = /20b {{ return 200 "exactly twenty bytes"; }}
    location = /16k {{ root {folder}; }}
    location = /status {{ stub_status; }}
  }}
}}
"""


@dataclass
class Answer:
    """Lengths in bytes of an answer."""

    body: int
    whole: int  # head and body


class Server:
    """A running server; a context manager that ends it."""

    def url(self, path):
        return f"http://{self.address}{path}"

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def get(self, path):
        """A body, and the lengths of the whole answer, asked for as the clients do."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.address}\r\n\r\n".encode())
            stream = connection.makefile("rb")
            head = b"".join(iter(stream.readline, b"\r\n")) + b"\r\n"
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
            length = int(fields[b"content-length"])
            return stream.read(length).decode(), Answer(length, len(head) + length)

    def answer(self, path):
        return self.get(path)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()


class Nginx(Server):
    """Answers `/20b` and `/16k` from memory."""

    version = staticmethod(lambda: host.first_line(host.find("nginx"), "-v").removeprefix("nginx version: "))

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        folder.chmod(0o755)
        (folder / "16k").write_bytes(b"x" * 16_384)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(folder=folder, port=self.port))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = host.start([host.find("nginx"), "-p", folder, "-c", config], host.SERVER_CORE, **quiet)
        for _ in range(100):
            try:
                self.get("/20b")
                return
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise host.Failed("nginx did not start: " + (folder / "error.log").read_text())

    def accepted(self):
        """Connections accepted since the start, this question's own among them, and those it had no room for."""
        accepts, handled, _ = map(int, self.get("/status")[0].split("\n")[2].split())
        return accepts, accepts - handled

    def __exit__(self, *_):
        super().__exit__()
        self._folder.cleanup()


class Known(Server):
    """Answers `/` with 20 bytes after `delay`. `stall` = (first, every, length), in seconds: when it does nothing at all.

    It keeps its own record of how long requests took, from when their last byte came to this machine.
    """

    def __init__(self, delay="0ms", stall=None):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as script:
            if stall:
                first, every, length = stall
                script.write(f'[[stall]]\nat = "{first}s"\nevery = "{every}s"\nfor = "{length}s"\n')
            script.write(f'[[route]]\ndelay = "{delay}"\nbody = {{ size = 20 }}\n')
            script.flush()
            command = [host.find("knownserver"), "--script", script.name]
            self._process = host.start(command, host.SERVER_CORE, stdout=subprocess.PIPE, text=True)
            said = self._process.stdout.readline()
        if not said.startswith("listening on "):
            raise host.Failed(f"knownserver did not start: {said}")
        self.port = int(said.rsplit(":", 1)[1])

    def times(self):
        """The server's own record: [µs, requests], ascending."""
        return json.loads(self.get("/known/record")[0])["times"]

    def __exit__(self, *_):
        super().__exit__()
        self._process.stdout.close()


def quantile(times, q):
    """Time in µs at or below which the fraction `q` of recorded `times` lie."""
    wanted, seen = q * sum(count for _, count in times), 0
    for us, count in times:
        seen += count
        if seen >= wanted:
            return us
    return 0

"""The clients: ours in its configurations, and everybody else's. One class a tool: its command line, and what it says."""

import functools
import json
import os
import pathlib
import re
import tempfile
from dataclasses import dataclass, field

import host


@dataclass
class Load:
    """What is asked of a client. Without a rate it is a closed loop."""

    url: str
    answer: object  # servers.Answer
    connections: int
    seconds: int
    rate: int | None = None
    requests: int | None = None  # instead of seconds


@dataclass
class Result:
    good: int
    bad: int = 0
    bytes: int | None = None  # received in all, as far as the tool tells
    whole: bool = False  # whether heads are among them
    bytes_within: float = 0.01  # how exactly the tool prints them
    times: dict = field(default_factory=dict)  # {"p50": µs, …}
    send_delay: dict = field(default_factory=dict)
    note: str = ""
    cpu_s: float = 0.0
    seconds: float = 0.0

    @property
    def per_cpu_s(self):
        return self.good / self.cpu_s


class Peer:
    """A client. `command` gives its command line, or `None` for a load that it cannot make."""

    name = program = ""
    hint = ""  # where to get it

    def path(self):
        return host.find(self.program)

    def missing(self):
        """Why it cannot be run, or `None`."""
        return None if self.path() else f"not installed{self.hint and ': ' + self.hint}"

    def version(self):
        return host.first_line(self.path(), "--version")

    def command(self, load):
        raise NotImplementedError

    def parse(self, output, load):
        raise NotImplementedError

    def run(self, load, watch=None):
        """Makes the load and holds what the tool says against what has to be true. Raises `host.Failed`."""
        command = self.command(load)
        if command is None:
            raise host.Failed("cannot do this")
        ran = host.run([self.path(), *command], load.seconds + 60, watch, self.environment(load))
        try:
            result = self.parse(ran.output, load)
        except (ValueError, LookupError, AttributeError, TypeError, OSError) as error:
            raise host.Failed(f"what it says is not understood ({error!r}): {ran.output.strip()[-200:]}") from error
        result.cpu_s, result.seconds = ran.cpu_s, ran.seconds
        check(result, load)
        return result

    def environment(self, load):
        return {}


def check(result, load):
    """No failures, and as many bytes as the answers have."""
    if result.bad:
        raise host.Failed(f"{result.bad:,} requests failed")
    if not result.good:
        raise host.Failed("no request was answered")
    if result.bytes is None:
        return
    expected = result.good * (load.answer.whole if result.whole else load.answer.body)
    # Parts of what was in flight at the end may be counted.
    room = result.bytes_within * expected + load.connections * load.answer.whole
    if abs(result.bytes - expected) > room:
        raise host.Failed(f"{result.bytes:,} bytes for {result.good:,} answers, expected {expected:,}")


def number(pattern, output, default=None):
    found = re.search(pattern, output)
    if found:
        return float(found[1])
    if default is None:
        raise host.Failed(f"no {pattern!r} in: {output[-300:]}")
    return default


@functools.cache
def help_of(bakeoff):
    return host.run([bakeoff, "load", "--help"]).output


class Ours(Peer):
    """bakeoff itself: the whole process, with all that a user pays for."""

    program = "bakeoff"

    def __init__(self, name, *flags):
        self.name, self.flags = name, flags

    def missing(self):
        if not self.path():
            return "not built"
        unknown = [flag for flag in self.flags if flag.startswith("--") and flag not in help_of(self.path())]
        return f"has no {unknown[0]} yet" if unknown else None

    def command(self, load):
        length = ["-n", load.requests] if load.requests else ["-d", f"{load.seconds}s"]
        rate = ["-R", load.rate] if load.rate else []
        return ["load", load.url, "-c", load.connections, *length, *rate, *self.flags, "--json", "--quiet"]

    def parse(self, output, load):
        reported = json.loads(output)
        times, send_delay = reported["service_us"], {}
        if load.rate:
            times, send_delay = reported["open"]["response_us"], reported["open"]["send_delay_us"]
        backend = "" if reported["backend"] in self.name else f"by {reported['backend']}"
        result = Result(int(reported["good"]), int(reported["failed"]), int(reported["bytes"]), True, 0.0, times, send_delay, backend)
        if reported["statuses"] != {"200": result.good}:
            raise host.Failed(f"statuses {reported['statuses']}")
        return result


# Our configurations: the first is what a user gets and what the bars are held against.
OURS = [
    Ours("bakeoff"),
    Ours("bakeoff, epoll", "--backend", "epoll"),
    Ours("bakeoff, io_uring", "--backend", "io_uring"),
    Ours("bakeoff, epoll, no kernel time", "--backend", "epoll", "--no-kernel-time"),
    Ours("bakeoff, io_uring, no kernel time", "--backend", "io_uring", "--no-kernel-time"),
]
ENGINES = OURS[:3]


class Floor(Peer):
    """The least that any client can do: bench/floor."""

    program = "floor"

    def __init__(self, backend):
        self.name, self.backend = f"floor, {backend}", backend

    def version(self):
        return ""

    def command(self, load):
        address, path = load.url.removeprefix("http://").split("/", 1)
        options = ["--backend", self.backend, "-c", load.connections, "-d", load.seconds, "--answer", load.answer.whole]
        return [*options, address, f"/{path}"]

    def parse(self, output, load):
        return Result(int(output))


class Wrk(Peer):
    name = program = "wrk"
    hint = "Debian's wrk"

    def version(self):
        return host.first_line(self.path(), "-v").split(" Copyright")[0]

    def command(self, load):
        return None if load.rate else ["-t1", f"-c{load.connections}", f"-d{load.seconds}s", "--latency", load.url]

    def parse(self, output, load):
        errors = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", output)))
        bad = int(number(r"Non-2xx or 3xx responses: (\d+)", output, 0)) + errors
        scale = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
        size, unit = re.search(r"requests in .*?, ([\d.]+)(\w+) read", output).groups()
        units = {"us": 1, "ms": 1e3, "s": 1e6}
        times = {f"p{q}": float(time) * units[of] for q, time, of in re.findall(r"(\d+)%\s+([\d.]+)(us|ms|s)\b", output)}
        read = float(size) * scale[unit]
        return Result(int(number(r"(\d+) requests in", output)), bad, read, True, 0.01, times)


class Wrk2(Peer):
    name = "wrk2"
    hint = "in no package registry that this bench may ask"

    def missing(self):
        return f"not installable: {self.hint}"


class Ab(Peer):
    name, program = "ab -k", "ab"
    hint = "Debian's apache2-utils"

    def version(self):
        shown = host.first_line(self.path(), "-V")
        return "ab " + shown.split("Version ")[1].split(" <")[0]

    def command(self, load):
        # `-t` sets a small number of requests of its own, so that the number has to come after it.
        most = 1_000_000 * load.seconds
        return None if load.rate else ["-k", "-q", "-t", load.seconds, "-n", most, "-c", load.connections, load.url]

    def parse(self, output, load):
        bad = number(r"Failed requests:\s+(\d+)", output) + number(r"Non-2xx responses:\s+(\d+)", output, 0)
        body = number(r"HTML transferred:\s+(\d+)", output)
        return Result(int(number(r"Complete requests:\s+(\d+)", output)), int(bad), body)


class H2load(Peer):
    name, program = "h2load --h1", "h2load"
    hint = "Debian's nghttp2-client"

    def command(self, load):
        rate = [f"--rps={load.rate / load.connections:g}", f"--log-file={self._log(load)}"] if load.rate else []
        return ["--h1", "-t1", f"-c{load.connections}", f"-D{load.seconds}", *rate, load.url]

    @staticmethod
    def _log(load):
        return pathlib.Path(tempfile.gettempdir()) / f"bakeoff-bench-h2load-{os.getpid()}.log"

    def parse(self, output, load):
        log, times = self._log(load), {}
        if load.rate:
            took = sorted(int(line.split("\t")[2]) for line in log.read_text().splitlines())
            log.unlink()
            times = {f"p{q}": took[len(took) * q // 100] for q in (50, 90, 99)} if took else {}
        bad = sum(number(rf"(\d+) {word}", output) for word in ("failed", "errored", "timeout"))
        good = int(number(r"(\d+) succeeded", output))
        if good != number(r"status codes: (\d+) 2xx", output):
            raise host.Failed("statuses other than 2xx")
        return Result(good, int(bad), number(r"\((\d+)\) total", output), True, 0.01, times)


class Oha(Peer):
    name = program = "oha"
    hint = "bench/peers.sh builds it"

    def __init__(self, corrected=False):
        self.corrected = corrected
        self.name = "oha --latency-correction" if corrected else "oha"

    def command(self, load):
        rate = ["-q", load.rate] if load.rate else []
        correction = ["--latency-correction"] if self.corrected else []
        options = ["--no-tui", "--output-format", "json", "-z", f"{load.seconds}s", "-c", load.connections]
        return [*options, *rate, *correction, load.url]

    def parse(self, output, load):
        reported = json.loads(output)
        statuses, errors = reported["statusCodeDistribution"], reported["errorDistribution"]
        good = statuses.pop("200", 0)
        bad = sum(statuses.values()) + sum(count for error, count in errors.items() if "deadline" not in error)
        times = {p: (seconds or 0) * 1e6 for p, seconds in reported["latencyPercentiles"].items()}
        return Result(good, bad, reported["summary"]["totalData"], False, 0.01, times)


class K6(Peer):
    name = program = "k6"
    hint = "bench/peers.sh builds it where Go is"

    def command(self, load):
        return ["run", "--quiet", "--no-usage-report", "--log-output=none", pathlib.Path(__file__).with_name("k6.js")]

    def environment(self, load):
        shape = {"RATE": str(load.rate)} if load.rate else {}
        body = {"BODY": str(load.answer.body)}
        return {"URL": load.url, "CONNECTIONS": str(load.connections), "SECONDS": str(load.seconds), **body, **shape}

    def parse(self, output, load):
        reported = json.loads(output[output.index("{") :])
        dropped = f"{reported['dropped']:,} dropped" if reported["dropped"] else ""
        return Result(reported["good"], reported["bad"], reported["bytes"], True, 0.01, reported["times_us"], note=dropped)

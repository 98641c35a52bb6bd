"""This machine: its cores, running a program on one of them, and what else the machine did meanwhile."""

import os
import pathlib
import platform
import re
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "bench" / ".work"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"

CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = CORES[0], CORES[-1]
TWO_CORES = len(CORES) >= 2


class Failed(Exception):
    """A program that did not do what it was started for."""


@dataclass
class Ran:
    output: str
    cpu_s: float  # user and system time, from the process's start to its end, all its threads and children
    seconds: float


def start(command, *cores, **options):
    """Starts a program that is kept to these cores."""
    pin = lambda: os.sched_setaffinity(0, cores)  # noqa: E731
    return subprocess.Popen([str(word) for word in command], preexec_fn=pin, **options)


def run(command, limit=60, watch=None, environment=None, cores=(CLIENT_CORE,)):
    """Runs a client to its end on the client's core or on these, for `limit` seconds at most. `watch(pid)` is called every 50 ms."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        child = start(command, *cores, stdout=output, stderr=errors, env={**os.environ, **(environment or {})})
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if watch:
                watch(child.pid)
            if time.monotonic() > began + limit:
                os.kill(child.pid, signal.SIGKILL)
            time.sleep(0.05)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode:
            how = f"was ended after {limit} s" if child.returncode == -signal.SIGKILL else f"ended with {child.returncode}"
            raise Failed(f"{pathlib.Path(command[0]).name} {how}: {(output.read() + errors.read()).strip()[-300:]}")
        return Ran(output.read(), usage.ru_utime + usage.ru_stime, seconds)


def memory_kb(pid, field):
    """`VmRSS` (resident now) or `VmHWM` (most that ever was), in KB; `None` when the process is gone.

    Not `ru_maxrss`: that begins with what the starting process had.
    """
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    return int(found[1]) if found else None


def find(program):
    """Where a program is: installed for the bench, built here, or on the PATH. `None` if nowhere."""
    places = [WORK / "bin", TARGET, *map(pathlib.Path, os.get_exec_path()), pathlib.Path("/usr/sbin")]
    return next((place / program for place in places if os.access(place / program, os.X_OK)), None)


def first_line(*command):
    """The first line that a command says, most often its version."""
    shown = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return (shown.stdout + shown.stderr).split("\n")[0].strip()


def describe():
    """The machine, in a line."""
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}"


class Watch:
    """What the machine did beside this program and those it started and has waited for: `others` and `steal`, in cores."""

    def __enter__(self):
        self._began, self._then = time.monotonic(), self._now()
        return self

    def __exit__(self, *_):
        elapsed = time.monotonic() - self._began
        busy, own, steal = (now - then for now, then in zip(self._now(), self._then))
        self.others, self.steal, self.elapsed = max(busy - own, 0) / elapsed, steal / elapsed, elapsed

    @staticmethod
    def _now():
        fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
        user, nice, system, _, _, irq, softirq, steal = (int(field) / os.sysconf("SC_CLK_TCK") for field in fields[:8])
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return user + nice + system + irq + softirq, own, steal

"""Requests per second of client CPU: closed_loop against wrk. Run by engine.sh, which builds the client."""

import datetime
import os
import pathlib
import platform
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS = int(os.environ.get("PAIRS", "7"))
SECONDS = int(os.environ.get("SECONDS_EACH", "3"))
CLIENT = os.environ["CLIENT"]
RESULTS = pathlib.Path(__file__).with_name("RESULTS.md")
# Path, its name, connections, the ratio that the design asks for.
CELLS = [("20b", "20 B", 32, 1.15), ("20b", "20 B", 256, 1.25), ("16k", "16 KB", 32, 1.3), ("16k", "16 KB", 256, 1.4)]
TICK = os.sysconf("SC_CLK_TCK")

NGINX = """
daemon off; worker_processes 1; pid {dir}/pid; error_log {dir}/error.log;
events {{ worker_connections 2048; }}
http {{
  access_log off; sendfile on; open_file_cache max=10; keepalive_requests 1000000000; keepalive_timeout 1h;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location = /20b {{ return 200 "exactly twenty bytes"; }}
    location = /16k {{ root {dir}; }}
  }}
}}
"""


def start_server(folder, core):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    pathlib.Path(folder, "16k").write_bytes(b"x" * 16_384)
    os.chmod(folder, 0o755)
    config = pathlib.Path(folder, "nginx.conf")
    config.write_text(NGINX.format(dir=folder, port=port))
    command = ["taskset", "-c", str(core), "nginx", "-p", folder, "-c", str(config)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    stop_server(server)
    sys.exit("nginx did not start: " + pathlib.Path(folder, "error.log").read_text())


def stop_server(server):
    server.send_signal(signal.SIGTERM)
    server.wait()


def run(command):
    """What the command printed, and the CPU seconds that its process used, from its start to its end."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{output}")
    return output, usage.ru_utime + usage.ru_stime


def number(pattern, output):
    found = re.search(pattern, output)
    if not found:
        sys.exit(f"no {pattern!r} in:\n{output}")
    return int(found[1])


def ours(url, connections, core):
    output, cpu = run(["taskset", "-c", str(core), CLIENT, url, str(connections), str(SECONDS)])
    if number(r"failed +(\d+)", output):
        sys.exit(f"requests failed:\n{output}")
    return number(r"good +(\d+)", output), cpu


def wrk(url, connections, core):
    output, cpu = run(["taskset", "-c", str(core), "wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", url])
    if "Non-2xx" in output or "Socket errors" in output:
        sys.exit(f"requests failed:\n{output}")
    return number(r"(\d+) requests in", output), cpu


def busy_seconds():
    """CPU seconds that anybody used since boot, and those the hypervisor gave to somebody else."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = (int(field) / TICK for field in fields[:8])
    return user + nice + system + irq + softirq, steal


def cpu_of_group(server):
    """CPU seconds of nginx and its worker."""
    children = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    stats = [pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in [server.pid, *children]]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICK


def measure(server, port, core):
    """For each cell its pairs: (requests per CPU second of ours, of wrk). Rounds outermost, order alternating."""
    pairs = {cell: [] for cell in CELLS}
    clients_cpu = 0.0
    began, (busy, steal), served = time.monotonic(), busy_seconds(), cpu_of_group(server)
    for turn in range(PAIRS):
        for cell in CELLS:
            path, name, connections, _ = cell
            rates = {}
            for client in (ours, wrk) if turn % 2 == 0 else (wrk, ours):
                requests, cpu = client(f"http://127.0.0.1:{port}/{path}", connections, core)
                rates[client] = requests / cpu
                clients_cpu += cpu
            pairs[cell].append((rates[ours], rates[wrk]))
            print(f"{turn + 1}/{PAIRS} {name} c={connections}: {rates[ours] / rates[wrk]:.2f}", file=sys.stderr)
    elapsed = time.monotonic() - began
    busy_now, steal_now = busy_seconds()
    others = busy_now - busy - clients_cpu - (cpu_of_group(server) - served)
    return pairs, max(others, 0) / elapsed, (steal_now - steal) / elapsed


def table(pairs):
    lines = [
        "| answer | connections | ours, requests per CPU s | wrk | ratio of medians | median of pairs | least–most | wanted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (_, name, connections, wanted), rates in pairs.items():
        mine, other = (statistics.median(column) for column in zip(*rates))
        ratios = sorted(a / b for a, b in rates)
        lines.append(
            f"| {name} | {connections} | {mine:,.0f} | {other:,.0f} | **{mine / other:.2f}** "
            f"| {statistics.median(ratios):.2f} | {ratios[0]:.2f}–{ratios[-1]:.2f} | {wanted:.2f} |"
        )
    return "\n".join(lines)


def first_line(*command):
    shown = subprocess.run(command, capture_output=True, text=True)
    return (shown.stdout + shown.stderr).split("\n")[0].strip()


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}"


def main():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed: one for the server, one for the client")
    with tempfile.TemporaryDirectory() as folder:
        server, port = start_server(folder, cores[0])
        try:
            pairs, others, steal = measure(server, port, cores[-1])
        finally:
            stop_server(server)
    report = f"""# The client against wrk

Written by `make bench`; run it again for your machine. Requests per second of client CPU: user and system time of the
whole client process, by `wait4`. Server and client have a core each. {PAIRS} interleaved pairs of {SECONDS} s a cell, the
order alternating; nginx answers from memory. Our client checks the status and length of every answer and records its
latency; wrk counts statuses above 399. Each client's figure is a median over its runs; a pair is a run of each, one right
after the other, so that the median of pairs suffers less from what else the machine does.

{table(pairs)}

- {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; {machine()}
- {first_line("wrk", "-v").split(" Copyright")[0]}; {first_line("nginx", "-v")}; {first_line("rustc", "--version")}
- Cores that other processes used meanwhile: {others:.2f}; that the hypervisor gave to others: {steal:.2f}. The closer to 0,
  the more the figures mean.
"""
    RESULTS.write_text(report)
    print(report)


if __name__ == "__main__":
    main()

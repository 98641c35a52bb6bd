"""How much slower 1,050 rows are than 1,000, without bakeoff and without a second launch: one server is asked for both in turns.

    truth.py [LAUNCHES]    LAUNCHES (3) times a JRuby that bakeoff has installed, a line each

After ten seconds each pair of requests is in random order. The figures are logarithms of ratios in per cent: of medians, and of means
without the slowest twentieth, with the standard error of the latter over parts of 100 pairs. The time of this client is in them.
"""

import http.client
import math
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
JRUBY = pathlib.Path.home() / ".cache/bakeoff/jruby/9.4.15.0/home"
# As in the studies beside this.
OPTIONS = ["-Xms192m", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dsun.net.httpserver.nodelay=true"]
ROWS = 1000, 1050
WARM_UP_S = 10
MEASURED_S = 30


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def trimmed(times):
    return statistics.mean(sorted(times)[: len(times) * 95 // 100])


def difference(average, times):
    """The log ratio of speeds, in per cent."""
    base, more = (average(times[rows]) for rows in ROWS)
    return 100 * math.log(base / more)


def ask(port):
    """The times of answers, by rows, in pairs."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = {rows: [] for rows in ROWS}
    began = time.monotonic()
    while (age := time.monotonic() - began) < WARM_UP_S + MEASURED_S:
        for rows in random.sample(ROWS, 2):
            sent = time.perf_counter()
            client.request("GET", f"/?{rows}")
            client.getresponse().read()
            if age > WARM_UP_S:
                times[rows].append(time.perf_counter() - sent)
    return times


def main():
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        port = free_port()
        command = ["java", *OPTIONS, f"-Djruby.home={JRUBY}", "-cp", str(JRUBY / "lib/jruby.jar"), "org.jruby.Main", str(HERE / "app.rb")]
        server = subprocess.Popen(command, env={**os.environ, "PORT": str(port)})
        try:
            while socket.socket().connect_ex(("127.0.0.1", port)):
                time.sleep(0.1)
            times = ask(port)
        finally:
            server.kill()
            server.wait()
        pairs = len(times[ROWS[0]])
        parts = [difference(trimmed, {rows: times[rows][at : at + 100] for rows in ROWS}) for at in range(0, pairs - 99, 100)]
        error = statistics.stdev(parts) / math.sqrt(len(parts))
        print(f"{pairs} pairs, {1e6 * statistics.median(times[ROWS[0]]):.0f} µs an answer: median {difference(statistics.median, times):.2f} %, "
              f"trimmed mean {difference(trimmed, times):.2f} % ± {error:.2f}", flush=True)


main()

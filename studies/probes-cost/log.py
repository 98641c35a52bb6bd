"""What a line of the collection log costs, which every JVM writes, and which so is on both sides of the study: `log.py [PAIRS]`.

A JVM with a young generation of 1 MiB makes the same pages with the log and without, in turn first, so that lines come some sixty
times as often as they do in the study's server. CPU time of the whole process, over the lines written: mean and t interval of the differences.
"""

import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from cost import T

HERE = pathlib.Path(__file__).parent
OPTIONS = ["-Xmx256m", "-Xmn1m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
PAGES = 10_000


def cpu(folder, logged):
    """CPU seconds of a JVM that makes the pages."""
    log = [f"-Xlog:gc*:file={folder}/gc.log:tn,tags:filecount=0"] if logged else []
    child = subprocess.Popen(["java", *OPTIONS, *log, "-cp", folder, "Server", "--pages", str(PAGES)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"log.py: the JVM ended with status {status}")
    return used.ru_utime + used.ru_stime


def lines(folder):
    with open(f"{folder}/gc.log", encoding="utf-8") as log:
        return sum(1 for _ in log)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder, str(HERE / "Server.java")], check=True)
        costs = []
        for pair in range(pairs):
            used = {logged: cpu(folder, logged) for logged in ((True, False) if pair % 2 else (False, True))}
            costs.append((used[True] - used[False]) * 1e6 / lines(folder))
        middle = statistics.mean(costs)
        half = T[min(pairs, len(T)) - 1] * statistics.stdev(costs) / math.sqrt(pairs)
        print(f"a line of the collection log costs {middle:.2f} µs of CPU [{middle - half:.2f}, {middle + half:.2f}], {pairs} pairs; "
              f"{lines(folder)} lines in {used[False]:.2f} s of CPU")


main()

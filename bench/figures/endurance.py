"""Ten minutes: whether the client's memory stays what it was."""

import os
import statistics
import time

from host import memory_kb
from peers import OURS, Load
from report import Section, most, table
from rounds import say
from servers import Nginx

SECONDS = int(os.environ.get("LONG_SECONDS", "600"))
CONNECTIONS = 256
# What is allowed to grow in ten minutes, MB: less than one run differs from the next.
GROWTH_MB = 1.0
SETTLED = 0.1  # fraction of the time before memory is looked at

TEXT = """`bakeoff load` with {connections} connections on nginx (20 B) for {seconds} s; resident memory (`VmRSS`) every second.
The growth is the slope of the least-squares line after the first {settled:.0%}."""


def measure():
    say(f"  {SECONDS} s of {CONNECTIONS} connections")
    samples = []  # (s, MB)
    began = time.monotonic()

    def watch(pid):
        at = time.monotonic() - began
        if (not samples or at >= samples[-1][0] + 1) and (kb := memory_kb(pid, "VmRSS")):
            samples.append((at, kb / 1024))

    with Nginx() as server:
        OURS[0].run(Load(server.url("/20b"), server.answer("/20b"), CONNECTIONS, SECONDS), watch)
    later = [sample for sample in samples if sample[0] >= SETTLED * SECONDS]
    line = statistics.linear_regression(*zip(*later))
    growth = line.slope * 600
    bars = [most("growth of resident memory in ten minutes", growth, GROWTH_MB, "{:.1f} MB")]
    shown = samples[:: max(len(samples) // 10, 1)]
    text = TEXT.format(connections=CONNECTIONS, seconds=SECONDS, settled=SETTLED)
    rows = [[f"{at:.0f}", f"{mb:.1f}"] for at, mb in shown]
    return Section("Endurance", "\n\n".join([text, table(["s", "resident, MB"], rows)]), bars)

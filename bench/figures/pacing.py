"""How late the client sends what is due, by its own doing, at a high constant rate."""

from peers import ENGINES, OURS, Load
from report import Section, most, notes, shown, table
from rounds import SECONDS, interleave, median, missing
from servers import Nginx

RATE, CONNECTIONS, ROUNDS = 20_000, 64, 3
LATE_US = 60

TEXT = """{rate:,} requests/s, evenly spaced, over {connections} connections to nginx (20 B). The send delay goes from when a request
was due to when it was sent, where a connection was free. Medians of {rounds} runs, beside the CPU that the client took
for it."""


def measure():
    with Nginx() as server:
        load = Load(server.url("/20b"), server.answer("/20b"), CONNECTIONS, SECONDS, rate=RATE)
        found, complaints = interleave("20,000/s", ENGINES, lambda peer: peer.run(load), ROUNDS)
    rows, bars = [], []
    for name, runs in found.items():
        runs = [run for run in runs if run]
        late = {p: [run.send_delay[p] for run in runs] for p in ("p50", "p99")}
        if name == OURS[0].name:
            bars.append(most("send delay, p50", median(late["p50"]), LATE_US, "{:.0f} µs", late["p50"]))
        if runs:
            cores = median(run.cpu_s / run.seconds for run in runs)
            rows.append([name, *(shown(median(late[p]), "{:.0f}") for p in late), f"{cores:.2f}"])
    text = TEXT.format(rate=RATE, connections=CONNECTIONS, rounds=ROUNDS)
    header = ["client", "send delay p50, µs", "p99, µs", "cores"]
    return Section("Pacing", "\n\n".join([text, table(header, rows), notes(missing(ENGINES) | complaints)]), bars)

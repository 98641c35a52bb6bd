"""A server that answers 5 ms late: what clients say of its latency, against its own record."""

from host import Failed
from peers import OURS, K6, Load, Oha, Wrk
from report import Section, most, notes, table
from rounds import interleave, median, missing
from servers import Known, quantile

CONNECTIONS = (32, 256)
ROUNDS, SECONDS = 2, 3
WITHIN = {"p50": 2.0, "p99": 5.0}  # %
PEERS = [*OURS, Wrk(), Oha(), K6()]

TEXT = """Medians of {rounds} runs of {seconds} s, ms. The server's own record goes from when the kernel received a request's last
byte to when the answer was handed to the kernel; it includes what the server adds to its 5 ms, which differs from client
to client with how they space their requests."""


def measure():
    bars, rows, complaints = [], [], missing(PEERS)
    for connections in CONNECTIONS:
        found, wrong = interleave(f"5 ms, c={connections}", PEERS, lambda peer: once(peer, connections), ROUNDS)
        complaints |= {f"{peer}, c={connections}": why for peer, why in wrong.items()}
        for name, runs in found.items():
            runs = [run for run in runs if run]
            errors = {p: [run[p][0] / run[p][1] * 100 - 100 for run in runs] for p in WITHIN}
            if name == OURS[0].name:
                for p, within in WITHIN.items():
                    worst = median(map(abs, errors[p]))
                    what = f"c={connections}: {p} off the server's own record by"
                    bars.append(most(what, worst, within, "{:.1f} %", list(map(abs, errors[p]))))
            if runs:
                rows.append([connections, name, *(text for p in WITHIN for text in columns(runs, p, errors[p]))])
    header = ["connections", "client"]
    for p in WITHIN:
        header += [f"{p}", f"server's {p}", f"{p} error"]
    text = "\n\n".join([TEXT.format(rounds=ROUNDS, seconds=SECONDS), table(header, rows), notes(complaints)])
    return Section("Known delay", text, bars)


def once(peer, connections):
    """For each percentile: the client's, the server's, in µs."""
    with Known("5ms") as server:
        result = peer.run(Load(server.url("/"), server.answer("/"), connections, SECONDS))
        times = server.times()
    if not all(result.times.get(p) for p in WITHIN):
        raise Failed("too few answers for its percentiles")
    return {p: (result.times[p], quantile(times, int(p[1:]) / 100)) for p in WITHIN}


def columns(runs, p, errors):
    client, server = (median(run[p][side] for run in runs) / 1e3 for side in (0, 1))
    return f"{client:.2f}", f"{server:.2f}", f"**{median(errors):+.1f} %**"

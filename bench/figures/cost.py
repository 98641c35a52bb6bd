"""Requests per second of client CPU, with every answer's status and length checked, beside everybody else's."""

from peers import OURS, Ab, Floor, H2load, K6, Load, Oha, Wrk, Wrk2
from report import Section, least, notes, table
from rounds import ROUNDS, SECONDS, interleave, median, missing, ratio, ratios
from servers import Known, Nginx

# Name, server, path, connections, least ratio to wrk.
CELLS = [
    ("20 B, c=32", Nginx, "/20b", 32, 1.15),
    ("20 B, c=256", Nginx, "/20b", 256, 1.25),
    ("16 KB, c=32", Nginx, "/16k", 32, 1.3),
    ("16 KB, c=256", Nginx, "/16k", 256, 1.4),
    ("5 ms, c=256", lambda: Known("5ms"), "/", 256, 1.25),
]
OF_OHA, OF_FLOOR = 1.8, 0.93

OFTEN = [OURS[0], Wrk(), Oha(), Floor("epoll")]
SELDOM = [*OURS[1:], Floor("io_uring"), Ab(), H2load(), K6(), Wrk2()]

TEXT = """Requests per second of client CPU: user and system time of the whole client process, from its start to its end.
Each cell: median of the runs, in thousands, and its **ratio** to wrk's in the same rounds (least – most of one round). Whoever
reports failures or a wrong number of bytes has no figure. Ours checks the status and length of every answer and records
its latency; wrk counts statuses above 399; k6 checks both in its script, and its start is part of its cost; the floor
(`bench/floor`) only counts bytes. nginx answers from memory, the known server 5 ms late. Those below the floor by epoll
run in every third round only. {rounds} rounds, runs of {seconds} s."""


def measure():
    bars, columns, labels, complaints = [], {}, {}, missing([*OFTEN, *SELDOM])
    for name, server, path, connections, of_wrk in CELLS:
        with server() as running:
            load = Load(running.url(path), running.answer(path), connections, SECONDS)
            runs, wrong = interleave(name, OFTEN, lambda peer: peer.run(load), seldom=SELDOM)
        complaints |= {f"{peer}, {name}": why for peer, why in wrong.items()}
        labels |= {peer: f"{peer} ({run.note})" for peer, each in runs.items() for run in each if run and run.note}
        found = {peer: [run and run.per_cpu_s for run in each] for peer, each in runs.items()}
        columns[name] = found
        for other, wanted in (("wrk", of_wrk), ("oha", OF_OHA), ("floor, epoll", OF_FLOOR)):
            pair = found[OURS[0].name], found[other]
            bars.append(least(f"{name}: requests per CPU s ÷ {other}", ratio(*pair), wanted, "{:.3f}", ratios(*pair)))
    rows = [
        [labels.get(peer.name, peer.name), *(cell(found[peer.name], found["wrk"]) for found in columns.values())]
        for peer in [*OFTEN, *SELDOM]
        if not peer.missing()
    ]
    text = "\n\n".join([TEXT.format(rounds=ROUNDS, seconds=SECONDS), table(["client", *columns], rows), notes(complaints)])
    return Section("Cost", text, bars)


def cell(rates, of_wrk):
    middle, against = median(rates), ratios(rates, of_wrk)
    if middle is None:
        return "–"
    shown = f"{middle / 1e3:,.0f}k"
    if rates is of_wrk or not against:
        return shown
    return f"{shown} **{ratio(rates, of_wrk):.2f}** ({min(against):.2f} – {max(against):.2f})"

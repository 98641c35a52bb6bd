"""A server that does nothing for a second in every six, at a constant rate: what clients say of it."""

from peers import OURS, H2load, K6, Load, Oha, Wrk2
from report import Section, most, notes, table
from rounds import interleave, median, missing
from servers import Known

RATE, SECONDS = 1_000, 12
STALL, EVERY, FIRST = 1.0, 6.0, 2.5  # s
CONNECTIONS = (10, 1_000)
WITHIN = 5.0  # %
OTHERS = [Wrk2(), Oha(), Oha(corrected=True), H2load(), K6()]
ROUNDS = 3

TEXT = """{rate:,} requests/s for {seconds} s; in every {every:.0f} s the server does nothing for {stall:.0f} s, and answers at once
otherwise. A request due during the stall waits for the rest of it, so that the fraction (S − x) / T of all requests waits
longer than x, with S = {stall:.0f} s and T = {every:.0f} s, and the ideal percentile q is S − (1 − q) · T: p90 = {p90:.0f} ms,
p99 = {p99:.0f} ms. What the server needs to catch up afterwards comes on top. (Two stalls, since a percentile is known only
when 100 answers lie beyond it.) Ours counts from when a request was due, and is the median of {rounds} runs; h2load's percentiles
are from its log; k6 drops what it has no user for."""


def ideal_us(q):
    """Percentile of response times that the stall alone makes, in µs; service times are taken for 0."""
    return max(STALL - (1 - q) * EVERY, 0) * 1e6


def measure():
    bars, rows, complaints = [], [], missing(OTHERS)
    wanted = {"p90": ideal_us(0.9), "p99": ideal_us(0.99)}
    for connections in CONNECTIONS:
        what = f"stall, c={connections}"
        found, wrong = interleave(what, OURS[:1], lambda peer: once(peer, connections), ROUNDS, seldom=OTHERS)
        complaints |= {f"{peer}, c={connections}": why for peer, why in wrong.items()}
        for name, results in found.items():
            results = [result for result in results if result]
            times = {p: [result.times[p] for result in results if result.times.get(p)] for p in wanted}
            errors = {p: [time / us * 100 - 100 for time in times[p]] for p, us in wanted.items()}
            if name == OURS[0].name:
                for p, error in errors.items():
                    off = [abs(one) for one in error]
                    bars.append(most(f"c={connections}: {p} off the ideal by", median(off), WITHIN, "{:.1f} %", off))
            if results:
                shown = (f"{median(times[p]) / 1e3:,.0f} | {median(errors[p]):+.1f} %" if times[p] else "– | –" for p in wanted)
                rows.append([connections, name, f"{results[0].good:,}", *shown, results[0].note])
    header = ["connections", "client", "answers", "p90, ms", "error", "p99, ms", "error", ""]
    ms = {p: us / 1e3 for p, us in wanted.items()}
    text = TEXT.format(rate=RATE, seconds=SECONDS, every=EVERY, stall=STALL, rounds=ROUNDS, **ms)
    return Section("Stall", "\n\n".join([text, table(header, rows), notes(complaints)]), bars)


def once(peer, connections):
    with Known(stall=(FIRST, EVERY, STALL)) as server:
        return peer.run(Load(server.url("/"), server.answer("/"), connections, SECONDS, rate=RATE))

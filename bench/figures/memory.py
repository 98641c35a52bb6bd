"""Memory of the client: at 256 connections, and for each further one up to 10,000."""

from host import Failed, memory_kb
from peers import ENGINES, OURS, H2load, Load, Oha, Wrk
from report import Section, most, notes, table
from rounds import interleave, missing
from servers import Nginx

FEW, MANY = 256, 10_000
AT_FEW_MB, EACH_KB = 64, 8
PEERS = [*ENGINES, Wrk(), H2load(), Oha()]

TEXT = """Peak of the resident memory (`VmHWM`) of a closed loop on nginx (20 B), 3 s with {few} connections and 4 s with {many:,}."""


def measure():
    with Nginx() as server:
        found, complaints = interleave("memory", PEERS, lambda peer: once(peer, server), rounds=1)
    rows, bars = [], []
    for name, (peaks,) in found.items():
        few, many = peaks or (None, None)
        each = (many - few) / (MANY - FEW) if peaks else None
        if name == OURS[0].name:
            bars.append(most(f"resident at {FEW} connections", few and few / 1024, AT_FEW_MB, "{:.1f} MB"))
            bars.append(most("for each further connection", each, EACH_KB, "{:.1f} KB"))
        if peaks:
            rows.append([name, f"{few / 1024:.1f}", f"{many / 1024:.1f}", f"{each:.1f}"])
    header = ["client", f"MB at {FEW}", f"MB at {MANY:,}", "KB for each further connection"]
    text = TEXT.format(few=FEW, many=MANY)
    return Section("Memory", "\n\n".join([text, table(header, rows), notes(missing(PEERS) | complaints)]), bars)


def once(peer, server):
    """Peaks in KB."""
    return [peak(peer, server, connections, seconds) for connections, seconds in ((FEW, 3), (MANY, 4))]


def peak(peer, server, connections, seconds):
    seen = []
    load = Load(server.url("/20b"), server.answer("/20b"), connections, seconds)
    peer.run(load, watch=lambda pid: seen.append(memory_kb(pid, "VmHWM")))
    seen = [kb for kb in seen if kb]
    if not seen:
        raise Failed("it ended before its memory could be seen")
    return seen[-1]

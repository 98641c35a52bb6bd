"""10,000 connections at once: all served, and nothing of ours in the way."""

from peers import ENGINES, OURS, Load
from report import Bar, Section, notes, table
from rounds import interleave, missing
from servers import Nginx

CONNECTIONS, REQUESTS = 10_000, 200_000

TEXT = """{requests:,} requests over {connections:,} connections to nginx (20 B). Accepted is nginx's own count of connections;
those with which the bench and the client ask what a good answer is among them."""


def measure():
    found, complaints = interleave("10,000 connections", ENGINES, once, rounds=1)
    rows = [[name, *(f"{value:,}" for value in run)] for name, (run,) in found.items() if run]
    bar = judge(found[OURS[0].name][0], complaints.get(OURS[0].name, "not measured"))
    header = ["client", "good answers", "connections accepted", "dropped by nginx", "seconds"]
    text = TEXT.format(requests=REQUESTS, connections=CONNECTIONS)
    text = "\n\n".join([text, table(header, rows), notes(missing(ENGINES) | complaints)])
    return Section("10,000 connections", text, [bar])


def judge(run, complaint):
    wanted = f"{REQUESTS:,} good, 0 failed, {CONNECTIONS:,} connections"
    if not run:
        return Bar("all served", wanted, complaint, False)
    good, accepted, dropped, _ = run
    met = good == REQUESTS and accepted >= CONNECTIONS and dropped == 0
    return Bar("all served", wanted, f"{good:,} good, {accepted:,} connections", met)


def once(peer):
    """Good answers, connections accepted and dropped, seconds. A failed request is a failure of the run."""
    with Nginx() as server:
        load = Load(server.url("/20b"), server.answer("/20b"), CONNECTIONS, 0, requests=REQUESTS)
        result = peer.run(load)
        accepted, dropped = server.accepted()
    return result.good, accepted, dropped, round(result.seconds, 1)

"""Interleaved runs: every client once a round, so that what drifts drifts for all."""

import os
import statistics
import sys

import host

ROUNDS = int(os.environ.get("PAIRS", "5"))
SECONDS = int(os.environ.get("SECONDS_EACH", "2"))


def say(text):
    print(text, file=sys.stderr, flush=True)


def missing(peers):
    """Those that cannot be run here, and why."""
    return {peer.name: why for peer in peers if (why := peer.missing())}


def present(peers):
    """Those that can."""
    return [peer for peer in peers if not peer.missing()]


def interleave(what, peers, measure, rounds=ROUNDS, seldom=()):
    """`measure(peer)` for every peer that is here, round after round, in alternating order; those of `seldom` only in
    every third round. Returns for each name what came of each round, `None` where nothing did, and complaints.
    """
    found = {peer.name: [None] * rounds for peer in [*peers, *seldom]}
    complaints = {}
    for turn in range(rounds):
        now = present([*peers, *(seldom if turn % 3 == 0 else ())])
        for peer in now if turn % 2 == 0 else reversed(now):
            try:
                found[peer.name][turn] = measure(peer)
            except host.Failed as failure:
                complaints[peer.name] = str(failure)
                say(f"    {peer.name}: {failure}")
        say(f"  {what}: round {turn + 1} of {rounds}")
    return found, complaints


def median(values):
    """Of those that are there; `None` if none is."""
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def both(ones, others):
    """Pairs of the rounds in which both are there."""
    return [(one, other) for one, other in zip(ones, others) if one is not None and other is not None]


def ratio(ones, others):
    """The ratio of the medians over those rounds; `None` where there are none."""
    pairs = both(ones, others)
    return statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs) if pairs else None


def ratios(ones, others):
    """Round by round."""
    return [one / other for one, other in both(ones, others)]

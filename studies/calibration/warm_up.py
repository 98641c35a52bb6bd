#!/usr/bin/env python3
"""When would each rule have called recorded launches steady, and were they?

    studies/calibration/warm_up.py ~/.local/share/bakeoff/store.db [STORE...]

Reads stores and runs nothing. It plays the warm-up of each launch that was under load for a minute or more to each rule. The rules are those that
docs/adr/0014 speaks of. Launches whose compilers are seen, and those whose are not, have a table each. For each rule it prints:

- how many launches it called steady before their record ended, and when (seconds of load, median and range);
- how many of these were more than 5 % off: six seconds from there on against the last twelve recorded ones. Launches that have less than that left do not
  count. The host's own noise counts as being off. "Compilers idle, looking back" shows how much that is: it is the time from which on
  compilers stayed idle, which no rule can know;
- for blocks of two such launches side by side, by how much the ratio of the two was off in the same seconds, from where both were steady (mean and standard
  deviation of the log ratio).
"""
import json
import math
import sqlite3
import statistics as st
import sys

LEAST, GROWTH = 30.0, 1.15
AFTER, LATER = 6.0, 12.0
END, LENGTH, GOOD, COMPILING, CPU, BINS = range(6)


def blocks_of(store):
    """{variant: seconds of its warm-up} for each block; a second is END to BINS, with times in seconds of load."""
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    blocks = {}
    for run, pilot, block, variant, record in db.execute("SELECT run, pilot, block, variant, record FROM trial"):
        intervals = (json.loads(record).get("warm_up") or {}).get("intervals", [])
        seconds = []
        for interval in intervals:
            server = interval["server"] or {}
            counters = (server.get("jvm") or {}).get("counters")
            length = interval["length_s"]
            seconds.append((interval["start_s"] + length, length, interval["tally"]["good"], counters and counters["jit_s"],
                            server.get("cpu_s"), interval["bins"][:int(length * 10 + 1e-6)]))
        if seconds and seconds[-1][END] >= 60.0:
            blocks.setdefault((run, pilot, block), {})[variant] = seconds
    return list(blocks.values())


def last(seconds, part):
    """The last part of the load, and 15 s of it at least."""
    begin = seconds[-1][END] - max(seconds[-1][END] * part, LEAST / 2)
    return [second for second in seconds if second[END] > begin + 0.05]


def agree(rates, loosest):
    """The rule's own comparison: both halves of eight parts, by their scatter."""
    parts = [st.mean(rates[i * len(rates) // 8:(i + 1) * len(rates) // 8]) for i in range(8)]
    first, second = parts[:4], parts[4:]
    residuals = [rate - st.median(half) for half in (first, second) for rate in half]
    middle = st.median(parts)
    centre = st.median(residuals)
    sigma = 1.4826 * st.median(abs(residual - centre) for residual in residuals) * math.sqrt(8 / 6)
    error = max(sigma, 0.2887 * 8 / len(rates)) * math.sqrt(4 / 8)
    difference = abs(st.median(b - a for a in first for b in second))
    return middle > 0.0 and difference / middle <= min(max(3 * error / middle, 0.01), loosest)


def level(part, loosest=0.05):
    return lambda own, _: agree([count for second in last(own, part) for count in second[BINS]], loosest)


def level_ratio(part, loosest=0.05):
    """The ratio to the others of the block alone, whatever each of them does."""
    def rule(own, others):
        rates = [[s[GOOD] / s[LENGTH] for s in last(launch, part)] for launch in [own, *others]]
        shortest = min(map(len, rates))
        own, *others = [launch[-shortest:] for launch in rates]
        return all(agree([1000 * a / max(b, 1e-9) for a, b in zip(own, other)], loosest) for other in others)
    return rule


def level_cpu(part):
    return lambda own, _: agree([1000 * s[GOOD] / max(s[CPU] or 0.0, 0.01) for s in last(own, part)], 0.05)


def idle(part):
    """Compilers took at most a tenth of the server's CPU time, or 0.05 s a second."""
    def rule(own, _):
        compiling, cpu, load = (sum(s[i] or 0.0 for s in last(own, part)) for i in (COMPILING, CPU, LENGTH))
        return compiling <= max(0.1 * cpu, 0.05 * load)
    return rule


def quarters(own, _):
    """The rule before: medians of four quarters of the last half, with a tolerance by the scatter of bins."""
    bins = [count for second in own for count in second[BINS]]
    bins = bins[len(bins) // 2:]
    quarter, mean = len(bins) // 4, max(st.mean(bins), 1e-9)
    size = min(max(math.ceil(200 / mean), 1), max(quarter // 9, 1))
    sums = [[sum(bins[q * quarter + i * size:q * quarter + (i + 1) * size]) for i in range(quarter // size)] for q in range(4)]
    medians = [grouped(counts) for counts in sums]
    if min(medians) <= 0.0:
        return False
    deviations = [abs(count - median) for counts, median in zip(sums, medians) for count in counts]
    error = 1.2533 * max(1.4826 * st.median(deviations), 0.2887) / math.sqrt(quarter // size) / min(medians)
    return max(medians) / min(medians) - 1 <= min(max(3 * error, 0.01), 0.05)


def grouped(counts):
    middle = st.median(counts)
    below = sum(count < middle for count in counts)
    equal = sum(count <= middle for count in counts) - below
    return middle - 0.5 + (len(counts) / 2 - below) / equal if equal else middle


def every(*rules):
    return lambda own, others: all(rule(own, others) for rule in rules)


def stop(own, others, rule, checks):
    """Seconds of load at which a rule has held at so many successive checks; `None` if it never has."""
    due, held = LEAST, 0
    for at, second in enumerate(own, 1):
        if second[END] >= due - 0.05:
            due *= GROWTH
            held = held + 1 if rule(own[:at], [other[:at] for other in others]) else 0
            if held == checks:
                return second[END]
    return None


def looking_back(own):
    """From when on compilers stayed idle."""
    busy = [at for at in range(len(own) - 4) if not idle(1)(own[at:at + 5], ())]
    return max(own[busy[-1] + 4][END], LEAST) if busy else LEAST


def rate(own, begin, length):
    seconds = [second for second in own if begin + 0.05 < second[END] <= begin + length + 0.05]
    return sum(s[GOOD] for s in seconds) / sum(s[LENGTH] for s in seconds)


RULES = [
    ("four quarters of the last half, by bins (before)", quarters, 1),
    ("the same at two successive checks", quarters, 2),
    ("level in the last half", level(1 / 2), 1),
    ("**level in the last half at two successive checks**", level(1 / 2), 2),
    ("level in the last third", level(1 / 3), 1),
    ("level in the last quarter", level(1 / 4), 1),
    ("CPU per answer level in the last half", level_cpu(1 / 2), 1),
    ("ratio level in the last half", level_ratio(1 / 2), 1),
    ("ratio level in the last half, each up to 10 %", every(level_ratio(1 / 2), level(1 / 2, 0.1)), 1),
    ("compilers idle in the last quarter", idle(1 / 4), 1),
    ("compilers idle, and level in the last half", every(idle(1 / 2), level(1 / 2)), 1),
    ("compilers idle, and level in the last third", every(idle(1 / 3), level(1 / 3)), 1),
    ("**compilers idle, and level in the last quarter**", every(idle(1 / 4), level(1 / 4)), 1),
    ("compilers idle, and level in the last quarter, at two successive checks", every(idle(1 / 4), level(1 / 4)), 2),
    ("compilers idle, and level in the last quarter, and so the ratio", every(idle(1 / 4), level(1 / 4), level_ratio(1 / 4)), 1),
    ("fixed, 30 s", lambda own, _: True, 1),
    ("fixed, 60 s", lambda own, _: own[-1][END] >= 59.0, 1),
    ("compilers idle, looking back", None, 1),
]


def table(blocks, rules):
    print("| rule | called steady | after, s | more than 5 % off | the ratio was off by |\n|---|---|---|---|---|")
    for name, rule, checks in rules:
        stops, off, ratios = [], [], []
        for block in blocks:
            at = {}
            for variant, own in block.items():
                others = [other for name, other in block.items() if name != variant]
                at[variant] = looking_back(own) if rule is None else stop(own, others, rule, checks)
                if at[variant] and at[variant] + AFTER + LATER <= own[-1][END]:
                    later = rate(own, own[-1][END] - LATER, LATER)
                    off.append(abs(math.log(rate(own, at[variant], AFTER) / later)) > 0.05)
            stops += at.values()
            end = min(own[-1][END] for own in block.values())
            if len(block) == 2 and all(at.values()) and max(at.values()) + AFTER + LATER <= end:
                a, b = (block[variant] for variant in sorted(block))
                then, later = ((rate(b, *when) / rate(a, *when)) for when in ((max(at.values()), AFTER), (end - LATER, LATER)))
                ratios.append(math.log(then / later))
        fired = [seconds for seconds in stops if seconds]
        after = f"{st.median(fired):.0f} ({min(fired):.0f}–{max(fired):.0f})" if fired else "–"
        scatter = f", sd {100 * st.stdev(ratios):.1f} %" if len(ratios) > 1 else ""
        ratio = f"{100 * st.mean(ratios):+.1f} %{scatter}, {len(ratios)} blocks" if ratios else "–"
        print(f"| {name} | {len(fired)} of {len(stops)} | {after} | {sum(off)} of {len(off)} | {ratio} |")


def main(stores):
    blocks = [block for store in stores for block in blocks_of(store)]

    def is_seen(own):
        return all(second[COMPILING] is not None for second in own)

    for seen in (True, False):
        chosen = [{variant: own for variant, own in block.items() if is_seen(own) == seen} for block in blocks]
        chosen = [block for block in chosen if block]
        if chosen:
            print(f"\n{sum(map(len, chosen))} launches in {len(chosen)} blocks, compilers {'seen' if seen else 'not seen'}\n")
            unknown = [] if seen else ["idle"]
            unknown += [] if any(len(block) > 1 for block in chosen) else ["ratio"]
            table(chosen, [rule for rule in RULES if not any(word in rule[0] for word in unknown)])


if __name__ == "__main__":
    main(sys.argv[1:])

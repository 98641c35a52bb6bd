"""The live calibration: many campaigns of `same-twice.toml` and some of `slower-by-5-percent.toml`, on real JRuby.

    campaigns.py BAKEOFF [MINUTES]    runs campaigns until all are done, or no further one for so many minutes
    campaigns.py --table              what came out so far

Campaign n has seed n and a store of its own in `.work`, and what is done is never done again: interrupt it and go on whenever you like.
Those of the same application twice run side by side, each bound to a processor: to every campaign the others are a neighbour who
never rests. Those of the slow-down have the machine for themselves.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
WORK = HERE / ".work"
CAMPAIGNS = {"same-twice": 60, "slower-by-5-percent": 2}


def result(study, seed):
    return WORK / study / f"{seed:03}.json"


def run(bakeoff, study, seed, processors):
    """One campaign; whether it came to its end."""
    report = result(study, seed)
    report.parent.mkdir(parents=True, exist_ok=True)
    store = report.with_suffix(".db")
    begun = ["--resume"] if store.exists() else ["--seed", str(seed)]
    command = ["taskset", "--cpu-list", processors, bakeoff, "run", str(HERE / f"{study}.toml"), "--quiet", "--json", "--no-evidence",
               "--fail-on", "never", "--store", str(store), "--html", str(report.with_suffix(".html")), *begun]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    report.with_suffix(".html").unlink(missing_ok=True)
    if done.returncode != 0:
        print(f"campaigns.py: {study} {seed} ended with exit code {done.returncode}; run this again to go on with it", file=sys.stderr)
        return False
    report.write_bytes(done.stdout)
    return True


def work_through(bakeoff, todo, until, processors, broken):
    """Takes campaigns from `todo` until there is none, it is too late, or one has broken, which `broken` then has."""
    for study, seed in todo:
        if broken or time.monotonic() > until:
            break
        if not run(bakeoff, study, seed, processors):
            broken.append((study, seed))


def chance(at_most, n, p):
    """P(X <= at_most) of a binomial X."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(at_most + 1))


def bisect(holds):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def interval(count, n):
    """The exact 95 % interval of a share (Clopper & Pearson 1934)."""
    low = 0.0 if count == 0 else bisect(lambda p: 1 - chance(count - 1, n, p) < 0.025)
    high = 1.0 if count == n else bisect(lambda p: chance(count, n, p) > 0.025)
    return low, high


def table():
    print("| study | campaigns | better | worse | equivalent | inconclusive | invalid | blocks, mean (range) | told apart |")
    print("|---|---|---|---|---|---|---|---|---|")
    for study in CAMPAIGNS:
        reports = [json.loads(path.read_text()) for path in sorted((WORK / study).glob("*.json"))]
        if not reports:
            continue
        kinds = [report["judgements"][0]["verdict"]["kind"] for report in reports]
        used = [sum(1 for block in report["blocks"] if not block["set_aside"] and None not in block["values"]) for report in reports]
        told = sum(kind in ("better", "worse") for kind in kinds)
        low, high = interval(told, len(kinds))
        counts = " | ".join(str(kinds.count(kind)) for kind in ("better", "worse", "equivalent", "inconclusive", "invalid"))
        print(f"| {study} | {len(kinds)} | {counts} | {sum(used) / len(used):.1f} ({min(used)}–{max(used)}) | "
              f"{told / len(kinds):.1%} [{low:.1%}, {high:.1%}] |")


def main():
    if sys.argv[1:] == ["--table"]:
        return table()
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    bakeoff = str(pathlib.Path(sys.argv[1]).resolve())
    minutes = float(sys.argv[2]) if len(sys.argv) == 3 else math.inf
    until = time.monotonic() + 60 * minutes
    processors = [str(processor) for processor in sorted(os.sched_getaffinity(0))]
    broken = []
    for study, shares in ("same-twice", processors), ("slower-by-5-percent", [",".join(processors)]):
        todo = iter([(study, seed) for seed in range(1, CAMPAIGNS[study] + 1) if not result(study, seed).exists()])
        workers = [threading.Thread(target=work_through, args=(bakeoff, todo, until, share, broken)) for share in shares]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    table()
    sys.exit(1 if broken else 0)


main()

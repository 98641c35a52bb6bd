"""The live calibration, on real JRuby: campaigns of `same-twice.toml`, `same-at-length.toml` and `slower-by-5-percent.toml`, the last
also beside a neighbour who comes and goes at random.

    campaigns.py BAKEOFF [MINUTES] [SERIES...]   runs campaigns (of these series) until all are done, or no further one for so many minutes
    campaigns.py --table [BAKEOFF]        what came out so far: as each was judged when it ended, or by this bakeoff, from what is stored here
    campaigns.py --covariates BAKEOFF     what the canary and CPU per request tell of the differences between equal launches

Campaign n has seed n and a store of its own in `.work`. What came out is a line of `campaigns.jsonl`, and what has one is never done again:
interrupt it and go on whenever you like, on another machine too. After a change to how bakeoff measures, begin with an empty file.
Of the same application twice as many campaigns run at once as there are processors, each bound to one: to every campaign the others are
neighbours who never rest. Those of the slow-down run one at a time, on all processors, alone or beside `neighbour.py`.
"""

import json
import math
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
WORK = HERE / ".work"
RESULTS = HERE / "campaigns.jsonl"
RESAMPLES = 2000


class Series(NamedTuple):
    """Campaigns of one study under the same conditions."""

    study: str
    campaigns: int
    # As many campaigns at once as there are processors, each bound to one; else one at a time on all of them.
    bound: bool = False
    neighbour: bool = False


SERIES = {
    "same-twice": Series("same-twice", 60, bound=True),
    "same-at-length": Series("same-at-length", 20, bound=True),
    "slower-by-5-percent": Series("slower-by-5-percent", 10),
    "slower-beside-a-neighbour": Series("slower-by-5-percent", 10, neighbour=True),
}


def store_of(series, seed):
    return WORK / series / f"{seed:03}.db"


class Outcome(NamedTuple):
    """What came out of one campaign."""

    series: str
    seed: int
    # When it ended, and how long it took.
    day: str
    minutes: float
    verdict: str
    # Blocks used, and the log ratio with its interval; None without one.
    blocks: int
    change: list | None


def done(series):
    """The outcomes that there are."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    outcomes = [Outcome(**json.loads(line)) for line in lines]
    return sorted(outcome for outcome in outcomes if outcome.series == series)


def judged(report):
    """Verdict, blocks used and log ratio of a report."""
    verdict = report["judgements"][0]["verdict"]
    effect = verdict.get("effect")
    used = sum(1 for block in report["blocks"] if not block["excluded"] and None not in block["values"])
    change = effect and [round(effect[key], 5) for key in ("estimate", "low", "high")]
    return {"verdict": verdict["kind"], "blocks": used, "change": change}


def run(bakeoff, series, seed, processors):
    """One campaign; whether it came to its end."""
    store = store_of(series, seed)
    study, neighbour = SERIES[series].study, None
    if store.exists() and not can_read(bakeoff, store):
        print(f"campaigns.py: {store} is not of this version of bakeoff; delete it to begin {series} {seed} anew", file=sys.stderr)
        return False
    if SERIES[series].neighbour:
        neighbour = subprocess.Popen([sys.executable, str(HERE / "neighbour.py"), str(seed)])
    store.parent.mkdir(parents=True, exist_ok=True)
    page = store.with_suffix(".html")
    begun = ["--resume"] if store.exists() else ["--seed", str(seed)]
    command = ["taskset", "--cpu-list", processors, bakeoff, "run", str(HERE / f"{study}.toml"), "--quiet", "--json", "--no-profile",
               "--fail-on", "never", "--store", str(store), "--html", str(page), *begun]
    began = time.monotonic()
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    minutes = (time.monotonic() - began) / 60
    if neighbour:
        neighbour.terminate()
        neighbour.wait()
    page.unlink(missing_ok=True)
    if ended.returncode != 0:
        print(f"campaigns.py: {series} {seed} ended with exit code {ended.returncode}; run this again to go on with it", file=sys.stderr)
        return False
    outcome = Outcome(series, seed, time.strftime("%Y-%m-%d"), round(minutes, 2), **judged(json.loads(ended.stdout)))
    # A short line is written at once, so campaigns side by side do not mix theirs.
    with RESULTS.open("a") as results:
        results.write(json.dumps(outcome._asdict()) + "\n")
    return True


def work_through(bakeoff, todo, until, processors, broken):
    """Takes campaigns from `todo` until there is none, it is too late, or one has broken, which `broken` then has."""
    for series, seed in todo:
        if broken or time.monotonic() > until:
            break
        if not run(bakeoff, series, seed, processors):
            broken.append((series, seed))


def read(bakeoff, command, store):
    """What this bakeoff makes of a store."""
    output = subprocess.run([bakeoff, command, "--json", "--store", str(store)], stdout=subprocess.PIPE, check=True)
    return json.loads(output.stdout)


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


def half_width(outcome):
    """Half the interval of the primary metric, in per cent."""
    _, low, high = outcome.change
    return 100 * math.expm1((high - low) / 2)


def can_read(bakeoff, store):
    """Whether a store is here, and not of another version of bakeoff."""
    command = [bakeoff, "list", "--store", str(store)]
    return store.exists() and subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def judged_anew(bakeoff, outcomes):
    """What this bakeoff makes of those whose stores it can read."""
    stored = [outcome for outcome in outcomes if can_read(bakeoff, store_of(outcome.series, outcome.seed))]
    return [one._replace(**judged(read(bakeoff, "report", store_of(one.series, one.seed)))) for one in stored]


def table(bakeoff=None):
    print("| series | campaigns | better | worse | equivalent | inconclusive | invalid | blocks, mean (range) | minutes, mean (range) | "
          "change, mean (range) | half an interval, median | called different |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for series in SERIES:
        outcomes = done(series)
        if bakeoff:
            outcomes = judged_anew(bakeoff, outcomes)
        if not outcomes:
            continue
        verdicts = [outcome.verdict for outcome in outcomes]
        counts = " | ".join(str(verdicts.count(kind)) for kind in ("better", "worse", "equivalent", "inconclusive", "invalid"))
        used, minutes = [one.blocks for one in outcomes], [one.minutes for one in outcomes]
        known = [one for one in outcomes if one.change]
        changes = [100 * math.expm1(one.change[0]) for one in known]
        change = f"{sum(changes) / len(changes):+.1f} % ({min(changes):+.1f} to {max(changes):+.1f})" if known else "–"
        half = f"{sorted(map(half_width, known))[len(known) // 2]:.1f} %" if known else "–"
        different = verdicts.count("better") + verdicts.count("worse")
        low, high = interval(different, len(outcomes))
        print(f"| {series} | {len(outcomes)} | {counts} | {sum(used) / len(used):.1f} ({min(used)}–{max(used)}) | "
              f"{sum(minutes) / len(minutes):.1f} ({min(minutes):.1f}–{max(minutes):.1f}) | {change} | {half} | "
              f"{different / len(outcomes):.1%} [{low:.1%}, {high:.1%}] |")


def differences(report, trials):
    """Of each whole block: whether it is used, and the differences of ln throughput, of ln canary, of ln CPU per request."""
    launches = {(trial["key"]["block"], trial["variant"]): trial for trial in trials if not trial["key"]["pilot"]}

    def logs(trial):
        seconds = [second for cell in trial["cells"] for second in cell["samples"]]
        cpu = sum(second["server"]["cpu_s"] for second in seconds) / sum(second["tally"]["good"] for second in seconds)
        return math.log(sum(trial["canary_ns"])), math.log(cpu)

    for block in report["blocks"]:
        if None in block["values"]:
            continue
        one, other = (logs(launches[block["block"], variant]) for variant in (0, 1))
        throughput = math.log(block["values"][1] / block["values"][0])
        yield block["excluded"] is None, throughput, other[0] - one[0], other[1] - one[1]


def explained(pairs):
    """Slope and R² of a regression of the second on the first, through their means (0 and 0 where nothing varies)."""
    n = len(pairs)
    mean_x, mean_y = (sum(pair[i] for pair in pairs) / n for i in (0, 1))
    xx, yy = (sum((pair[i] - mean) ** 2 for pair in pairs) for i, mean in ((0, mean_x), (1, mean_y)))
    xy = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    return (xy / xx, xy * xy / (xx * yy)) if xx > 0 and yy > 0 else (0.0, 0.0)


def covariates(bakeoff):
    stores = [store for store in (store_of("same-twice", outcome.seed) for outcome in done("same-twice")) if store.exists()]
    campaigns = [list(differences(read(bakeoff, "report", store), read(bakeoff, "show", store))) for store in stores]
    print("| blocks | how many | what may explain ln throughput | slope | R² [95 %] | variance that is left |")
    print("|---|---|---|---|---|---|")
    for name, all_blocks in ("used", False), ("those excluded, too", True):
        for what, column in ("canary", 2), ("CPU per request", 3):
            pairs = [[(block[column], block[1]) for block in campaign if all_blocks or block[0]] for campaign in campaigns]
            flat = [pair for campaign in pairs for pair in campaign]
            slope, share = explained(flat)
            # Whole campaigns are drawn anew: the blocks of one share their hour.
            rng = random.Random(1)
            drawn = sorted(explained(sum(rng.choices(pairs, k=len(pairs)), []))[1] for _ in range(RESAMPLES))
            low, high = drawn[RESAMPLES // 40], drawn[-RESAMPLES // 40 - 1]
            print(f"| {name} | {len(flat)} | {what} | {slope:.2f} | {share:.3f} [{low:.3f}, {high:.3f}] | {1 - share:.1%} |")


def main():
    words = sys.argv[1:]
    bakeoff = next((str(pathlib.Path(word).resolve()) for word in words if not word.startswith("--")), None)
    if words[:1] == ["--table"] and len(words) <= 2:
        return table(bakeoff)
    if words[:1] == ["--covariates"] and len(words) == 2:
        return covariates(bakeoff)
    if not bakeoff or words[0].startswith("--"):
        sys.exit(__doc__)
    wanted = [word for word in words if word in SERIES] or list(SERIES)
    minutes = next((float(word) for word in words[1:2] if word not in SERIES), math.inf)
    until = time.monotonic() + 60 * minutes
    processors = [str(processor) for processor in sorted(os.sched_getaffinity(0))]
    broken = []
    for series in wanted:
        shares = processors if SERIES[series].bound else [",".join(processors)]
        seeds = set(range(1, SERIES[series].campaigns + 1)) - {outcome.seed for outcome in done(series)}
        todo = iter([(series, seed) for seed in sorted(seeds)])
        workers = [threading.Thread(target=work_through, args=(bakeoff, todo, until, share, broken)) for share in shares]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    table()
    sys.exit(1 if broken else 0)


main()

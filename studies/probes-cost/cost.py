"""What the probes cost: reads the trials of the study as `bakeoff show --json` has them, from standard input, or from files, a run each.

Of each launch: server CPU per good answer in the seconds after a look, over that in the other seconds. A second ends with its look, and pays
for that of the second before: one that is not as the one before, the first of each span, is left out, and so is a load's first. Of each block: the mean of its two launches, which have
opposite orders, so that what changes with time falls out. Over the blocks: mean and t interval of the logarithms.
"""

import itertools
import json
import math
import statistics
import sys

# Two-sided 95 % of Student's t, by degrees of freedom.
T = [None, 12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
     2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045]


def per_answer(samples):
    return sum(one["server"]["cpu_s"] for one in samples) / sum(one["tally"]["good"] for one in samples)


def is_looked_at(sample):
    return "switches" in sample["server"]


def cost(trial):
    """ln(CPU per answer with, over without)."""
    sides = {True: [], False: []}
    for cell in trial["cells"]:
        for before, one in itertools.pairwise(cell["samples"]):
            is_whole = before["server"] and one["server"] and one["length_s"] > 0.9
            if is_whole and is_looked_at(before) == is_looked_at(one):
                sides[is_looked_at(one)].append(one)
    return math.log(per_answer(sides[True]) / per_answer(sides[False]))


def by_block(trials):
    blocks = {}
    for trial in trials:
        if trial["outcome"]["kind"] == "completed" and not trial["key"]["pilot"]:
            blocks.setdefault(trial["key"]["block"], {})[trial["variant"]] = cost(trial)
    return [statistics.mean(pair.values()) for pair in blocks.values() if len(pair) == 2]


def main():
    runs = [open(name) for name in sys.argv[1:]] or [sys.stdin]
    costs = [block for run in runs for block in by_block(json.load(run))]
    if len(costs) < 3:
        sys.exit("cost.py: three blocks or more are needed")
    middle = statistics.mean(costs)
    half = T[min(len(costs), len(T)) - 1] * statistics.stdev(costs) / math.sqrt(len(costs))
    percent = [math.expm1(value) * 100 for value in (middle, middle - half, middle + half)]
    print("the probes cost {:+.2f} % of the server's CPU per answer [{:+.2f}, {:+.2f}], {} blocks".format(*percent, len(costs)))


if __name__ == "__main__":
    main()

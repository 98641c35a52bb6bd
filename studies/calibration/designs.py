"""What launching side by side gains: the standard deviation of a block's difference in both designs, same study, same hour.

    designs.py BAKEOFF [ROUNDS] [STUDY...]    runs rounds (4) of these studies (all), then prints the table; --alone: without neighbours
    designs.py --table                        prints the table of what there is so far

One run is three blocks of one study in one design, alone or beside `neighbour.py`. A round is one run of each, the two designs straight
after one another, in changing order. Rounds and neighbours have seeds of their own, the same for both designs. Each run has a store of
its own in `.work/designs`. What is done is never done again: interrupt it and go on whenever you like.

Studies are shortened, in both designs alike: their warm-up has a fixed length, so that neither needs a pilot. All else is the study's own.
"""

import json
import math
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tomllib
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
WORK = HERE / ".work" / "designs"
ROUNDS = 4
# The fewest that a run may have.
BLOCKS = 3
DRAWS = 40_000


class Study(NamedTuple):
    """A study and the lengths of its short form."""

    file: str
    # Of each launch, seconds.
    warm_up: int
    # Of each cell, seconds.
    measure: int


STUDIES = {
    "gocd": Study("gocd-invokedynamic/study.toml", 40, 3),
    "cloud-controller": Study("cloud-controller/pair.toml", 40, 10),
    "small": Study("calibration/slower-by-5-percent.toml", 10, 10),
    "known": Study("known/slower-by-20-percent.toml", 2, 5),
}
DESIGNS = ("side-by-side", "one-after-another")
NEIGHBOURS = ("none", "at random")


class Run(NamedTuple):
    study: str
    design: str
    neighbour: str
    number: int

    def file(self, ending):
        return WORK / self.study / self.neighbour.replace(" ", "-") / self.design / f"{self.number:02}.{ending}"


def shortened(name, design):
    """The text of the study's short form: the tables about lengths, blocks and design are written anew, all others stay."""
    study = STUDIES[name]
    original = (HERE.parent / study.file).read_text()
    tables = {
        "warmup": f'fixed = "{study.warm_up}s"',
        "measure": f'duration = "{study.measure}s"',
        "decide": f'primary = "throughput"\nrope = "2%"\nblocks = {{ min = {BLOCKS}, max = {BLOCKS} }}',
        "design": f'launches = "{design}"',
    }
    # Each part begins at the head of a table.
    parts = re.split(r"^(?=\[)", original, flags=re.MULTILINE)
    kept = [part for part in parts if part.split("]")[0].removeprefix("[") not in tables]
    text = "".join(kept) + "".join(f"\n[{table}]\n{keys}\n" for table, keys in tables.items())
    others = [{key: value for key, value in tomllib.loads(one).items() if key not in tables} for one in (original, text)]
    if others[0] != others[1]:
        sys.exit(f"designs.py: {study.file} cannot be shortened: more of it would change than {', '.join(tables)}")
    return text


def short_study(run):
    """The short form as a file in the study's own folder, where its paths begin."""
    path = (HERE.parent / STUDIES[run.study].file).parent / f".short-{run.study}-{run.design}.toml"
    path.write_text(shortened(run.study, run.design))
    return path


def conduct(bakeoff, run):
    """Makes one run, or the rest of one that was interrupted."""
    store = run.file("db")
    store.parent.mkdir(parents=True, exist_ok=True)
    is_begun = store.exists()
    begun = ["--resume"] if is_begun else ["--seed", str(run.number)]
    command = [bakeoff, "run", str(short_study(run)), "--quiet", "--json", "--no-profile", "--fail-on", "never", "--store", str(store),
               "--html", str(run.file("html")), *begun]
    neighbour = None
    try:
        if run.neighbour != "none":
            neighbour = subprocess.Popen([sys.executable, str(HERE / "neighbour.py"), str(run.number)])
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    finally:
        if neighbour:
            neighbour.terminate()
            neighbour.wait()
    run.file("html").unlink(missing_ok=True)
    # With 2 bakeoff refuses to go on with a run that has come to its end.
    if ended.returncode != 0 and not (is_begun and ended.returncode == 2):
        sys.exit(f"designs.py: {run} ended with exit code {ended.returncode}; run this again to go on with it, or delete {store}")
    blocks = blocks_of(bakeoff, run)
    if not blocks:
        sys.exit(f"designs.py: {run} has no whole block: see {store}, and delete it to try again")
    part = run.file("part")
    part.write_text(json.dumps(blocks) + "\n")
    part.rename(run.file("json"))


def read(bakeoff, command, run):
    output = subprocess.run([bakeoff, command, "--json", "--store", str(run.file("db"))], stdout=subprocess.PIPE, check=True)
    return json.loads(output.stdout)


def blocks_of(bakeoff, run):
    """Of each whole block its difference, ln B/A, whether it is used, and the minutes that it took."""
    trials = [trial for trial in read(bakeoff, "show", run) if not trial["key"]["pilot"]]
    in_turns = any(cell.get("slices") for trial in trials for cell in trial["cells"])
    if in_turns != (run.design == "side-by-side"):
        sys.exit(f"designs.py: launches of {run} were not {run.design}: see {run.file('db')}")
    blocks = []
    for block in read(bakeoff, "report", run)["blocks"]:
        if None in block["values"]:
            continue
        lengths = [trial["host"]["elapsed_s"] for trial in trials if trial["key"]["block"] == block["block"]]
        # Side by side the launches of a block share its time.
        seconds = max(lengths) if in_turns else sum(lengths)
        difference = math.log(block["values"][1] / block["values"][0])
        blocks.append({"difference": difference, "used": block["excluded"] is None, "minutes": seconds / 60})
    return blocks


class Column(NamedTuple):
    """What the runs of one series came to."""

    blocks: list
    # Standard deviation of their differences, and those that the normal distribution behind them may have, at random.
    deviation: float
    drawn: list


def column(study, neighbour, design):
    """Of all runs so far; None where there are fewer than two blocks."""
    folder = Run(study, design, neighbour, 0).file("json").parent
    blocks = [block for path in sorted(folder.glob("*.json")) for block in json.loads(path.read_text())]
    if len(blocks) < 2:
        return None
    rng = random.Random(f"{study} {neighbour} {design}")
    freedom, deviation = len(blocks) - 1, statistics.stdev(block["difference"] for block in blocks)
    return Column(blocks, deviation, [deviation * math.sqrt(freedom / rng.gammavariate(freedom / 2, 2)) for _ in range(DRAWS)])


def ends(draws):
    """Their middle 90 %."""
    ordered = sorted(draws)
    return ordered[DRAWS // 20], ordered[-DRAWS // 20 - 1]


def line(study, neighbour, design, measured, beside):
    """A line of the table; `beside` is the other design's column where this one is to be compared with it."""
    used = [block["difference"] for block in measured.blocks if block["used"]]
    mean, minutes = (statistics.mean(block[key] for block in measured.blocks) for key in ("difference", "minutes"))
    error = measured.deviation / math.sqrt(len(measured.blocks))
    low, high = ends(measured.drawn)
    of_used = f"{statistics.stdev(used):.1%}" if len(used) > 1 else "–"
    ratio = ""
    if beside:
        least, most = ends([this / other for this, other in zip(measured.drawn, beside.drawn)])
        ratio = f"{measured.deviation / beside.deviation:.1f} [{least:.1f}, {most:.1f}]"
    return (f"| {study} | {neighbour} | {design} | {len(measured.blocks)} ({len(measured.blocks) - len(used)}) | {mean:+.3f} ± {error:.3f} | "
            f"{measured.deviation:.1%} [{low:.1%}, {high:.1%}] | {of_used} | {minutes:.1f} | {ratio} |")


def table():
    """What all runs so far came to. Intervals take differences for normally distributed."""
    print("| study | neighbour | design | blocks (not used) | mean of d = ln B/A ± standard error | standard deviation of d [90 %] | "
          "of used blocks alone | minutes a block | its deviation ÷ that of side by side [90 %] |")
    print("|---|---|---|---|---|---|---|---|---|")
    for study in STUDIES:
        for neighbour in NEIGHBOURS:
            beside = None
            for design in DESIGNS:
                if measured := column(study, neighbour, design):
                    print(line(study, neighbour, design, measured, beside))
                    beside = measured


def main():
    words = sys.argv[1:]
    if words == ["--table"]:
        return table()
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    bakeoff = str(pathlib.Path(words[0]).resolve())
    rounds = int(words[1]) if words[1:] and words[1].isdigit() else ROUNDS
    neighbours = NEIGHBOURS[:1] if "--alone" in words else NEIGHBOURS
    studies = [word for word in words[1:] if not word.isdigit() and word != "--alone"] or list(STUDIES)
    if unknown := [study for study in studies if study not in STUDIES]:
        sys.exit(f"designs.py: no study is called {unknown[0]}; there are {', '.join(STUDIES)}")
    # An end by TERM ends what runs, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for number in range(1, rounds + 1):
        order = DESIGNS if number % 2 else DESIGNS[::-1]
        todo = [Run(study, design, neighbour, number) for study in studies for neighbour in neighbours for design in order]
        for run in todo:
            if not run.file("json").exists():
                conduct(bakeoff, run)
    table()


if __name__ == "__main__":
    main()

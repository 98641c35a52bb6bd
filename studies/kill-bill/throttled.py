"""What bakeoff says of a machine whose processors are cut in mid-run: the same Kill Bill twice, on a machine that is throttled on purpose.

    throttled.py BAKEOFF SEED [REPETITIONS]    makes repetitions (10), of this seed and those after it, then sums up; as root
    throttled.py --table                       prints the table of what there is so far

A repetition is a run of `same-twice.toml` in a control group of its own. At a random time of the run the group's CPU quota is cut to 20 % of
all processors, and stays so, as on a cloud machine that is out of CPU credit. Client and server share such a machine, so bakeoff is in
the group with all that it starts. The very first run is not cut: it shows how long a run takes, and the others are cut within that time.

Each repetition is a line of `.work/throttled/results.jsonl`, and its store stays beside that file. What is done is never done again.
Beside the verdict stands the *naive total*: all good requests that were measured of each side by all seconds, compared.
"""

import datetime
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
STUDY = HERE / "same-twice.toml"
WORK = HERE / ".work" / "throttled"
RESULTS = WORK / "results.jsonl"
REPETITIONS = 10
# Of all processors, what is left after the cut: what cloud machines of the original's kind are left with.
LEFT = 0.2
PERIOD_US = 100_000
# Verdicts that claim a difference.
CLAIMS = ("better", "worse")


class Group:
    """A control group of one's own, of version 1 or 2, that is gone with the block that it was made for."""

    # Where groups are made, the file that takes a quota, what is written for so many µs of a period, and for no quota.
    KINDS = (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "{}", "-1"),
        ("/sys/fs/cgroup", "cpu.max", f"{{}} {PERIOD_US}", "max"),
    )

    def __enter__(self):
        for parent, quota, text, unlimited in self.KINDS:
            folder = pathlib.Path(parent) / f"bakeoff-throttled-{os.getpid()}"
            try:
                folder.mkdir()
            except OSError:
                continue
            if (folder / quota).is_file():
                self.folder, self.quota, self.text, self.unlimited = folder, folder / quota, text, unlimited
                return self
            folder.rmdir()
        sys.exit("throttled.py: no control group with a CPU quota can be made here; it takes root, and the controller `cpu`")

    def __exit__(self, *_):
        # Nothing that still ends is to be kept from it.
        self.quota.write_text(self.unlimited)
        until = time.monotonic() + 30
        while True:
            try:
                return self.folder.rmdir()
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def cut(self):
        self.quota.write_text(self.text.format(round(LEFT * len(os.sched_getaffinity(0)) * PERIOD_US)))

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))


def conduct(bakeoff, folder, seed, cut_s):
    """Runs the study, and cuts after so many seconds, if at all; its exit code, and when it was cut, if it was."""
    store = folder / "store.db"
    command = [bakeoff, "run", str(STUDY), "--quiet", "--json", "--fail-on", "never", "--seed", str(seed), "--store", str(store)]
    cut_at = None
    with Group() as group, (folder / "said.log").open("w") as said:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=group.enter)
        try:
            try:
                running.wait(cut_s)
            except subprocess.TimeoutExpired:
                cut_at = datetime.datetime.now(datetime.timezone.utc)
                group.cut()
            return running.wait(), cut_at
        finally:
            # It is still there where something else ended the waiting.
            running.terminate()
            running.wait()


def read(bakeoff, command, folder):
    output = subprocess.run([bakeoff, command, "--json", "--store", str(folder / "store.db")], stdout=subprocess.PIPE, check=True)
    return json.loads(output.stdout)


def causes(report):
    """The findings' facts that name the quota."""
    facts = [f"{finding['id']}: {fact['name']}: {fact['value']}" for finding in report["findings"] for fact in finding["facts"]]
    return [fact for fact in facts if "throttled" in fact and "CPU quota" in fact]


def naive_total(trials):
    """By how many per cent the other side is faster where each side's good requests are divided by its seconds; None where one has none."""
    speeds = []
    for variant in range(2):
        samples = [sample for trial in trials if trial["variant"] == variant for cell in trial["cells"] for sample in cell["samples"]]
        seconds = sum(sample["length_s"] for sample in samples)
        speeds.append(sum(sample["tally"]["good"] for sample in samples) / seconds if seconds else 0)
    return 100 * (speeds[1] / speeds[0] - 1) if all(speeds) else None


def has_begun_by(trial, moment):
    return datetime.datetime.fromisoformat(trial["started"]) <= moment


def repeat(bakeoff, seed, cut_s):
    """Makes one repetition from its beginning; what is kept of it."""
    folder = WORK / (str(seed) if cut_s is None else f"{seed}-cut")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    code, cut_at = conduct(bakeoff, folder, seed, cut_s)
    made = {"seed": seed, "cut_s": cut_s, "was_cut": cut_at is not None, "exit": code, "seconds": time.monotonic() - began}
    # With 5 no block could be used; with any other there is no report, and what was said says why.
    if code not in (0, 5):
        return made | {"verdict": None, "said": (folder / "said.log").read_text()}
    report, trials = (read(bakeoff, command, folder) for command in ("report", "show"))
    [judgement] = report["judgements"]
    return made | {
        "launches": len(trials),
        "begun_by_then": sum(has_begun_by(trial, cut_at) for trial in trials) if cut_at else None,
        "verdict": judgement["verdict"]["kind"],
        "sentence": judgement["sentence"],
        "findings": [f"{finding['severity']} {finding['id']}" for finding in report["findings"]],
        "causes": causes(report),
        "naive_total_percent": naive_total(trials),
    }


def kept():
    """The repetitions that are made."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def keep(made):
    with RESULTS.open("a") as results:
        results.write(json.dumps(made) + "\n")
    print(row(made), flush=True)


HEAD = "| seed | seconds | cut after | launches begun by then | said | cause named | naive total |\n|---|---|---|---|---|---|---|"


def row(made):
    """A row of the table."""
    cut = f"{made['cut_s']:.0f} s" if made["was_cut"] else "not cut"
    begun = said = named = total = ""
    if made["verdict"] is None:
        said = f"no verdict, exit code {made['exit']}"
    else:
        begun = f"{made['begun_by_then']} of {made['launches']}" if made["was_cut"] else ""
        said = made["sentence"].split(". ")[0]
        named = "; ".join(made["causes"]) or "no"
        total = "none" if made["naive_total_percent"] is None else f"{made['naive_total_percent']:+.1f} %"
    return f"| {made['seed']} | {made['seconds']:.0f} | {cut} | {begun} | {said} | {named} | {total} |"


def table():
    print("\n".join([HEAD, *map(row, kept())]))
    sum_up()


def sum_up():
    """What the repetitions so far came to."""
    cut = [made for made in kept() if made["was_cut"]]
    claims = sum(made["verdict"] in CLAIMS for made in cut)
    named = sum(bool(made.get("causes")) for made in cut)
    print(f"\nof {len(cut)} that were cut: false verdicts {claims}, cause named {named}")
    totals = [made["naive_total_percent"] for made in cut if made.get("naive_total_percent") is not None]
    if totals:
        print(f"largest naive total: {max(totals, key=abs):+.1f} %")


def main():
    words = sys.argv[1:]
    if words == ["--table"]:
        return table()
    if len(words) not in (2, 3) or not all(word.isdigit() for word in words[1:]):
        sys.exit(__doc__)
    bakeoff, first = str(pathlib.Path(words[0]).resolve()), int(words[1])
    repetitions = int(words[2]) if words[2:] else REPETITIONS
    # An end by TERM ends what runs, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    WORK.mkdir(parents=True, exist_ok=True)
    # Else the first run would take longer than the others.
    subprocess.run([str(HERE / "prepare.sh")], stdout=sys.stderr, check=True)
    print(HEAD, flush=True)
    if not any(made["cut_s"] is None for made in kept()):
        keep(repeat(bakeoff, first, None))
    [whole_s] = [made["seconds"] for made in kept() if made["cut_s"] is None]
    done = {made["seed"] for made in kept() if made["cut_s"] is not None}
    for seed in range(first, first + repetitions):
        if seed not in done:
            keep(repeat(bakeoff, seed, random.Random(seed).uniform(0, whole_s)))
    sum_up()


if __name__ == "__main__":
    main()

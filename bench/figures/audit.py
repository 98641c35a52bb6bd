"""Reading a large JTL: bakeoff audit beside JMeter's own report, in time, CPU time and memory."""

import gzip
import json
import os
import pathlib
import shutil
import tempfile
from dataclasses import dataclass

import host
from report import Section, least, most, notes, shown, table
from rounds import interleave, median, missing, ratio, ratios, say

GB = float(os.environ.get("JTL_GB", "1"))
ROUNDS = int(os.environ.get("JTL_ROUNDS", "3"))
ROWS = pathlib.Path(os.environ.get("JTL_ROWS", host.ROOT.parent / "shared/data/killbill/run-07_3.jtl.gz"))
LONGEST_MS = 60 * 24 * 3600 * 1000  # what bakeoff takes for one run has an end
LIMIT = 3600  # s
HEAP = os.environ.get("HEAP", "-Xms1g -Xmx4g")

MB_PER_CPU_S, MB, TIMES_FASTER, TIMES_LESS = 500, 300, 20, 10

COLUMNS = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)

TEXT = """`bakeoff audit --json FILE` and JMeter's `jmeter -g FILE -o FOLDER` on the same file, {gb:.2f} GB with {rows:,} requests. It lay in
the page cache. It repeats the requests of a real run of 4 h, with times moved and durations varied. Its columns are JMeter's own
defaults, with a line of names. What the real file does not have (message, sent bytes,
URL, idle time, connect) is empty, `null` or 0. Both may use all cores, and both have to count all requests. JMeter's Java has
`{heap}`: its own default, 1 GB, is too little for a file of 1 GB, at which it ends with `Java heap space`. Its report
is a folder of HTML. CPU is user and system time of the whole process, memory the peak of what is resident (`VmHWM`). MB are
10⁶ bytes. Medians of {rounds} runs in turns (least – most); ratios are of the medians."""


@dataclass
class Run:
    seconds: float
    cpu_s: float
    mb: float  # resident, at most


@dataclass
class Reader:
    """A program that reads the file."""

    name: str
    program: str
    hint: str

    def missing(self):
        return None if host.find(self.program) else self.hint


OURS = Reader("bakeoff audit", "bakeoff", "not built")
JMETER = Reader("JMeter's report", "jmeter", "not installed: bench/peers.sh builds it where Maven is")


def measure():
    with tempfile.TemporaryDirectory(prefix="bakeoff-bench-") as folder:
        file = pathlib.Path(folder) / "big.jtl"
        rows = make(file)
        size = file.stat().st_size
        readers = [OURS, JMETER]
        found, complaints = interleave(f"{size / 1e9:.2f} GB", readers, lambda reader: once(reader, file, rows), ROUNDS)
    of = {what: {name: [run and getattr(run, what) for run in runs] for name, runs in found.items()} for what in ("seconds", "cpu_s", "mb")}
    speed = {name: [cpu_s and size / 1e6 / cpu_s for cpu_s in values] for name, values in of["cpu_s"].items()}
    ours, theirs = OURS.name, JMETER.name
    bars = [
        least("MB read per CPU s", median(speed[ours]), MB_PER_CPU_S, "{:.0f}", speed[ours]),
        most("resident", median(of["mb"][ours]), MB, "{:.0f} MB", of["mb"][ours]),
        *(
            least(f"{what}: JMeter ÷ bakeoff", ratio(of[key][theirs], of[key][ours]), wanted, "{:.1f}", ratios(of[key][theirs], of[key][ours]))
            for what, key, wanted in (("wall time", "seconds", TIMES_FASTER), ("memory", "mb", TIMES_LESS))
        ),
    ]
    lines = [
        [name, spread(of["seconds"][name]), spread(of["cpu_s"][name]), spread(speed[name], "{:.0f}"), spread(of["mb"][name], "{:.0f}")]
        for name in found
    ]
    header = ["reader", "wall, s", "CPU, s", "MB per CPU s", "resident, MB"]
    text = TEXT.format(gb=size / 1e9, rows=rows, rounds=ROUNDS, heap=HEAP)
    if (jmeter := host.find(JMETER.program)) and (version := version_of(jmeter)):
        text += f" It is JMeter {version} on {host.first_line('java', '-version')}."
    return Section("Reading a large JTL", "\n\n".join([text, table(header, lines), notes(missing(readers) | complaints)]), bars)


def spread(values, form="{:.1f}"):
    values = [value for value in values if value is not None]
    between = f" ({form.format(min(values))} – {form.format(max(values))})" if values else ""
    return shown(median(values), form) + between


def make(file):
    """Writes the file; returns how many requests it has."""
    if not ROWS.is_file():
        raise host.Failed(f"the requests that the file is made of are not here: {ROWS}")
    say(f"  making {GB:g} GB")
    real = [row.split("|") for row in gzip.open(ROWS, "rt").read().splitlines()]
    began = min(int(row[0]) for row in real)
    took = max(int(row[0]) + int(row[1]) for row in real) - began
    row_bytes = sum(map(len, (line(row, 0, 0) for row in real))) / len(real)
    copies = max(round(GB * 1e9 / row_bytes / len(real)), 1)
    # The copies lie one after another; where there are too many for one run's time, each is shorter.
    each = min(took, LONGEST_MS // copies)
    with file.open("w", encoding="utf-8") as to:
        to.write(COLUMNS + "\n")
        for copy in range(copies):
            for number, row in enumerate(real):
                at = began + copy * each + (int(row[0]) - began) * each // took
                to.write(line(row, at, int(row[1]) + (copy * 31 + number * 17) % 101))
    return copies * len(real)


def line(row, began, elapsed):
    """A row of the real file (`shared/data/README.md`) in JMeter's default columns."""
    _, _, label, code, thread, success, size, of_group, of_all, latency = row[:10]
    return f"{began or row[0]},{elapsed or row[1]},{label},{code},,{thread},text,{success},,{size},0,{of_group},{of_all},null,{latency},0,0\n"


def once(reader, file, rows):
    peak = 0

    def watch(pid):
        nonlocal peak
        peak = host.memory_kb(pid, "VmHWM") or peak

    if reader is OURS:
        ran = host.run([host.find(reader.program), "audit", "--json", file], LIMIT, watch, cores=host.CORES)
        counted = json.loads(ran.output)["runs"][0]["requests"]
    else:
        folder = file.parent / "report"
        temporary = f"-Jjmeter.reportgenerator.temp_dir={file.parent / 'temp'}"
        command = [host.find(reader.program), "-g", file, "-o", folder, "-j", file.parent / "jmeter.log", temporary]
        try:
            ran = host.run(command, LIMIT, watch, {"HEAP": HEAP}, host.CORES)
            counted = json.loads((folder / "statistics.json").read_text())["Total"]["sampleCount"]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if not peak:
        raise host.Failed("it ended before its memory could be seen")
    if counted != rows:
        raise host.Failed(f"it counted {counted:,} requests of {rows:,}")
    return Run(ran.seconds, ran.cpu_s, peak * 1024 / 1e6)


def version_of(jmeter):
    with tempfile.TemporaryDirectory() as folder:
        said = host.run([jmeter, "--version", "-j", pathlib.Path(folder) / "jmeter.log"]).output
    return next((word for word in said.split() if word[:1].isdigit()), None)

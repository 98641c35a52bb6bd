"""Breaks Kill Bill in every way that is known, and looks at what bakeoff says: each fault is tried on the real server.

    faults.py BAKEOFF [FAULT...]    tries these (all); as root, a few minutes each

Each fault is a change to `same-twice.toml`, or something done while that runs. What is expected: bakeoff ends by itself with the right exit
code, says what is wrong and where, keeps every trial that it had stored, and leaves no process. What it said stays in `.work/faults/FAULT`.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import Callable, NamedTuple

HERE = pathlib.Path(__file__).parent
WORK = HERE / ".work" / "faults"
# What a run, or a part of it that is waited for, takes at most.
LONGEST_S = 1_200
JMX_PORT = 1099
H2_PORT = 8082
H2 = "jdbc:h2:mem:killbill;MODE=MYSQL;DB_CLOSE_DELAY=-1;DB_CLOSE_ON_EXIT=FALSE"
OTHER = 'other = { env = { SIDE = "other" } }'
SHORT = {'fixed = "5s"': 'fixed = "2s"', 'duration = "10s"': 'duration = "5s"'}
POSTGRESQL = {
    H2: "jdbc:postgresql://127.0.0.1:{port.database}/killbill",
    "./prepare.sh": "./prepare.sh && ../postgresql.sh .work/made/database template",
    "[[workload]]": '[[service]]\nname = "database"\n'
    'command = "../postgresql.sh .work/made/database serve {port.database}"\n\n[[workload]]',
}
HOST_NETWORK = {'network = "own"': 'network = "host"'}


class Fault(NamedTuple):
    """What is broken, and what is to come of it."""

    what: str
    # Texts of the study, and what stands there instead.
    changes: dict
    # Exit code.
    code: int
    # Of what bakeoff says, however its lines are broken.
    says: tuple
    # What is done while it runs; the trials that were stored before that.
    meanwhile: Callable = lambda run: []
    # Whether its folder is a disk of its own.
    has_disk: bool = False


def of_other(properties):
    """The other side of the study with these properties."""
    return {OTHER: f"other = {{ properties = {{ {', '.join(f'{json.dumps(name)} = {json.dumps(value)}' for name, value in properties.items())} }} }}"}


class Run:
    """A run of bakeoff's, in a folder of its own."""

    def __init__(self, bakeoff, folder, study):
        self.bakeoff, self.folder, self.study = bakeoff, folder, study
        self.held = []
        self.start("--seed", "1")

    def start(self, *words):
        with self.said(".out").open("a") as out, self.said(".err").open("a") as err:
            command = [self.bakeoff, "run", str(self.study), "--store", self.store(), *words]
            self.process = subprocess.Popen(command, stdout=out, stderr=err)

    def store(self):
        return str(self.folder / "store.db")

    def said(self, ending):
        """Not on the folder's disk, which may be full."""
        return self.folder.with_suffix(ending)

    def trials(self):
        show = subprocess.run([self.bakeoff, "show", "--json", "--store", self.store()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(show.stdout) if show.returncode == 0 else []

    def until(self, what, holds):
        end = time.monotonic() + LONGEST_S
        while not (found := holds()):
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"faults.py: waited in vain for {what}; see {self.said('.err')}")
            time.sleep(0.2)
        return found

    def descendants(self):
        parents = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass  # it has ended
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
            found |= more
        return found - {self.process.pid}

    def has_load(self):
        names = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/comm")
        return any(read(name) == b"load-0\n" for name in names)


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def words_of(pid):
    return read(pathlib.Path(f"/proc/{pid}/cmdline")).decode(errors="replace").split("\0")


def end_database(run):
    """In the third launch, under load."""
    run.until("two trials", lambda: len(run.trials()) >= 2)
    before = run.trials()
    run.until("a load", run.has_load)
    is_server = lambda words: words[0].endswith("/postgres") and "-D" in words
    [server] = run.until("a database", lambda: [pid for pid in run.descendants() if is_server(words_of(pid))])
    os.kill(server, signal.SIGINT)
    return before


def fill_disk(run):
    run.until("two trials", lambda: len(run.trials()) >= 2)
    before = run.trials()
    with (run.folder / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(1 << 12))
        except OSError:
            return before


def hold_ports(run):
    run.held += [listener_on(port) for port in (JMX_PORT, H2_PORT)]
    return []


def listener_on(port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen()
    return listener


FAULTS = {
    "database-ends": Fault("the database is ended in the third launch", SHORT | POSTGRESQL, 0, (
        "trial-failed", "service database ended by itself", "database system is shut down"), end_database),
    "database-refuses": Fault("the database does not let one side in", SHORT | POSTGRESQL | of_other({"org.killbill.dao.user": "stranger"}) | {
        'within = "180s"': 'within = "60s"'}, 5, (
        "trial-failed (other: failed 2 of 2 launches", "no pg_hba.conf entry for host")),
    "wrong-password": Fault("the plugins' pool has a wrong password, so the health check is red", SHORT | of_other({
        "org.killbill.billing.osgi.dao.password": "wrong", "study.healthy.within.s": "30"}), 5, (
        "trial-failed (other: failed 2 of 2 launches", "not healthy within 30 s: ", "osgi.pool.ConnectivityCheck")),
    "no-plugin": Fault("the payment plugin is not there", SHORT | of_other({"org.killbill.osgi.bundle.install.dir": "{dir}/.work/made/none"}), 5, (
        "trial-failed (other: failed 2 of 2 launches", "step `add payment method` failed", "Payment plugin gateway is not registered")),
    "pending": Fault("the gateway leaves payments pending", SHORT | of_other({"gateway.answer": "PENDING"}), 5, (
        "responses-differ", "step capture", "status 201 | 400")),
    "slow-gateway": Fault("the gateway takes longer than Kill Bill waits", SHORT | of_other({
        "gateway.delay.ms": "12000", "org.killbill.payment.plugin.timeout": "10s"}), 5, (
        "responses-differ", "step authorize", "status 201 | 504")),
    "full-disk": Fault("the disk is full from the third launch on", SHORT, 1, (
        "what was measured is stored, --resume goes on",), fill_disk, has_disk=True),
    "ports-taken": Fault("others listen on Kill Bill's ports, outside of its network", SHORT, 0, ("3 blocks",), hold_ports),
    "listener-left": Fault(f"each launch leaves a listener on port {JMX_PORT}", SHORT | HOST_NETWORK | {
        "[warmup]": '[[assertion]]\nname = "what is left"\nwhen = "after"\nexpect = "there"\n'
        f'command = "setsid python3 faults.py --listen {JMX_PORT} > {{trial_dir}}/left.log 2>&1 & echo there"\n\n[warmup]'}, 0, ("3 blocks",)),
}
# Of no launch's log: Kill Bill has met somebody else on its port, and goes on after a minute.
MET_ANOTHER = "java.rmi."
# Of no report: each of these differences is declared.
UNDECLARED = "confounded"


def listen(port):
    """From when it can, for longer than anybody waits for."""
    listener = None
    while listener is None:
        try:
            listener = listener_on(port)
        except OSError:
            time.sleep(0.1)
    time.sleep(LONGEST_S)


def study_of(name):
    """The study with the fault, in the folder where its paths begin."""
    text = (HERE / "same-twice.toml").read_text()
    for old, new in FAULTS[name].changes.items():
        if old not in text:
            sys.exit(f"faults.py: same-twice.toml has no `{old}`")
        text = text.replace(old, new)
    path = HERE / f".short-{name}.toml"
    path.write_text(text)
    return path


def left_behind(folder):
    """Processes that have to do with a folder, by their words or by a file that they hold open."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        if int(entry.name) == os.getpid():
            continue
        try:
            files = [os.readlink(file) for file in (entry / "fd").iterdir()]
        except OSError:
            files = []
        words = " ".join(words_of(entry.name))
        if any(str(folder) in text for text in [words, *files]):
            found.append(f"{entry.name}: {words}")
    return found


def attempt(bakeoff, name):
    """Tries one; whether all was as it should be."""
    fault = FAULTS[name]
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if fault.has_disk:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(folder)], check=True)
    run = None
    try:
        for ending in (".out", ".err"):
            folder.with_suffix(ending).unlink(missing_ok=True)
        run = Run(bakeoff, folder, study_of(name))
        before = fault.meanwhile(run)
        code = run.process.wait(LONGEST_S)
        wrong = [f"left behind: {process}" for process in left_behind(folder)]
        wrong += [] if code == fault.code else [f"exit code {code}, not {fault.code}"]
        said = run.said(".out").read_text() + run.said(".err").read_text().replace("│", " ")
        wrong += [f"not said: {text}" for text in fault.says if text not in " ".join(said.split())]
        wrong += [f"said: {UNDECLARED}"] if UNDECLARED in said else []
        logs = folder.rglob("server.log")
        wrong += [f"{MET_ANOTHER} in {log}" for log in logs if MET_ANOTHER in log.read_text(errors="replace")]
        wrong += [] if run.trials()[:len(before)] == before else ["trials that were stored are lost or changed"]
        if fault.has_disk:
            wrong += resumed(run, before)
        print(f"\n{name}: {fault.what}\n{run.said('.err').read_text().rstrip()}")
        print("\n".join(wrong) or "as it should be", flush=True)
        return not wrong
    finally:
        if run:
            run.process.terminate()
            run.process.wait()
            for held in run.held:
                held.close()
        if fault.has_disk:
            subprocess.run(["umount", str(folder)], check=True)


def resumed(run, before):
    """What is wrong where the run goes on once there is room again."""
    (run.folder / "filler").unlink()
    run.start("--resume")
    code = run.process.wait(LONGEST_S)
    trials = run.trials()
    wrong = [] if code == 0 else [f"exit code {code} when it went on"]
    wrong += [] if trials[:len(before)] == before else ["trials that were stored are lost or changed when it went on"]
    failed = [trial["outcome"] for trial in trials if trial["outcome"]["kind"] != "completed"]
    return wrong + [f"blamed on a variant: {outcome}" for outcome in failed]


def main():
    words = sys.argv[1:]
    if words[:1] == ["--listen"]:
        return listen(int(words[1]))
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    names = words[1:] or list(FAULTS)
    if unknown := [name for name in names if name not in FAULTS]:
        sys.exit(f"faults.py: no fault is called {unknown[0]}; there are {', '.join(FAULTS)}")
    # An end by TERM ends what runs, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    WORK.mkdir(parents=True, exist_ok=True)
    bakeoff = str(pathlib.Path(words[0]).resolve())
    wrong = [name for name in names if not attempt(bakeoff, name)]
    print(f"\n{len(names) - len(wrong)} of {len(names)} faults ended as they should" + (f"; not {', '.join(wrong)}" if wrong else ""))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

"""What a figure found, and RESULTS.md made of all that were found."""

import dataclasses
import datetime
import json
import subprocess
from dataclasses import dataclass

import host
import peers
import servers

RESULTS = host.ROOT / "bench" / "RESULTS.md"
STORE = host.ROOT / "bench" / "results"


@dataclass
class Bar:
    """Something that is wanted, and whether it is so; `met` is `None` where it could not be found out."""

    what: str
    wanted: str
    found: str
    met: bool | None


@dataclass
class Section:
    title: str
    text: str
    bars: list


def least(what, found, wanted, form="{:.2f}", spread=()):
    return _bar(what, found, "≥", wanted, form, spread)


def most(what, found, wanted, form="{:.2f}", spread=()):
    return _bar(what, found, "≤", wanted, form, spread)


def _bar(what, found, sign, wanted, form, spread):
    if found is None:
        return Bar(what, f"{sign} {form.format(wanted)}", "not measured", None)
    spread = [value for value in spread if value is not None]
    met = found >= wanted if sign == "≥" else found <= wanted
    between = f" ({form.format(min(spread))} – {form.format(max(spread))})" if spread else ""
    return Bar(what, f"{sign} {form.format(wanted)}", form.format(found) + between, met)


def shown(value, form="{:.1f}"):
    """A value for a table; a dash for none."""
    return "–" if value is None else form.format(value)


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def notes(complaints):
    """Whoever is missing or was not believed, a line each."""
    return "\n".join(f"- {name}: {complaint}" for name, complaint in complaints.items())


def store(name, section, watch):
    """Keeps a figure for this report and later ones, in the repository: one figure measured anew leaves the others there."""
    STORE.mkdir(parents=True, exist_ok=True)
    when = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=host.ROOT, capture_output=True, text=True)
    noise = (
        f"{when}, {commit.stdout.strip() or 'no git'}. Cores that other processes used meanwhile: {watch.others:.2f};"
        f" that the hypervisor gave to others: {watch.steal:.2f}."
    )
    about = {"noise": noise, "machine": host.describe(), "versions": versions()}
    kept = json.dumps({**dataclasses.asdict(section), **about}, indent=1, ensure_ascii=False)
    (STORE / f"{name}.json").write_text(kept + "\n")


def write(names):
    """RESULTS.md, of all figures that are kept, in the order of `names`. Returns its text."""
    kept = [json.loads(path.read_text()) for name in names if (path := STORE / f"{name}.json").is_file()]
    marks = {True: "✓ pass", False: "✗ **miss**", None: "? not measured"}
    bars = [
        [section["title"], bar["what"], bar["wanted"], bar["found"], marks[bar["met"]]]
        for section in kept
        for bar in section["bars"]
    ]
    sections = "\n\n".join(f"## {each['title']}\n\n{each['text']}\n\n{each['noise']}" for each in kept)
    newline = "\n"
    programs = dict.fromkeys(f"- {version}" for each in kept for version in each["versions"])
    text = f"""# What the client costs, and how exact it is

What bakeoff's own load client costs in CPU time beside other clients, and how exact its latencies are. Written by `make bench`;
run it again for your machine, best while it does nothing else. Server and client have a core each; all is over loopback.
What is wanted is held against `bakeoff load` as it comes, without flags. How fast `bakeoff audit` reads is measured by
`make bench-audit`.

{table(["figure", "of bakeoff", "wanted", "found (least – most)", ""], bars)}

{sections}

## Machine and versions

{table(["figure", "machine"], [[each["title"], each["machine"]] for each in kept])}

{newline.join(programs)}
"""
    RESULTS.write_text(text)
    return text


def versions():
    """What is here of all that is measured, or measures, with its version."""
    here = [host.first_line("rustc", "--version"), *([servers.Nginx.version()] if host.find("nginx") else [])]
    clients = [peers.Wrk(), peers.Wrk2(), peers.Ab(), peers.H2load(), peers.Oha(), peers.K6()]
    return here + [f"{peer.name}: {peer.version()}" for peer in clients if not peer.missing()]

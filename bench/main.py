"""Measures the figures that are named, or all short ones, and writes RESULTS.md. Started by run.sh."""

import argparse
import importlib
import signal
import sys

import host
import report
from rounds import say

SHORT = ["cost", "delay", "stall", "pacing", "memory", "crowd"]
ALL = [*SHORT, "endurance", "audit"]


def main():
    parser = argparse.ArgumentParser(prog="bench/run.sh", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(ALL)}; else all but endurance and audit")
    parser.add_argument("--long", action="store_true", help="endurance, which takes ten minutes")
    arguments = parser.parse_intermixed_args()
    asked = arguments.figures + ["endurance"] * arguments.long or SHORT
    if unknown := set(asked) - set(ALL):
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    if not host.TWO_CORES:
        sys.exit("bench: two cores are needed, one for the server and one for the client")
    # Servers are ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed = [name for name in asked if not measured(name)]
    print(report.write(ALL))
    if failed:
        sys.exit(f"bench: could not be measured: {', '.join(failed)}")


def measured(name):
    """Measures a figure and keeps it; `False` when that failed, which is reported."""
    figure = importlib.import_module(f"figures.{name}")
    say(f"{name}: {figure.__doc__.strip()}")
    try:
        with host.Watch() as watch:
            section = figure.measure()
    except (host.Failed, OSError) as failure:
        say(f"  failed: {failure}")
        return False
    say(f"  took {watch.elapsed:.0f} s")
    report.store(name, section, watch)
    return True


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""measure.py: how often the first finding of heed doctor is right, on labelled runs.

    python3 tests/doctor/faults.py /tmp/doctor           builds a heed with faults
    python3 tests/doctor/measure.py /tmp/doctor          trains the runs, and prints the table

Options choose a part: --only seen, held-out or healthy, --kind NAME, --count N runs of each broken kind,
--healthy N. Trained runs are kept in FOLDER/runs, so that a second call takes seconds.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import kinds  # noqa: E402
import runs  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
NOTHING = "nothing found"


def first_finding(folder, program, faulty):
    fault = folder / "fault"  # the doctor of a program with a fault has the fault too
    names = {**os.environ, **({"HEED_FAULT": fault.read_text()} if fault.exists() else {})}
    call = subprocess.run([faulty if fault.exists() else program, "doctor", "run"], env=names,
                          cwd=folder, capture_output=True, text=True, errors="replace")
    (folder / "doctor.txt").write_text(call.stdout + call.stderr)
    if call.returncode != 0:
        return "error"
    found = re.search(r"^1\. (.*)$", call.stdout, re.M)
    return found.group(1) if found else NOTHING


def measured(kind, expected, count, options):
    """A Counter of the first findings of the runs of a kind, and how many are right."""
    found = collections.Counter()
    for number in range(count):
        try:
            folder = runs.trained(kind, number, options.heed, options.faulty, options.folder / "runs")
        except RuntimeError as error:
            print(f"{kind} {number}: not trained: {error}", file=sys.stderr)
            continue
        finding = first_finding(folder, options.heed, options.faulty)
        found[finding] += 1
        if finding not in expected and options.verbose:
            print(f"  {folder}: {finding}", flush=True)
    right = sum(found[name] for name in expected)
    print(f"| {kind} | {', '.join(f'{name} {n}' for name, n in found.most_common())} | "
          f"{right} of {sum(found.values())} |", flush=True)
    return right, sum(found.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--heed", type=pathlib.Path, default=PROJECT / "build/release/heed")
    parser.add_argument("--faulty", type=pathlib.Path)
    parser.add_argument("--only", choices=["seen", "held-out", "healthy"])
    parser.add_argument("--kind", default="")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--healthy", type=int, default=200)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.faulty = options.faulty or options.folder / "build/heed"
    for name, part in (("seen", kinds.SEEN), ("held-out", kinds.HELD_OUT),
                       ("healthy", {"healthy": [NOTHING]})):
        if options.only not in (None, name):
            continue
        print(f"\n{name}\n\n| kind | first findings | right |\n|---|---|---|")
        totals = [measured(kind, expected, options.healthy if name == "healthy" else options.count, options)
                  for kind, expected in part.items() if options.kind in kind]
        right, count = (sum(values) for values in zip(*totals)) if totals else (0, 0)
        print(f"| all | | {right} of {count}{f', {100 * right / count:.1f} %' if count else ''} |")


if __name__ == "__main__":
    main()

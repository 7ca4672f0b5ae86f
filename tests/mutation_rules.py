#!/usr/bin/env python3
"""mutation_rules.py: changes one place of src at a time, by rules, and shows that a test then fails.

    python3 tests/mutation_rules.py --again 60        test 60 mutants of caught_by.txt again
    python3 tests/mutation_rules.py --sample 600      test the first 600 mutants of a random order
    python3 tests/mutation_rules.py --sample 600 --new   the same, without those that a list has
    python3 tests/mutation_rules.py                   test all mutants (a night)
    python3 tests/mutation_rules.py --planted         test only the faults of mutation/planted.py
    python3 tests/mutation_rules.py --list            print all mutants

mutation.py has a table of mutants of src/ops, chosen by hand. This script covers all .cpp files of
src; mutation/rules.py has the rules. It compiles the mutants into one program, beside the original
code (mutant schemata: Untch, Offutt, Harrold 1993), and an environment variable turns one of them on.
A mutant that does not compile this way does not count. Each mutant runs the tests that reach it,
until one fails. mutation/caught_by.txt has the mutants that were caught, each with a test that fails.
mutation/equivalent.txt has the mutants that change nothing a test could see, each with the reason.

The project must have been built (./heed setup). The script needs CMake's Ninja generator, uses the
objects of that build, and writes only to a folder of its own.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mutation"))
sys.dont_write_bytecode = True

from build import JOBS, Build, BuildError  # noqa: E402
from confine import can_confine  # noqa: E402
from planted import PLANTED  # noqa: E402
from rules import PROJECT, Mutant, all_mutants, named, shuffled, source_text  # noqa: E402
from tests import Test, Tests  # noqa: E402

LISTS = PROJECT / "tests/mutation"


def remembered(file):
    """{name of a mutant: the indented lines below it} of a list in tests/mutation."""
    result, name = {}, None
    for line in (LISTS / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("src/"):
            name = line
        elif line.startswith(" ") and name:
            result[name] = " ".join([result[name], line.strip()] if name in result
                                    else [line.strip()])
    return result


def planted():
    """{name: mutant} of the faults in planted.py."""
    result = {}
    for file, old, new in PLANTED:
        text = source_text(file)
        if text.count(old) != 1:
            sys.exit(f"mutation_rules.py: {file}: found {text.count(old)} times, not once: {old}")
        name = re.sub(r"\s+", " ", f"{file}  planted: {old}  ->  {new or '(nothing)'}")
        result[name] = Mutant(file, "planted", text.index(old), text.index(old) + len(old), new)
    return result


class Run:
    def __init__(self, options, mutants, folder):
        self.options, self.mutants = options, mutants
        self.began = time.monotonic()
        self.equivalent, self.caught_by = remembered("equivalent.txt"), remembered("caught_by.txt")
        self.build = Build(options.build, folder)
        self.tests = Tests(self.build)

    def say(self, text):
        print(f"{text}, after {time.monotonic() - self.began:.0f} s", flush=True)

    def compile(self):
        """Builds the programs; returns [(number, name, mutant)] of the mutants that compile."""
        numbered = [(i + 1, name, mutant) for i, (name, mutant) in enumerate(self.mutants.items())
                    if name not in self.equivalent]
        files = {}
        for number, _, mutant in numbered:
            files.setdefault(mutant.file, []).append((number, mutant))
        dropped = self.build.compile_all(files)
        self.build.compile_switches()
        self.build.link()
        self.say(f"{len(numbered) - len(dropped)} of {len(numbered)} mutants compiled")
        return [each for each in numbered if each[0] not in dropped]

    def judged(self, numbered, judge):
        """(name, verdict) of each mutant, in two threads."""
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            verdicts = pool.map(lambda each: judge(each[0], each[1], each[2]), numbered)
            for (_, name, _), verdict in zip(numbered, verdicts):
                if verdict:
                    self.caught_by[name] = verdict
                    print(f"{name}\n    {verdict}", flush=True)
                yield name, verdict

    def remembered_failure(self, number, name, _):
        line = re.sub("^(timeout|crash): ", "", self.caught_by.get(name, ""))
        program, _, test = line.partition(": ")
        if not test:
            return ""
        if test not in self.tests.names_of(program):
            print(f"caught_by.txt names a test that does not exist: {line}", flush=True)
            return ""
        return self.tests.failure(number, [Test(program, test, "", 10)])

    def reached_failure(self, number, _, mutant):
        tests = self.tests.reaching.get(number)
        return self.tests.verdict(number, mutant, tests, self.options.seconds)

    def all(self):
        numbered = self.compile()
        verdicts = dict(self.judged(numbered, self.remembered_failure))
        left = [each for each in numbered if not verdicts[each[1]]]
        self.say(f"{len(numbered) - len(left)} mutants caught by the tests of caught_by.txt")
        if left:
            self.tests.find_reaching(len(self.mutants))
            self.say("the tests of each mutant found")
            verdicts.update(self.judged(left, self.reached_failure))
        return self.summary(verdicts)

    def planted(self):
        """Compiles each fault by itself, because a switch cannot leave out what it changes."""
        self.build.compile_switches()
        verdicts = self.changed(self.mutants, self.remembered_failure)
        left = {name: self.mutants[name] for name, verdict in verdicts.items() if not verdict}
        if left:
            self.build.objects = {}
            self.build.link()
            self.tests.find_reaching(0)
            verdicts.update(self.changed(left, lambda number, _, mutant: self.tests.verdict(
                number, mutant, self.tests.everything, self.options.seconds)))
        return self.summary(verdicts)

    def changed(self, mutants, judge):
        """{name: verdict} of the mutants that compile."""
        verdicts = {}
        for name, mutant in mutants.items():
            if self.build.replace(mutant.file, mutant.applied_to(source_text(mutant.file))):
                self.build.link()
                verdicts.update(self.judged([(0, name, mutant)], judge))
        return verdicts

    def summary(self, verdicts):
        survived = [name for name, verdict in verdicts.items() if not verdict]
        for name in survived:
            print(f"{name}\n    {'NO TEST REACHES IT' if verdicts[name] is None else 'SURVIVED'}")
        ends = [verdict.partition(": ")[0] for verdict in verdicts.values() if verdict]
        known = len(set(self.equivalent) & set(self.mutants))
        self.say(f"{len(self.mutants)} mutants: {len(verdicts) - len(survived)} caught "
                 f"({ends.count('timeout')} by a timeout, {ends.count('crash')} by a crash), "
                 f"{len(survived)} survived, {known} equivalent, "
                 f"{len(self.mutants) - known - len(verdicts)} do not compile")
        if self.options.record:
            self.write_caught_by()
        return 1 if survived else 0

    def write_caught_by(self):
        lines = (LISTS / "caught_by.txt").read_text(encoding="utf-8").splitlines()
        head = [line for line in lines if line.startswith("#")]
        rows = [f"{name}\n    {test}" for name, test in sorted(self.caught_by.items()) if test]
        (LISTS / "caught_by.txt").write_text("\n".join(head + rows) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--planted", action="store_true", help="only the faults of planted.py")
    parser.add_argument("--only", metavar="PATTERN", default="", help="those whose line matches")
    parser.add_argument("--sample", metavar="N", type=int, help="the first N of a random order")
    parser.add_argument("--again", metavar="N", type=int,
                        help="N mutants of caught_by.txt, in few files, drawn at random")
    parser.add_argument("--new", action="store_true",
                        help="leave out those of caught_by.txt and equivalent.txt")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the order (1)")
    parser.add_argument("--seconds", metavar="S", type=float, default=100,
                        help="test a mutant with tests of S seconds at most (100)")
    parser.add_argument("--build", metavar="DIR", default=PROJECT / "build/release",
                        help="the project's build (build/release)")
    parser.add_argument("--record", action="store_true", help="write caught_by.txt")
    parser.add_argument("--keep", metavar="DIR", help="build there, and use it again")
    options = parser.parse_args()
    mutants = planted() if options.planted else named(all_mutants())
    order = shuffled(mutants, options.seed) if options.sample else list(mutants)
    if options.again:
        caught = [name for name in remembered("caught_by.txt") if name in mutants]
        files = shuffled({mutants[name].file for name in caught}, options.seed)
        order = sorted(caught, key=lambda name: files.index(mutants[name].file))[:options.again]
    order = [name for name in order if re.search(options.only, name)][:options.sample]
    if options.new:
        known = {**remembered("caught_by.txt"), **remembered("equivalent.txt")}
        order = [name for name in order if name not in known]
    if options.list:
        print(*order, f"{len(order)} mutants", sep="\n")
        return 0
    if not can_confine():
        print("skipped: without Landlock (Linux 6.2), a mutant could remove files of this machine")
        return 0
    os.nice(10)
    chosen = {name: mutants[name] for name in order}
    with tempfile.TemporaryDirectory(prefix="heed_mutation_") as temporary:
        run = Run(options, chosen, pathlib.Path(options.keep or temporary).resolve())
        return run.planted() if options.planted else run.all()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BuildError as error:
        sys.exit(f"mutation_rules.py: {error}")

#!/usr/bin/env python3
"""mutation.py: changes one token of src at a time, by rules, and shows that a test then fails.

    python3 tests/mutation.py --sample 60             test the first 60 mutants of a random order
    python3 tests/mutation.py --only src/ops/softmax  test the mutants whose name matches a pattern
    python3 tests/mutation.py --chosen                test the mutants of mutation/chosen.txt
    python3 tests/mutation.py --list                  print all mutants

mutation/rules.py has the rules: they swap operators, arguments, parameters and constants, and drop
operands, signs, conditions and calls. The script compiles the mutants into one program, beside the
original code (mutant schemata: Untch, Offutt, Harrold 1993), and an environment variable turns one of
them on. A mutant that does not compile this way does not count. Each mutant runs the tests that reach it,
until one fails. mutation/chosen.txt has mutants that no rule makes; they are compiled one by one.
mutation/equivalent.txt has the mutants that change nothing a test could see, each with the reason.

The run fails if a chosen mutant survives, if more than a tenth of the others do, or if a line of these
lists does not fit the sources. The project must have been built (./heed setup), with Ninja. The script
uses the objects of that build, and writes only to a folder of its own.
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
from rules import (PROJECT, all_mutants, chosen_mutants, equivalent_mutants, shuffled,  # noqa: E402
                   source_text)
from tests import Tests  # noqa: E402

MOST_SURVIVORS = 0.1  # of the mutants made by rules: some are equivalent


class Run:
    def __init__(self, options, mutants, folder):
        self.options, self.mutants = options, mutants
        self.began = time.monotonic()
        self.build = Build(options.build, folder)
        self.tests = Tests(self.build)

    def say(self, text):
        print(f"{text}, after {time.monotonic() - self.began:.0f} s", flush=True)

    def compile(self):
        """Builds the programs; returns [(number, name, mutant)] of the mutants that compile."""
        numbered = [(i + 1, name, mutant) for i, (name, mutant) in enumerate(self.mutants.items())]
        files = {}
        for number, _, mutant in numbered:
            files.setdefault(mutant.file, []).append((number, mutant))
        dropped = self.build.compile_all(files)
        self.build.compile_switches()
        self.build.link()
        self.say(f"{len(numbered) - len(dropped)} of {len(numbered)} mutants compiled")
        return [each for each in numbered if each[0] not in dropped]

    def judged(self, numbered, tests_of):
        """{name: verdict} of the mutants, in two threads."""
        def judge(each):
            number, name, mutant = each
            verdict = self.tests.verdict(number, mutant, tests_of(number), self.options.seconds)
            print(f"{name}\n    {verdict or 'SURVIVED'}", flush=True)
            return name, verdict

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            return dict(pool.map(judge, numbered))

    def by_rules(self):
        numbered = self.compile()
        self.tests.find_reaching(len(self.mutants))
        self.say("the tests of each mutant found")
        return self.judged(numbered, lambda number: self.tests.reaching.get(number))

    def chosen(self):
        """Compiles each mutant by itself, because a switch cannot leave out what it changes."""
        self.build.compile_switches()
        self.build.link()
        self.tests.find_reaching(0)
        self.say("the seconds of each test found")
        verdicts = {}
        for name, mutant in self.mutants.items():
            if self.build.replace(mutant.file, mutant.applied_to(source_text(mutant.file))):
                self.build.link()
                verdicts.update(self.judged([(0, name, mutant)], lambda _: self.tests.everything))
        return verdicts

    def summary(self, verdicts):
        """Prints the counts; returns whether enough mutants were caught."""
        survived = [name for name, verdict in verdicts.items() if not verdict]
        ends = [verdict.partition(": ")[0] for verdict in verdicts.values() if verdict]
        print(*(f"survived: {name}" for name in survived), sep="\n")
        self.say(f"{len(verdicts)} mutants: {len(verdicts) - len(survived)} caught "
                 f"({ends.count('timeout')} by a timeout, {ends.count('crash')} by a crash), "
                 f"{len(survived)} survived; {len(self.mutants) - len(verdicts)} more do not compile")
        if self.options.chosen:  # each of them must compile
            return not survived and 0 < len(verdicts) == len(self.mutants)
        return bool(verdicts) and len(survived) <= MOST_SURVIVORS * len(verdicts)


def unfitting(by_rules, chosen):
    """The lines of the two lists that name tokens which the sources do not have."""
    return ([name for name in equivalent_mutants() if name not in by_rules]
            + [name for name, mutant in chosen.items() if mutant is None])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--chosen", action="store_true", help="only the mutants of chosen.txt")
    parser.add_argument("--only", metavar="PATTERN", default="", help="those whose name matches")
    parser.add_argument("--sample", metavar="N", type=int, help="the first N of a random order")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the order (1)")
    parser.add_argument("--seconds", metavar="S", type=float, default=100,
                        help="test a mutant with tests of S seconds at most (100)")
    parser.add_argument("--build", metavar="DIR", default=PROJECT / "build/release",
                        help="the project's build (build/release)")
    parser.add_argument("--keep", metavar="DIR", help="build there, and use it again")
    options = parser.parse_args()
    by_rules, chosen = all_mutants(), chosen_mutants()
    wrong = unfitting(by_rules, chosen)
    for name in wrong:
        print(f"does not fit the sources: {name}")
    mutants = chosen if options.chosen else by_rules
    names = [name for name, mutant in mutants.items() if re.search(options.only, name)
             and mutant is not None and name not in equivalent_mutants()]
    names = shuffled(names, options.seed)[:options.sample] if options.sample else names
    if options.list:
        print(*names, f"{len(names)} mutants", sep="\n")
        return 1 if wrong else 0
    if not can_confine():
        print("skipped: without Landlock (Linux 6.2), a mutant could remove files of this machine")
        return 0
    os.nice(10)
    with tempfile.TemporaryDirectory(prefix="heed_mutation_") as temporary:
        run = Run(options, {name: mutants[name] for name in names},
                  pathlib.Path(options.keep or temporary).resolve())
        enough = run.summary(run.chosen() if options.chosen else run.by_rules())
    return 0 if enough and not wrong else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BuildError as error:
        sys.exit(f"mutation.py: {error}")

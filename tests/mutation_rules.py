#!/usr/bin/env python3
"""mutation_rules.py: changes one place of src at a time, by rules, and shows that a test then fails.

    python3 tests/mutation_rules.py --sample 60 --seed 1   test 60 mutants, drawn at random
    python3 tests/mutation_rules.py                        test all mutants (a night or more)
    python3 tests/mutation_rules.py --planted              test only the faults in PLANTED
    python3 tests/mutation_rules.py --list                 print all mutants

mutation.py has a table of mutants of src/ops, chosen by hand. This script covers all of src. The
rules are in RULES; a mutant that does not compile does not count. PLANTED holds faults that no rule
makes and that the tests once missed. EQUIVALENT holds the mutants that change nothing a test could
see, each with the reason. The script changes and builds a copy of the project, never the project.
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

PROJECT = pathlib.Path(__file__).resolve().parent.parent

# (kind, pattern, replacement). Patterns are searched in code without comments and strings.
RULES = [
    ("arithmetic", r" \+ (?!=)", " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \* ", " / "),
    ("arithmetic", r" / ", " * "),
    ("comparison", r" < ", " <= "),
    ("comparison", r" <= ", " < "),
    ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "),
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("boundary", r" [+-] 1\b", ""),
    ("condition", r" && ", " || "),
    ("condition", r" \|\| ", " && "),
    ("condition", r"\bif \(!", "if ("),
    ("dropped call", r"^ +(?!return|throw|delete)[\w:.>-]+\([^;{}]*\);$", "  ;"),
    ("swapped argument", r"\((\w+), (\w+)\)", r"(\2, \1)"),
    ("constant", r"(?<![\w.])\d+(?![\w.])", lambda found: str(int(found[0]) + 1)),
    ("flag", r"\btrue\b", "false"),
    ("flag", r"\bfalse\b", "true"),
    ("flag", r" \| O_\w+", ""),
]

# (file, text, replacement)
PLANTED = [
    ("src/base/atomic_file.cpp", "if (const int error = sync(descriptor_)) throw_errno(error);", ";"),
    ("src/base/atomic_file.cpp",
     "if (const int error = sync_folder(folder_of(path_))) throw_errno(error);", ";"),
    ("src/base/atomic_file.cpp", "exists ? 0600 : 0666", "0666"),
    ("src/app/run_folder.cpp", "O_CREAT | O_CLOEXEC | O_NOFOLLOW", "O_CREAT | O_NOFOLLOW"),
    ("src/base/process.cpp", "prctl(PR_SET_PDEATHSIG, SIGKILL);", ""),
    ("src/base/process.cpp", "file = resolved(program.words[0]);", "file = program.words[0];"),
    ("src/base/process.cpp", "absolute(folder.empty() ? \".\" : folder, error) / name",
     "path(folder) / name"),
    ("src/report/plot_program.cpp", '{"gnuplot", "-d", "-"}, folder', '{"gnuplot", "-"}, folder'),
    ("src/report/plot_program.cpp", '{"gnuplot", "-d", "-"}, ""', '{"gnuplot", "-"}, ""'),
    ("src/report/plot_program.cpp", '{{"GNUTERM", std::nullopt}}', "{}"),
    ("src/base/file.cpp", "    if (n < 0 && errno == EINTR) continue;\n    if (n < 0) throw_errno(name_, errno);\n    size +=",
     "    if (n < 0) throw_errno(name_, errno);\n    size +="),
    ("src/app/terminal.cpp", "signal == SIGINT && last_signal == SIGINT",
     "signal == SIGINT && last_signal != 0"),
    ("src/app/terminal.cpp", "std::signal(SIGPIPE, record_signal)", "std::signal(SIGPIPE, SIG_IGN)"),
    ("src/app/training_run.cpp", "(o.steps - trainer.steps_done())", "(o.steps)"),
    ("src/app/training_run.cpp", "tokens / last.ms * 1000", "tokens / last.ms * 100"),
    ("src/app/training_run.cpp", "generated(40)", "generated(44)"),
    ("src/app/train.cpp", "  if (step >= trainer.steps_done()) return;\n", ""),
    ("src/train/trainer.cpp", "    dropout_generator_ = dropout_generator;\n    return", "    return"),
    ("src/train/first_nonfinite.cpp", "node = nodes.rbegin(); node != nodes.rend()",
     "node = nodes.begin(); node != nodes.end()"),
    ("src/train/trainer_state.cpp", "  ms_sum_ = state.pending_ms;\n", ""),
    ("src/train/trainer_evaluation.cpp", "options_.seed + 2", "options_.seed + 3"),
    ("src/train/generate.cpp", "begin_ += block() - block() / 2;", "begin_ += block() - block() / 4;"),
    ("src/study/markov_entropy.cpp", "entry.second * 1e12", "entry.second * 1e3"),
    ("src/app/corpus.cpp", "  remove_stale_temporaries(command.file);\n", ""),
    ("src/base/file.cpp", "XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed)",
     "XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed + 1)"),
]

# (file, line of code without indentation, its replacement): why no test can see the change
EQUIVALENT = {
}

# The tests of a folder of src: first those of the folder, then those of programs.
PROGRAMS = ("heed_tests", "[app]~[.]")
TESTS = {
    "array": [("heed_tests", "[array],[ops]~[.]"), ("heed_double_tests", "~[.]")],
    "autograd": [("heed_tests", "[autograd]~[.]"), ("heed_double_tests", "~[.]")],
    "ops": [("heed_tests", "[ops]~[.]"), ("heed_double_tests", "~[.]")],
    "nn": [("heed_tests", "[nn]~[.]"), ("heed_double_tests", "~[.]"), PROGRAMS],
    "app": [PROGRAMS],
}
COPIED = ["CMakeLists.txt", "cmake", "data", "docs", "examples", "heed", "include", "lessons", "src",
          "tests"]
DEPENDENCIES = "add_dependencies(heed_tests heed_lessons heed_app heed_examples heed_uncaught_error)"


class Mutant(NamedTuple):
    file: str
    kind: str
    begin: int
    end: int
    new: str

    def applied_to(self, text):
        return text[:self.begin] + self.new + text[self.end:]

    def lines(self, text):
        """The changed line before and after, without indentation."""
        begin = text.rfind("\n", 0, self.begin) + 1
        end = (text + "\n").find("\n", self.end)
        changed = self.applied_to(text)[begin:end + len(self.new) - (self.end - self.begin)]
        return " ".join(text[begin:end].split()), " ".join(changed.split())

    def described(self, text):
        before, after = self.lines(text)
        number = text.count("\n", 0, self.begin) + 1
        return f"{self.file}:{number}  {self.kind}: {before}  ->  {after}"


def masked(text):
    """The text with comments, strings and preprocessor lines as spaces, of the same length."""
    pattern = (r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
               r"|^ *#[^\n]*|^ *(?:static_assert|using|template)\b[^\n]*")
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text,
                  flags=re.M | re.S)


def of_rules(file, text):
    code = masked(text)
    for kind, pattern, new in RULES:
        for found in re.finditer(pattern, code, re.M):
            replacement = new(found) if callable(new) else found.expand(new)
            line = text[text.rfind("\n", 0, found.start()) + 1:(text + "\n").find("\n", found.end())]
            concatenates = '"' in line and kind == "arithmetic"  # strings have no minus
            if replacement != found[0] and not concatenates:
                yield Mutant(file, kind, found.start(), found.end(), replacement)


def planted():
    for file, old, new in PLANTED:
        text = (PROJECT / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"mutation_rules.py: {file}: found {text.count(old)} times, not once: {old}")
        yield Mutant(file, "planted", text.index(old), text.index(old) + len(old), new)


def all_mutants():
    for path in sorted((PROJECT / "src").rglob("*.[ch]pp")):
        file = path.relative_to(PROJECT).as_posix()
        yield from of_rules(file, path.read_text(encoding="utf-8"))


class Copy:
    """A copy of the project, in which one mutant at a time is built and tested."""

    def __init__(self, folder):
        self.folder, self.build = folder, folder / "build/release"
        for top in COPIED:
            source, target = PROJECT / top, folder / top
            folder.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True, copy_function=copy_if_changed)
            else:
                copy_if_changed(source, target)
        lists = folder / "tests/CMakeLists.txt"
        text = lists.read_text(encoding="utf-8")
        if DEPENDENCIES in text:  # lessons and examples are not needed
            lists.write_text(text.replace(DEPENDENCIES, ""), encoding="utf-8")
        if not (self.build / "build.ninja").exists():
            self.must(["cmake", "-G", "Ninja", "-S", folder, "-B", self.build,
                       "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"])
        self.must(self.make("heed_app", "heed_tests", "heed_double_tests"))

    def must(self, command):
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"mutation_rules.py: without a mutant: {done.stdout[-3000:]}")

    def make(self, *targets):
        return ["ninja", "-C", self.build, *targets]

    def failure(self, program, selection, limit=300):
        """'' if the tests pass, else where they fail."""
        command = [self.build / "tests" / program, selection, "--abort", "--reporter", "compact"]
        environment = {**os.environ, "HEED_SEED": "1", "OMP_WAIT_POLICY": "passive"}
        try:
            done = subprocess.run(command, cwd=self.build, env=environment, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"{program} {selection} does not end"
        if done.returncode == 0:
            return ""
        failed = re.search(r"([\w/.]+_test\.cpp:\d+): failed", done.stdout)
        return f"{program} fails at {failed[1] if failed else selection}"

    def verdict(self, mutant, text):
        path = self.folder / mutant.file
        folder = mutant.file.split("/")[1]
        tests = TESTS.get(folder, [("heed_tests", f"[{folder}]~[.]"), PROGRAMS])
        programs = sorted({"heed_app", *(program for program, _ in tests)})
        path.write_text(mutant.applied_to(text), encoding="utf-8")
        try:
            built = subprocess.run(self.make(*programs), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            if built.returncode != 0:
                return "does not compile"
            return next(filter(None, (self.failure(*each) for each in tests)), "SURVIVED")
        finally:
            path.write_text(text, encoding="utf-8")


def copy_if_changed(source, target):
    source, target = pathlib.Path(source), pathlib.Path(target)
    if not target.exists() or target.read_bytes() != source.read_bytes():
        shutil.copy(source, target)


def run(mutants, folder, sample, minutes):
    began = time.monotonic()
    copy = Copy(folder)
    print(f"copy built after {time.monotonic() - began:.0f} s", flush=True)
    tested, survived = 0, []
    for mutant in mutants:
        if tested == sample or time.monotonic() - began > 60 * minutes:
            break
        text = (PROJECT / mutant.file).read_text(encoding="utf-8")
        verdict = copy.verdict(mutant, text)
        if verdict == "does not compile":
            continue
        reason = EQUIVALENT.get((mutant.file, *mutant.lines(text)))
        tested += 1
        if verdict == "SURVIVED" and reason is None:
            survived.append(mutant)
        print(f"{mutant.described(text)}\n    {reason or verdict}", flush=True)
    print(f"{tested - len(survived)} of {tested} mutants caught or equivalent, in "
          f"{(time.monotonic() - began) / 60:.0f} minutes")
    return 1 if survived else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--planted", action="store_true", help="only the faults in PLANTED")
    parser.add_argument("--only", metavar="PATTERN", default="", help="those whose line matches")
    parser.add_argument("--sample", metavar="N", type=int, help="N mutants, drawn at random")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--minutes", metavar="N", type=float, default=1e9, help="stop after N minutes")
    parser.add_argument("--keep", metavar="DIR", help="put the copy there, and use it again")
    options = parser.parse_args()
    mutants = list(planted()) + ([] if options.planted else list(all_mutants()))
    texts = {file: (PROJECT / file).read_text(encoding="utf-8") for file in {m.file for m in mutants}}
    mutants = [m for m in mutants if re.search(options.only, m.described(texts[m.file]))]
    if options.list:
        print(*(m.described(texts[m.file]) for m in mutants), f"{len(mutants)} mutants", sep="\n")
        return 0
    if options.sample:
        random.Random(options.seed).shuffle(mutants)
    os.nice(10)
    if options.keep:
        return run(mutants, pathlib.Path(options.keep).resolve(), options.sample, options.minutes)
    with tempfile.TemporaryDirectory(prefix="heed_mutation_") as folder:
        return run(mutants, pathlib.Path(folder), options.sample, options.minutes)


if __name__ == "__main__":
    sys.exit(main())

"""tests.py: runs the tests that reach a mutant, the closest and the quickest first."""

import concurrent.futures
import itertools
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
from typing import NamedTuple

from build import JOBS, PROGRAMS
from confine import confine

# Tests of programs without switches are left out.
SELECTED = "~[.]" + "".join(f"~[{tag}]" for tag in ("launcher", "lessons", "examples", "user_errors",
                                                    "layering", "mpi"))
CHUNKS = (0.3, 1.5, 5, 15)  # seconds of the first runs of tests; the last run has the others
LIMITS = ((resource.RLIMIT_AS, 8 << 30), (resource.RLIMIT_FSIZE, 2 << 30), (resource.RLIMIT_CORE, 0))


class Test(NamedTuple):
    program: str
    name: str
    file: str
    seconds: float


class Tests:
    def __init__(self, build):
        self.build, self.folder = build, build.folder
        self.worker, self.workers = threading.local(), itertools.count(1)
        self.names = {}  # {program: its tests}
        self.reaching = {}  # {number: [Test]}
        self.everything = []  # all tests
        self.order = {}  # of the tests in their programs

    def worker_folder(self):
        """A folder for the tests of this thread."""
        if not hasattr(self.worker, "folder"):
            self.worker.folder = self.folder / f"worker{next(self.workers)}"
        shutil.rmtree(self.worker.folder, ignore_errors=True)
        (self.worker.folder / "tmp").mkdir(parents=True)
        return self.worker.folder

    def names_of(self, program):
        """The names of the tests of a program, in its order."""
        if program not in self.names:
            listed = subprocess.run([self.folder / "tests" / program, "--list-test-names-only", SELECTED],
                                    text=True, stdout=subprocess.PIPE, check=False).stdout
            self.names[program] = [name for name in listed.splitlines() if name]
        return self.names[program]

    def run(self, program, names, limit, variables, switches=0):
        """[(passed, seconds, numbers reached, file, name)], and the exit code: None after a timeout.
        If `switches` is not 0, all tests run, and record which of that many switches they reach."""
        folder = self.worker_folder()
        (folder / "names").write_text("".join(quoted(name) + "\n" for name in names))
        environment = {**os.environ, "HEED_SEED": "1", "OMP_WAIT_POLICY": "passive",
                       "TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(self.build.build / "cache"),
                       "HEED_MUTANTS_LOG": str(folder / "log"),
                       "HEED_MUTANTS_PROGRAM": str(self.folder / "heed"), **variables}
        command = [self.folder / "tests" / program, "-f", folder / "names", "--abort"]
        if switches:
            command.remove("--abort")
            (folder / "reached").write_bytes(bytes(switches))
            environment["HEED_MUTANTS_REACHED"] = str(folder / "reached")

        def limited():
            for which, most in LIMITS:
                resource.setrlimit(which, (most, most))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a test of a larger file fails, and no other ends
            confine(folder, self.build.build / "cache")

        done = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True, preexec_fn=limited)
        try:
            code = done.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(done.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        done.wait()
        log = folder / "log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return [line.split("\t") for line in lines if line.count("\t") == 4], code

    def find_reaching(self, count):
        """Runs all tests without a mutant, and records the mutants that each one reaches."""
        parts = []
        for program in PROGRAMS:
            names = self.names_of(program)
            self.order.update({(program, name): i for i, name in enumerate(names)})
            parts += [(program, names[i::8]) for i in range(8)]

        def reached(part):
            lines, code = self.run(*part, 1200, {}, switches=count + 1)
            return part[0], lines, code

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for program, lines, code in pool.map(reached, parts):
                if code is None:
                    print(f"{program}: does not end without a mutant, after {lines[-1:]}", flush=True)
                for passed, seconds, numbers, file, name in lines:
                    if passed != "1":
                        print(f"left out, because it fails without a mutant: {name}", flush=True)
                        continue
                    test = Test(program, name, file, float(seconds))
                    self.everything.append(test)
                    for number in map(int, numbers.split()):
                        self.reaching.setdefault(number, []).append(test)

    def failure(self, number, tests):
        """The first of the tests that fails with the mutant, as "heed_tests: name"; "timeout: " or
        "crash: " stands before it if the test, or the program before its first test, did not end by
        itself. '' if all tests pass."""
        program = tests[0].program
        limit = 10 + 5 * sum(test.seconds for test in tests)
        lines, code = self.run(program, [test.name for test in tests], limit,
                               {"HEED_MUTANT": str(number)})
        failed = [name for passed, *_, name in lines if passed != "1"]
        if failed:
            return f"{program}: {failed[0]}"
        if code == 0:
            return ""
        ended = {name for *_, name in lines}
        left = sorted((test for test in tests if test.name not in ended),
                      key=lambda test: self.order.get((program, test.name), 0))
        how = "timeout" if code is None else "crash"
        return f"{how}: {program}: {left[0].name if left else 'after its last test'}"

    def verdict(self, number, mutant, tests, most_seconds):
        """The name of a test that fails, '' if all pass, None if there is no test."""
        if not tests:
            return None
        stem, folder = pathlib.Path(mutant.file).stem, mutant.file.split("/")[1]

        def distance(test):
            near = f"/{stem}_test.cpp" in test.file
            return (0 if near else 1 if f"/{folder}/" in test.file else 2, test.seconds)

        chunks, used, total = [[]], 0, 0
        for test in sorted(tests, key=distance):
            if total + test.seconds > most_seconds and total > 0:
                break
            limit = CHUNKS[min(len(chunks) - 1, len(CHUNKS) - 1)]
            if chunks[-1] and used + test.seconds > limit:
                chunks.append([])
                used = 0
            chunks[-1].append(test)
            used, total = used + test.seconds, total + test.seconds
        for chunk in chunks:
            for program in PROGRAMS:
                part = [test for test in chunk if test.program == program]
                failure = self.failure(number, part) if part else ""
                if failure:
                    return failure
        return ""


def quoted(name):
    """The name as a line of Catch2's --input-file, which takes a comma for an end."""
    return '"' + re.sub(r'([\\",])', r"\\\1", name) + '"'

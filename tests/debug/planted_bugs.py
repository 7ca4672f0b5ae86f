#!/usr/bin/env python3
"""planted_bugs.py: shows that every test of the debugger's commands can fail.

    ninja -C build/release heed_tests heed_debug_programs
    python3 tests/debug/planted_bugs.py                 plant each bug of TABLE, and run its tests
    python3 tests/debug/planted_bugs.py --only mark     those whose test matches a pattern
    python3 tests/debug/planted_bugs.py --list          list the bugs: fails if one does not fit the modules

Each row plants one bug in a copy of the debugger's Python modules and names the transcripts (or tests of
Catch2) that must fail with it, and pass without it. A transcript without a row is an error. The copies are
in a temporary folder, which the script removes.

Last run: 34 bugs for 29 transcripts and 22 tests of Catch2: all 51 fail with the bug, and pass without.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
MODULES = "debugger/heed_debug/"

# (module, its text, the bug, transcripts that must fail). The same bug may need several rows.
TABLE = [
    ("graph", '"wrong": "is wrong"', '"wrong": "is right"', "check check_O2 walk walk_O2"),
    ("breakpoints", 'if "not being run" in text or', "if",
     "core core_O2 core_gpt core_gpt_O2"),
    ("memory", '"heed::float64::"', '"heed::float32::"', "double"),
    ("gdb_target", "    if is_copy(value):\n        return array_of_copy",
     "    if False:\n        return array_of_copy", "finish finish_O2"),
    ("printers", "MAX_PARTS = 40", "MAX_PARTS = 4", "gpt gpt_O2"),
    ("entering", "position() != start and not in_engine()", "position() != start", "in in_O2"),
    ("running", "count -= 1", "count -= 2", "lesson_08 training training_O2"),
    ("passes", "running_number = len(nodes) - 1", "running_number = len(nodes) - 2", "lesson_09"),
    ("watching", "    outputs.restore(_mark[2])\n", "", "mark mark_O2"),
    ("nonfinite_text", "if not any(counts) or", "if any(counts) or", "nan_backward"),
    ("nonfinite_text", "    if nan or plus:", "    if plus:", "nan_forward nan_forward_O2"),
    ("outputs", "if from_node_address(frame) != self", "if from_node_address(frame) == self", "out"),
    ("numbers", "EDGE = 3", "EDGE = 2", "printers"),
    ("numbers", "unevaluated xtensor expression", "xtensor expression", "expressions"),
    ("watch_text", "(x - y) ** 2", "(x + y) ** 2", "watch"),
    ("attention", "scores = [scale * sum(", "scores = [-40 * scale * sum(", "weights"),
    ("commands", "if argument:\n            raise DebuggerError(\"heed: `heed out`",
     "if False:\n            raise DebuggerError(\"heed: `heed out`", "wrong_use"),
]

# The same for tests of Catch2.
TESTS = [
    ("lldb_running", 'register(frame, "rsi", "x1")', 'register(frame, "rdx", "x2")',
     "LLDB: every command works at -O2"),
    ("lldb_running", 'register(frame, "rcx"), register(frame, "r8")', 'register(frame, "rcx"), 0',
     "LLDB: heed nan stops at the first value and gradient that is not finite,LLDB: a GPT and a value*"),
    ("lldb_running", 'if "core" in (process', 'if "ore-c" in (process',
     "LLDB: the commands work on core files*"),
    ("memory", '"heed::float64::"', '"heed::float32::"',
     "LLDB: the commands read a program that computes in double"),
    ("watch_text", "(x - y) ** 2", "(x + y) ** 2", "LLDB: heed watch*"),
    ("graph", '"wrong": "is wrong"', '"wrong": "is right"',
     "LLDB: heed check names an operation whose backward has a wrong sign"),
    ("graph", '"  += from', '"  -= from', "LLDB: heed grad and heed why print a gradient*"),
    ("numbers", '"%s norm %s [%s, %s]%s"', '"%s length %s [%s, %s]%s"',
     "a debug adapter stops with a reason*,the variables pane of an IDE shows an array in one line,"
     "LLDB: arrays and tensors are one line*"),
    ("files", '".csv"', '".tsv"', "LLDB: heed save writes*,heed save writes*"),
    ("svg", 'lines.append("  n%d -> n%d%s;"', 'lines.append("  n%d -- n%d%s;"', "heed graph --svg draws*"),
    ("graph", '"a new backward pass, from', '"a backward pass, from', "LLDB: heed step runs*"),
    ("graph", 'return "freed"', 'return "-"', "LLDB: heed graph lists*"),
    ("lldb_running", "if from_ != self.node.address", "if from_ == self.node.address", "LLDB: heed out prints*"),
    ("lldb_passes", 'if text.startswith("grad ")', 'if text.startswith("gradient ")', "LLDB: heed show prints*"),
    ("graph", "(array|autograd|base)", "(array|base)", "LLDB: heed back lists*"),
    ("graph", "in graph.nodes if node.depth > 0)", "in graph.nodes if node.depth >= 0)",
     "LLDB: a pass without*"),
    ("lldb_target", "the program is not running", "nothing is running", "LLDB: wrong uses*"),
    ("memory", '"_Sp_counted_ptr_inplace<heed::" in', '"_Sp_counted_ptr<heed::" in',
     "LLDB: every command works at -O2"),
]


def transcripts():
    return {path.stem for path in (PROJECT / "tests/debug").glob("*.txt") if path.stem != "CMakeLists"}


def fails(build, tools, transcript, test):
    """Whether the test fails with the debugger's modules in this folder."""
    environment = {**os.environ, "HEED_TEST_TOOLS": str(tools)}
    if transcript:
        environment["HEED_TRANSCRIPT"], test = transcript, "[transcript]"
    ran = subprocess.run([build / "tests/heed_tests", test], env=environment, text=True, cwd=tools,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if "No tests ran" in ran.stdout or "skipped" in ran.stdout:
        sys.exit(f"planted_bugs.py: {transcript or test} did not run:\n{ran.stdout[-500:]}")
    return ran.returncode != 0


def with_bug(module, old, new):
    """The text of a module with the bug."""
    path = PROJECT / "tools" / MODULES / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    if old not in text:
        sys.exit(f"planted_bugs.py: {module}.py does not contain {old!r}")
    text = text.replace(old, new, 1)
    compile(text, path, "exec")  # a file that Python cannot read would fail every test
    return text


def planted(folder, module, old, new):
    """A copy of the debugger's modules with the bug."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PROJECT / "tools", folder)
    (folder / MODULES / f"{module}.py").write_text(with_bug(module, old, new), encoding="utf-8")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", default="", help="tests whose name matches")
    parser.add_argument("--list", action="store_true", help="list the bugs and run nothing")
    parser.add_argument("--build", default=PROJECT / "build/release", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    missing = transcripts() - {name for row in TABLE for name in row[3].split()}
    if missing:
        sys.exit(f"planted_bugs.py: no bug for the transcripts {', '.join(sorted(missing))}")
    rows = [(*row[:3], name, "") for row in TABLE for name in row[3].split()]
    rows += [(*row[:3], "", test) for row in TESTS for test in row[3].split(",")]
    for module, old, new, transcript, test in rows:
        with_bug(module, old, new)
        if options.list:
            print(f"{transcript or test}    {module}.py: {old.strip()!r}")
    if options.list:
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that the temporary folder is removed
        signal.signal(number, lambda *_: sys.exit(1))
    caught = ran = 0
    passing = set()  # the tests that were seen to pass without a bug
    with tempfile.TemporaryDirectory(prefix="heed_bugs_") as folder:
        for module, old, new, transcript, test in rows:
            if not re.search(options.only, transcript or test):
                continue
            if (transcript, test) not in passing and fails(build, PROJECT / "tools", transcript, test):
                sys.exit(f"planted_bugs.py: {transcript or test} fails without a bug")
            passing.add((transcript, test))
            failed = fails(build, planted(pathlib.Path(folder) / "tools", module, old, new), transcript, test)
            print(f"{'fails ' if failed else 'PASSES'}  {transcript or test}    {module}.py: {old.strip()!r}",
                  flush=True)
            ran, caught = ran + 1, caught + failed
    print(f"{caught} of {ran} tests fail with their bug")
    return 0 if caught == ran else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""planted_bugs.py: shows that every test of the debugger's commands can fail.

    ninja -C build/release heed_tests heed_debug_programs
    python3 tests/debug/planted_bugs.py                 plant each bug of TABLE, and run its tests
    python3 tests/debug/planted_bugs.py --only mark     those whose test matches a pattern
    python3 tests/debug/planted_bugs.py --list          list the bugs, and those that do not fit the modules

Each row plants one bug in a copy of the debugger's Python modules and names the transcripts (or tests of
Catch2) that must fail with it, and pass without it. A transcript without a row is an error. The copies are
in a temporary folder, which the script removes.

Last run: 34 bugs for 29 transcripts and 22 tests of Catch2: all 51 fail with the bug, and pass without.
"""

import argparse
import ast
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tokenize

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
MODULES = "debugger/heed_debug/"

# (module; function, or the constant that a module defines; token, or STRING for any string; its number in
# the function; how many tokens the bug replaces; the bug; transcripts that must fail). The same bug may need
# several rows.
TABLE = [
    ("checking", "check_report", "STRING", 6, 1, '"is right"', "check check_O2 walk walk_O2"),
    ("gdb_control", "execute", "CANNOT_CONTINUE", 1, 1, "''", "core core_O2 core_gpt core_gpt_O2"),
    ("target", "FLOAT64", "STRING", 1, 1, '"heed::float32::"', "double"),
    ("gdb_target", "copied_words", "is", 1, 3, "is None", "finish finish_O2"),
    ("object_printers", "MAX_PARTS", "40", 1, 1, "4", "gpt gpt_O2"),
    ("entering", "step_in", "and", 1, 5, "", "in in_O2"),
    ("running", "find_next", "1", 1, 1, "2", "lesson_05 training training_O2"),
    ("passes", "running_pass", "1", 1, 1, "2", "lesson_06"),
    ("marking", "continue_mark", "remembered", 1, 9, "", "mark mark_O2"),
    ("nonfinite", "gradient_report", "not", 2, 1, "", "nan_backward"),
    ("nonfinite", "new_nonfinite", "nan", 2, 2, "", "nan_forward nan_forward_O2"),
    ("outputs", "Recorder.record", "!=", 1, 1, "==", "out"),
    ("numbers", "EDGE", "3", 1, 1, "2", "printers"),
    ("numbers", "expression_text", "STRING", 2, 1, '"xtensor expression%s; declare it as Array"',
     "expressions"),
    ("watching", "difference_norm", "-", 1, 1, "+", "watch"),
    ("attention", "weights", "[", 12, 1, "[-40 *", "weights"),
    ("commands", "find", "argument", 2, 1, "False", "wrong_use"),
]

# The same for tests of Catch2.
TESTS = [
    ("lldb_control", "accumulate_arguments", "STRING", 6, 3, '"rdx", "x2"',
     "LLDB: every command works at -O2"),
    ("lldb_control", "finish_words", "register", 4, 4, "0",
     "LLDB: heed nan stops at the first value and gradient that is not finite,"
     "LLDB: a GPT and a value*"),
    ("lldb_control", "check_can_continue", "STRING", 1, 1, '"ore-c"',
     "LLDB: the commands work on core files*"),
    ("target", "FLOAT64", "STRING", 1, 1, '"heed::float32::"',
     "LLDB: the commands read a program that computes in double"),
    ("watching", "difference_norm", "-", 1, 1, "+", "LLDB: heed watch*"),
    ("checking", "check_report", "STRING", 6, 1, '"is right"',
     "LLDB: heed check names an operation whose backward has a wrong sign"),
    ("graph", "contribution_lines", "STRING", 7, 1, '"  -= from %s%s, made at %s, norm %s"',
     "LLDB: heed grad and heed why print a gradient*"),
    ("numbers", "brief_text", "STRING", 9, 1, '"%s length %s [%s, %s]%s"',
     "a debug adapter stops with a reason*,"
     "the variables pane of an IDE shows an array in one line,"
     "LLDB: arrays and tensors are one line*"),
    ("files", "save", "STRING", 2, 1, '".tsv"', "LLDB: heed save writes*,heed save writes*"),
    ("svg", "dot_text", "STRING", 14, 1, '"  n%d -- n%d%s;"', "heed graph --svg draws*"),
    ("graph", "new_pass_text", "STRING", 2, 1, '"a backward pass, from %s, made at %s"',
     "LLDB: heed step runs*"),
    ("graph", "gradient_text", "STRING", 1, 1, '"-"', "LLDB: heed graph lists*"),
    ("outputs", "Recorder.record", "!=", 1, 1, "==", "LLDB: heed out prints*"),
    ("passes", "find_array", "STRING", 3, 1, '"gradient "', "LLDB: heed show prints*"),
    ("graph", "ENGINE", "STRING", 1, 1, 'r".*/(src|include/heed)/(array|base)/.*|"',
     "LLDB: heed back lists*"),
    ("graph", "operations_text", ">", 1, 1, ">=", "LLDB: a pass without*"),
    ("lldb_target", "NOT_RUNNING", "STRING", 1, 1, '"heed: nothing is running; type `run`, or `breakpoint set -n main` first"',
     "LLDB: wrong uses*"),
    ("node", "with_control", "STRING", 2, 1, '"_Sp_counted_ptr<heed::"',
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


def places(tree, scope=""):
    """(name, first line, last line) of the functions and of the constants of a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assign) and isinstance(tree, ast.Module):
            yield ast.unparse(node.targets[0]), node.lineno, node.end_lineno
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield scope + node.name, node.lineno, node.end_lineno
            yield from places(node, scope + node.name + ".")


def tokens(text, place):
    """(token or STRING, its start, its end) of a function or a constant, without what is defined in it."""
    line_starts = [0]
    for line in text.splitlines(True):
        line_starts.append(line_starts[-1] + len(line))
    owners = {}
    for name, first, last in places(ast.parse(text)):  # an inner function comes after the outer one
        owners.update({line: name for line in range(first, last + 1)})
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if owners.get(token.start[0]) == place and token.string.strip() and token.type != tokenize.COMMENT:
            start, end = (line_starts[line - 1] + column for line, column in (token.start, token.end))
            yield "STRING" if token.type == tokenize.STRING else token.string, start, end


def with_bug(module, place, word, number, count, new):
    """The text of a module with the bug, or None if the module has no such token."""
    path = PROJECT / "tools" / MODULES / f"{module}.py"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = list(tokens(text, place))
    at = [i for i, (each, _, _) in enumerate(found) if each == word][number - 1:number]
    if not at or at[0] + count > len(found):
        return None
    text = text[:found[at[0]][1]] + new + text[found[at[0] + count - 1][2]:]
    compile(text, path, "exec")  # a file that Python cannot read would fail every test
    return text


def planted(folder, module, text):
    """A copy of the debugger's modules, one of them with another text."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PROJECT / "tools", folder)
    (folder / MODULES / f"{module}.py").write_text(text, encoding="utf-8")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", default="", help="tests whose name matches")
    parser.add_argument("--list", action="store_true", help="list the bugs and run nothing")
    parser.add_argument("--build", default=PROJECT / "build/release", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    missing = transcripts() - {name for row in TABLE for name in row[-1].split()}
    if missing:
        sys.exit(f"planted_bugs.py: no bug for the transcripts {', '.join(sorted(missing))}")
    rows = [(row[:-1], name, "") for row in TABLE for name in row[-1].split()]
    rows += [(row[:-1], "", test) for row in TESTS for test in row[-1].split(",")]
    rows = [row for row in rows if re.search(options.only, row[1] or row[2])]
    bugs = [(with_bug(*bug), bug, transcript, test) for bug, transcript, test in rows]
    unfitting = [bug for text, bug, _, _ in bugs if text is None]
    for bug in unfitting:
        print(f"does not fit the modules: {bug}")
    if options.list:
        print(*(f"{transcript or test}    {bug}" for _, bug, transcript, test in bugs), sep="\n")
        return 1 if unfitting else 0
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that the temporary folder is removed
        signal.signal(number, lambda *_: sys.exit(1))
    caught = ran = 0
    passing = set()  # the tests that were seen to pass without a bug
    with tempfile.TemporaryDirectory(prefix="heed_bugs_") as folder:
        for text, bug, transcript, test in bugs:
            if text is None:
                continue
            if (transcript, test) not in passing and fails(build, PROJECT / "tools", transcript, test):
                sys.exit(f"planted_bugs.py: {transcript or test} fails without a bug")
            passing.add((transcript, test))
            failed = fails(build, planted(pathlib.Path(folder) / "tools", bug[0], text), transcript, test)
            print(f"{'fails ' if failed else 'PASSES'}  {transcript or test}    {bug}", flush=True)
            ran, caught = ran + 1, caught + failed
    print(f"{caught} of {ran} tests fail with their bug")
    return 0 if caught == ran and not unfitting else 1


if __name__ == "__main__":
    sys.exit(main())

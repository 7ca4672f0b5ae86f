#!/usr/bin/env python3
"""check_mutation.py: plants a wrong gradient in every operation, and shows that HEED_TRACE=check names it.

    ninja -C build/release heed_tests        build what the script links with
    python3 tests/check_mutation.py          one wrong sign in the backward of each operation
    python3 tests/check_mutation.py --sample 60   60 mutants of mutation.py in functions backward instead
    python3 tests/check_mutation.py --only Softmax --build build/release

A wrong sign negates the upstream gradient that the backward gets, so all gradients it returns have the
wrong sign. The script compiles the changed source file by itself and links it, before the library, with
node_check_test.cpp; it changes no file of the project. A change is caught if the test fails whose results
have every operation, and named if the message of HEED_TRACE=check contains the operation. Some mutants
leave the gradient right: they are not caught.

Last run: on 2026-11-23, all 50 wrong signs were caught and named.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mutation"))
sys.dont_write_bytecode = True

from rules import PROJECT, all_mutants, shuffled, source_text  # noqa: E402

ACCEPTS = "HEED_TRACE=check accepts the backward of every operation"
BACKWARD = re.compile(r"( backward\(const Array& )(dy|dout)\b([^{;]*\{)")


def operations(text):
    """(name, start offset, end offset) of each operation's struct."""
    struct = r"^struct (\w+) \{\n  static constexpr std::string_view name.*?^\};"
    return [(found[1], *found.span()) for found in re.finditer(struct, text, re.M | re.S)]


def wrong_signs():
    """(file, operation, changed text) with one wrong sign for each operation."""
    for path in sorted((PROJECT / "src/ops").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        for name, begin, end in operations(text):
            found = BACKWARD.search(text, begin, end)
            if not found:
                sys.exit(f"check_mutation.py: {path.name}: {name} has no backward(const Array& dy, ...)")
            wrong = (found[1] + "right_" + found[2] + found[3] + f"\n    const Array {found[2]} = "
                     f"heed_wrong_sign(right_{found[2]});\n")
            yield path, name, PLANTED + text[:found.start()] + wrong + text[found.end():]


PLANTED = '''#include "heed/array/map.hpp"
namespace HEED_NAMESPACE {
inline Array heed_wrong_sign(const Array& x) { return map([](auto v) { return -v; }, x); }
}
'''


def sampled(count):
    """The same for mutants of backward functions, drawn at random."""
    mutants = {name: mutant for name, mutant in all_mutants().items()
               if re.match(r"src/ops/\S+ \w+::backward ", name)}
    for name in shuffled(mutants, 1)[:count]:
        mutant = mutants[name]
        operation, change = re.match(r"\S+ (\w+)::backward (.*)", name).groups()
        yield (PROJECT / mutant.file, f"{operation}: {change}",
               mutant.applied_to(source_text(mutant.file)))


def compile_commands(build):
    """source path: the command that compiles it into the library of floats."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if "-DHEED_DOUBLE" in words or "/heed_ops.dir/" not in entry["command"]:
            continue
        output = words.index("-o")
        words[output:output + 2] = []
        source = words.index("-c")
        words[source:source + 2] = []
        joint = pathlib.Path(entry["file"])  # a file that includes several sources, or one source
        sources = re.findall(r'#include "(\S+)"', joint.read_text(encoding="utf-8")) if "/Unity/" in str(joint) else [joint]
        for source in sources:
            found[pathlib.Path(source)] = [word for word in words if not word.startswith("-O")] + ["-O1"]
    return found


def link_command(build):
    """The words that ninja uses to link heed_tests, without its objects and its output."""
    text = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", "tests/heed_tests"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout.strip().splitlines()[-1]
    words = shlex.split(text.replace(": && ", "").replace(" && :", ""))
    keep = ("node_check_test.cpp.o", "tests.dir/main.cpp.o", "base/text", "catch")
    result = [word for word in words if not word.endswith(".o") or any(k in word for k in keep)]
    output = result.index("-o")
    result[output:output + 2] = []
    return result


def verdict(change, build, commands, link, folder):
    path, name, text = change
    stem = re.sub(r"\W+", "_", name)[:80] + str(abs(hash(text)))
    source, program = folder / f"{stem}.cpp", folder / stem
    source.write_text(text, encoding="utf-8")
    obj = f"{program}.o"
    made = subprocess.run(commands[path] + ["-I", path.parent, "-o", obj, "-c", source], cwd=build, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        return "DOES NOT COMPILE: " + made.stdout.strip()[-300:]
    linked = subprocess.run([link[0], obj, *link[1:], "-Wl,--allow-multiple-definition", "-o", program], cwd=build, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if linked.returncode != 0:
        return "DOES NOT LINK: " + linked.stdout.strip()[-300:]
    try:
        ran = subprocess.run([program, ACCEPTS], cwd=folder, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=120,
                             env={**os.environ, "OMP_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return "caught (does not end)"
    finally:
        for file in (source, program, pathlib.Path(obj)):
            file.unlink(missing_ok=True)
    if ran.returncode == 0:
        return "NOT CAUGHT"
    operation = name.split(":")[0]
    named = re.search(r"HEED_TRACE=check: the gradient of (\w+)", " ".join(ran.stdout.split()))
    if named is None:
        return "caught (fails otherwise)"
    return "named" if named[1] == operation else f"caught (names {named[1]})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", metavar="N", type=int, help="N mutants of mutation.py")
    parser.add_argument("--only", metavar="PATTERN", default="", help="operations whose name matches")
    parser.add_argument("--build", default=PROJECT / "build/release", type=pathlib.Path)
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="compilers side by side (1)")
    options = parser.parse_args()
    build = options.build.resolve()
    commands, link = compile_commands(build), link_command(build)
    changes = [change for change in (sampled(options.sample) if options.sample else wrong_signs())
               if re.search(options.only, change[1])]
    os.nice(10)
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="heed_check_") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judge = lambda change: verdict(change, build, commands, link, pathlib.Path(folder))
        for (path, name, _), found in zip(changes, pool.map(judge, changes)):
            print(f"{path.name}  {name}\n    {found}", flush=True)
            verdicts.append(found)
    caught = sum(v == "named" or v.startswith("caught") for v in verdicts)
    unbuilt = sum(v.startswith("DOES NOT") for v in verdicts)
    print(f"{caught} of {len(verdicts)} caught, {verdicts.count('named')} with the operation's name, "
          f"{unbuilt} not built")
    most = caught >= 0.8 * (len(verdicts) - unbuilt) and 2 * unbuilt < len(verdicts)
    wanted = most if options.sample else verdicts.count("named") == len(verdicts)
    return 0 if wanted and verdicts else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""answers.py: makes the changes that the lessons ask for and compares the output with the answers.

    python3 tests/lessons/answers.py                 all questions (most of an hour)
    python3 tests/lessons/answers.py --only 02       the questions of lesson 02; --only 02.3 one of them
    python3 tests/lessons/answers.py --short         those of the lessons that train nothing

Each question of a lesson asks to change a line and to run the lesson again. The script makes the
change in a copy of the lesson's folder, builds the lesson with the command of build/release, and runs it. An
answer holds if the program ends as the answer says, if the output has each check and claim that the
answer quotes, and if each decimal number of the answer is in the output of the changed or of the
unchanged lesson, rounded to the digits of the answer. In lessons that train a model the last digit
may differ by one, and a number after "about" by a fifth, because other machines round differently.
"""

import argparse
import concurrent.futures
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
DECIMAL = r"(?<![\d.])\d+\.\d+(?![\d.]*\d)"


class Question(NamedTuple):
    number: str  # "02.3": question 3 of lesson 02
    edits: list  # of (file of the lesson or of common/, text that it has once, text in place of it)
    fails: bool = False  # whether the changed lesson ends with an error; None: on some machines
    derived: tuple = ()  # "0.4143 = 0.1884 + 0.2259": a number that follows from those of the output
    elsewhere: tuple = ()  # numbers of other experiments, seeds or machines, not of this output


QUESTIONS = [
    Question("01.1", [
        ("lesson.cpp",
         "causal_mean_weights(of.words.size());",
         "causal_mean_weights(of.words.size(), 4);")
    ]),
    Question("01.2", [("lesson.cpp", "xt::tril(ones({T, T}))", "ones({T, T})")], fails=True),
    Question("01.3", [("lesson.cpp", "factor = 8;", "factor = 1;")]),
    Question("02.1", [
        ("lesson.cpp", "return divided_by_row_sums(scores);", "return divided_by_row_sums(scores * scores);")
    ]),
    Question("02.2", [("lesson.cpp", "xt::xtuple(x, -0.9 * x)", "xt::xtuple(x, -0.99 * x)")],
             fails=True),
    Question("02.3", [
        ("lesson.cpp",
         "weights(bank, bank - 3) = 1;",
         "weights(bank, bank - 3) = weights(bank, bank - 4) = Real(0.5);")
    ]),
    Question("03.1", [("lesson.cpp", "{1, 1}, {0, 1}};", "{1, 1}, {0, 3}};")]),
    Question("03.2", [
        ("lesson.cpp",
         "arrows = {{0, 0, 0, 0, 0}",
         "arrows = {{0, 0, 1, 0, 0}")
    ]),
    Question("03.3", [("lesson.cpp", "topic = 24,", "topic = 4,")]),
    Question("04.1", [("lesson.cpp", "position = 2;", "position = 0;")], fails=True),
    Question("04.2", [("lesson.cpp", "Generator g(42);", "Generator g(43);")]),
    Question("04.3", [
        ("lesson.cpp",
         "options.causal = true;",
         "options.causal = false;")
    ], fails=True),
    Question("09.1", [
        ("lesson.cpp",
         "scores / std::sqrt(double(d))",
         "scores / double(d)")
    ]),
    Question("09.2", [
        ("lesson.cpp",
         "{1, 4, 12, 64}",
         "{1, 4, 12, 8}")
    ], derived=(
        "0.4143 = 0.1884 + 0.2259", "0.0965 = 0.1924 - 0.0959", "0.1110 = 0.0557 + 0.0553")),
    Question("09.3", [("lesson.cpp", "keys = 8;", "keys = 64;")]),
    Question("08.1", [
        ("lesson.cpp",
         "shifted = xt::tril(ones({3, 3}), 1)",
         "shifted = xt::tril(ones({3, 3}), 2)")
    ]),
    Question("08.2", [("lesson.cpp", "Generator g(42)", "Generator g(7)")]),
    Question("08.3", [
        ("lesson.cpp",
         "attention(matmul(x, W_Q), ",
         "attention(matmul(x, W_Q) * 20, ")
    ], fails=True),
    Question("05.1", [
        ("lesson.cpp",
         "input->grad += number.grad * local",
         "input->grad = number.grad * local")
    ], fails=True),
    Question("05.2", [("lesson.cpp", "{0.1, 1.1}", "{0.5, 1.1}")]),
    Question("05.3", [("lesson.cpp", "steps * 3 / 4 ? 50 : 10", "steps * 3 / 4 ? 50 : 50")]),
    Question("06.1", [
        ("lesson.cpp",
         "products / 2, future",
         "products, future")
    ], fails=True),
    Question("06.2", [("lesson.cpp", "-= Real(0.01)", "-= Real(0.1)")]),
    Question("06.3", [
        ("lesson.cpp",
         "xt::keep(0, 0, 1)",
         "xt::keep(0, 0, 2)")
    ]),
    Question("07.1", [("bank_batch.hpp", "Real(0.1)}", "Real(1)}")], fails=True),
    Question("07.2", [("lesson.cpp", "g.normal(shape, 0, 0.1)", "g.normal(shape, 0, 1)")], fails=True),
    Question("07.3", [("lesson.cpp", "g.randint(0, 9, {2})", "g.randint(0, 5, {2})")], fails=True),
    Question("10.1", [("lesson.cpp", "m == 2 ? 4 : 1", "m == 2 ? 3 : 1")], fails=True),
    Question("10.2", [("lesson.cpp", "words * 0", "words")], fails=True),
    Question("10.3", [("lesson.cpp", "m == 2 ? 4 : 1", "m == 2 ? 32 : 1")]),
    Question("11.1", [
        ("lesson.cpp", "head(unsqueeze(x, 0))", "head(unsqueeze(x, 0), causal)")
    ], fails=True),
    Question("11.2", [("lesson.cpp", "window.window = 8", "window.window = 12")]),
    Question("11.3", [("lesson.cpp", "starts = 25;", "starts = 9;")], fails=None),
    Question("12.1", [
        ("lesson.cpp",
         "residual_std = 1 / std",
         "residual_std = 4 / std")
    ], fails=True),
    Question("12.2", [
        ("lesson.cpp",
         "{ return x + parts.attention(x); }",
         "{ return x + 0.5 * parts.attention(x); }")
    ]),
    Question("12.3", [
        ("lesson.cpp",
         "std::sqrt(variance + 1e-5)",
         "std::sqrt(variance)")
    ], fails=True),
    Question("13.1", [
        ("lesson.cpp",
         "our_deviation = 1 / std::sqrt(double(C))",
         "our_deviation = 0.02")
    ]),
    Question("13.2", [
        ("lesson.cpp",
         'if (part != "positions" && part != "attention")',
         'if (part != "positions")')
    ]),
    Question("13.3", [
        ("lesson.cpp",
         '"residuals", layers, 0.001}',
         '"residuals", 1, 0.001}')
    ], fails=True),
    Question("14.1", [("lesson.cpp", "/*layers=*/2", "/*layers=*/1")], fails=True),
    Question("14.2", [
        ("lesson.cpp",
         "train_seeds(texts, 1)",
         "train_seeds(texts, 0)")
    ], fails=True),
    Question("14.3", [("measures.hpp", "draw(200'000", "draw(5'000")], fails=True),
    Question("15.1", [
        ("lesson.cpp",
         "write(model, before, 150, 1, V, g)",
         "write(model, before, 150, 0.01, V, g)")
    ]),
    Question("15.2", [
        ("lesson.cpp",
         "tuning = counts.tables(text.ids, text.tuning, text.test)",
         "tuning = counts.tables(text.ids, text.test, text.ids.size())")
    ]),
    Question("15.3", [("lesson.cpp", "write(model, before, 500, 0.8, 10, g)", "write(model, before, 500, 0.8, 1, g)")]),
    Question("16.1", [("lesson.cpp", "judging = half(play, 1)", "judging = half(play, 0)")]),
    Question("16.2", [("training.hpp", "Real(1 / std::sqrt(double(C)) / 0.02)", "Real(1)")]),
    Question("16.3", [("lesson.cpp", "same = head_kinds()[2];", "same = induction_kind();")]),
    Question("17.1", [
        ("lesson.cpp",
         "g.randint(shortest, longest + 1, {B})",
         "g.randint(16, 17, {B})")
    ], fails=True),
    Question("17.2", [
        ("training.hpp",
         "nn::AttentionVariant{0, true}",
         "nn::AttentionVariant{0, false}")
    ]),
    Question("17.3", [("lesson.cpp", "m.norms[1](x + mean(written, {0, 1}))", "m.norms[1](x)")]),
    Question("18.1", [("lesson.cpp", "Generator(18 + seed)", "Generator(118 + seed)")]),
    Question("18.2", [
        ("lesson.cpp",
         "only_row(other - head.output, head.s.position(Part::pronoun))",
         "only_row(other - head.output, head.s.words.size() - 1)")
    ]),
    Question("18.3", [("lesson.cpp", "in_brief(1000", "in_brief(100")], fails=True),
    Question("19.1", [("lesson.cpp", "options.perplexity = 5,", "options.perplexity = 30,")]),
    Question("19.2", [("lesson.cpp", "shown = centred(space)", "shown = space")]),
    Question("19.3", [("lesson.cpp", "M = {2, 2, 2, 2, 1, 1, 1, 1}", "M = {4, 4, 4, 4, 1, 1, 1, 1}")]),
    Question("20.1", [
        ("training.hpp",
         "return token(tokens) + nn::sinusoidal_positions(tokens.shape(1), C)",
         "return token(tokens)")
    ], fails=True),
    Question("20.2", [
        ("training.hpp",
         "model({parameters, g}, removed)",
         "model({parameters, g}, removed, 2)")
    ], fails=None),
    Question("20.3", [("sequences.hpp", "in_brief(9, 6)", "in_brief(12, 6)")], fails=None),
    Question("21.1", [("lesson.cpp", "scores(s, keys)", "scores(0 * s, keys)")], fails=True),
    Question("21.2", [
        ("lesson.cpp",
         "scores(s, keys)",
         "slice(W(s), -1, 0, std::int64_t(keys.size(1)))")
    ], fails=True),
    Question("21.3", [("training.hpp", "Score::dot, 0.005},", "Score::dot, 0.0007},")], fails=None),
    Question("22.1", [
        ("lesson.cpp",
         "normal(shape, 0, 0.5)",
         "normal(shape, 0, 0.02)")
    ], fails=True),
    Question("22.2", [("lesson.cpp", "four_of_each(g, count, 0, 0)", "four_of_each(g, count, 2, 2)")]),
    Question("22.3", [("lesson.cpp", "random + test.lines", "random - test.lines")]),
    Question("23.1", [("lesson.cpp", "{256, 512, 1024, 2048};", "{8, 512, 1024, 2048};")]),
    Question("23.2", [("lesson.cpp", "D_recall = 8;", "D_recall = 32;")], fails=True),
    Question("23.3", [("lesson.cpp", "return relu(x) + exp(-relu(-x));", "return exp(x);")]),
    Question("24.1", [("lesson.cpp", "\"she sells sea shells\";", "\"aaaaaaa\";")]),
    Question("24.2", [("lesson.cpp", "count < 2", "count < 3")], fails=True),
    Question("24.3", [("lesson.cpp", "in_brief(150, 20)", "in_brief(20, 20)")]),
    Question("25.1", [("lesson.cpp", "t = i + 2", "t = 2 * i")]),
    Question("25.2", [("lesson.cpp", "  Array y = x;\n", "  t += 1000;\n  Array y = x;\n")],
             fails=True),
    Question("25.3", [("lesson.cpp", "p.mutable_value() *= 3;", "p.mutable_value() *= 1;")], fails=True),
    Question("26.1", [("lesson.cpp", "c.norm_eps = 1e-12", "c.norm_eps = 1e-5")], fails=True),
    Question("26.2", [
        ("lesson.cpp",
         "I was WATCHING the Dóor, again!",
         "Unaffable DOORS: 12")
    ]),
    Question("26.3", [
        ("lesson.cpp",
         "base.layers = 12, base.heads = 12, base.embed_dim = 768",
         "base.layers = 24, base.heads = 16, base.embed_dim = 1024")
    ]),
    Question("27.1", [
        ("lesson.cpp",
         "distance = 1; distance < process.size(); distance *= 2",
         "distance = process.size() / 2; distance > 0; distance /= 2")
    ], fails=True),
    Question("27.2", [
        ("lesson.cpp",
         "Array(g.uniform({1000}, -1, 1) * g.uniform({1000}, -1, 1))",
         "Array(xt::round(100 * g.uniform({1000}, -1, 1) * g.uniform({1000}, -1, 1)))")
    ]),
    Question("27.3", [("lesson.cpp", "options.batch_size = 16", "options.batch_size = 128")]),
]


def folder_of(lesson):
    return next((PROJECT / "lessons").glob(f"{lesson}_*"))


def trains(lesson):
    return "in_brief(" in (folder_of(lesson) / "lesson.cpp").read_text()


def answer_of(question):
    lesson, number = question.number.split(".")
    text = (folder_of(lesson) / "answers.md").read_text()
    parts = re.split(r"^(\d)\. ", text, flags=re.M)
    return " ".join(parts[2 * int(number)].split())


def commands_of(name, build):
    """The commands that compile and link the lesson, as lists of words."""
    output = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", f"lessons/{name}"],
                            capture_output=True, text=True, check=True).stdout
    link = output.strip().splitlines()[-1]
    compile_command = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "-s", f"lessons/CMakeFiles/{name}.dir/{name}/lesson.cpp.o"],
        capture_output=True, text=True, check=True).stdout.strip().splitlines()[-1]
    return shlex.split(compile_command), [w for w in shlex.split(link) if w not in (":", "&&")]


def changed_output(question, folder, build):
    """The exit code and the output of the changed lesson."""
    lesson = folder_of(question.number.split(".")[0])
    lessons = folder / "lessons"
    for part in (lesson.name, "common"):  # with times: GCC takes equal headers for one (#pragma once)
        shutil.copytree(PROJECT / "lessons" / part, lessons / part)
    for name, old, new in question.edits:
        path = next(p for part in (lesson.name, "common") if (p := lessons / part / name).exists())
        text = path.read_text()
        if text.count(old) != 1:
            return None, f"{name} has {old!r} {text.count(old)} times, not once"
        path.write_text(text.replace(old, new))
    compile_command, link = commands_of(lesson.name, build)
    object_file = f"lessons/CMakeFiles/{lesson.name}.dir/{lesson.name}/lesson.cpp.o"
    common = str(PROJECT / "lessons/common")
    own = {str(lesson / "lesson.cpp"): str(lessons / lesson.name / "lesson.cpp"),
           object_file: str(folder / "lesson.o"), f"{object_file}.d": str(folder / "lesson.d"),
           f"-I{common}": f"-I{lessons / 'common'}", f"lessons/{lesson.name}": str(folder / "lesson")}
    for command in (compile_command, link):
        built = subprocess.run([own.get(word, word) for word in command], cwd=build,
                               capture_output=True, text=True)
        if built.returncode != 0:
            return None, built.stderr
    run = subprocess.run([folder / "lesson"], cwd=folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout


def has_number(text, number, slack=0.0):
    """Whether a number of the text, rounded to the digits of `number`, is `number` +- `slack`."""
    digits = len(number.split(".")[1])
    tolerance = 0.5 * 10.0 ** -digits + slack + 1e-9
    return any(len(n.split(".")[1]) >= digits and abs(float(n) - float(number)) <= tolerance
               for n in re.findall(DECIMAL, text))


def slack_of(question, answer, number):
    """By how much the number may differ on another machine."""
    if not trains(question.number.split(".")[0]):
        return 0.0
    is_rough = f"about {number}" in answer.lower()
    return float(number) / 5 if is_rough else 10.0 ** -len(number.split(".")[1])


def problems_of(question, build, keep):
    """What the answer says that the outputs do not show."""
    lesson = question.number.split(".")[0]
    answer = answer_of(question)
    with tempfile.TemporaryDirectory(prefix="heed-answers-") as folder:
        code, output = changed_output(question, pathlib.Path(folder), build)
    if code is None:
        return [output]
    if keep:
        (keep / f"{question.number}.out").write_text(output)
    problems = []
    if question.fails is not None and (code != 0) != question.fails:
        last = (output.strip().splitlines() or [""])[-1]
        problems.append(f"exit code {code}, last line: {last}")
    shown = " ".join(output.replace("|", " ").split())
    for quoted in re.findall(r'(?:check|claim)(?: about [^"]*)? "([^"]*)"', answer):
        if quoted not in shown:
            problems.append(f'"{quoted}" is not in the output')
    before = (folder_of(lesson) / "output.txt").read_text()
    derived = dict(formula.split(" = ") for formula in question.derived)
    for number in re.findall(DECIMAL, answer):
        if number in question.elsewhere:
            continue
        formula = derived.get(number, number)
        missing = [n for n in re.findall(DECIMAL, formula)
                   if not has_number(before + output, n, slack_of(question, answer, n))]
        problems += [f"{n} is in no output" for n in missing]
        if number in derived and not has_number(f"{abs(eval(formula)):.12f}", number):
            problems.append(f"{number} is not {formula}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="the beginning of a question's number, such as 02")
    parser.add_argument("--short", action="store_true", help="only lessons that train nothing")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/release")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the outputs")
    arguments = parser.parse_args()
    questions = [q for q in QUESTIONS if q.number.startswith(arguments.only) and
                 not (arguments.short and trains(q.number[:2]))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        found = pool.map(lambda q: problems_of(q, arguments.build, arguments.keep), questions)
        for question, problems in zip(questions, found):
            print(question.number, "holds" if not problems else "; ".join(problems), flush=True)
            failed += bool(problems)
    print(f"{len(questions) - failed} of {len(questions)} answers hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

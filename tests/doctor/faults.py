#!/usr/bin/env python3
"""faults.py: builds a heed whose training has a fault, chosen by the environment variable HEED_FAULT.

    python3 tests/doctor/faults.py FOLDER     writes the sources to FOLDER/source and builds FOLDER/build/heed

HEED_FAULT is NAME or NAME:K, where K is a step or the index of a parameter.
"""

import os
import pathlib
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent

FAULT = """
#include <cstdlib>
#include <cstring>
// The number behind the name in HEED_FAULT, 0 without a number, or -1 for another fault.
static inline long fault(const char* name) {
  const char* const text = std::getenv("HEED_FAULT");
  const std::size_t n = std::strlen(name);
  if (text == nullptr || std::strncmp(text, name, n) != 0) return -1;
  return text[n] == ':' ? std::atol(text + n + 1) : text[n] == 0 ? 0 : -1;
}
"""

# file: [(old, new)], where each old text occurs once
CHANGES = {
    "src/nn/gpt.cpp": [
        ("return {config.causal}; }",
         """if (fault("not_causal") >= 0) return {false};
  AttentionMask mask{config.causal};
  if (fault("only_itself") >= 0) mask.window = 1;
  return mask; }""")],
    "src/ops/attention.cpp": [
        ("return options.scale.value_or(",
         "return (fault(\"large_scores\") >= 0 ? 100 : 1) * options.scale.value_or(")],
    "src/optim/adamw.cpp": [
        ("    if (is_updated(parameters_[i])) update(",
         "    if (fault(\"skipped\") != static_cast<long>(i) && is_updated(parameters_[i])) update("),
        ("const Pack step_size = pack(",
         "const long from = fault(\"ascends\");\n  const Pack step_size = pack((from >= 0 && step_ > from ? -1 : 1) * ")],
    "src/train/trainer.cpp": [
        ("  backward(loss);\n  clip_gradients(loss.item(), batch);\n  optimizer_.step();\n",
         """  backward(loss);
  if (fault("large_gradient") >= 0)
    for (const Tensor& p : parameters_) const_cast<Array&>(p.grad()) *= Real{1000};
  if (const long i = fault("zero_gradient"); i >= 0)
    const_cast<Array&>(parameters_.tensors()[static_cast<std::size_t>(i)].grad()) *= Real{0};
  clip_gradients(fault("nan") > 0 && step_ + 1 >= fault("nan") ? NAN : loss.item(), batch);
  optimizer_.step();
  if (const long i = fault("copied"); i >= 0)
    parameters_.tensors()[static_cast<std::size_t>(i)].mutable_value() =
        parameters_.tensors()[static_cast<std::size_t>(i) + 1].value();
"""),
        ("  const double loss = train_on(batches_.next());",
         "  if (fault(\"same_batch\") >= 0) batches_.rewind(7);\n"
         "  const double loss = train_on(batches_.next());")],
    "src/text/corpus.cpp": [
        ("part.corpus->copy_ids(start + 1,",
         "part.corpus->copy_ids(start + (fault(\"targets\") >= 0 ? 0 : 1),")],
}


def write_sources(source):
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns("build", ".git", "runs"))
    for name, changes in CHANGES.items():
        text = (source / name).read_text()
        for old, new in changes:
            if text.count(old) != 1:
                sys.exit(f"{name}: occurs {text.count(old)} times: {old}")
            text = text.replace(old, new)
        begin = text.index("#include")
        (source / name).write_text(text[:begin] + FAULT + text[begin:])


def build(folder):
    source = folder / "source"
    write_sources(source)
    run = lambda *words: subprocess.run(words, cwd=source, check=True, stdout=subprocess.DEVNULL)
    run("cmake", "--preset", "release", "-B", str(folder / "build"))
    run("cmake", "--build", str(folder / "build"), "--target", "heed_train_program",
        "heed_doctor_program", "-j", "2")


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]).resolve())

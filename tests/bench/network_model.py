#!/usr/bin/env python3
"""network_model.py: compares the cost model of `heed bench --processes` with a network of known speed.

    python3 tests/bench/network_model.py build/release/heed_mpi data/harbour.txt

Two network namespaces are the two machines; a pair of veth devices with a token bucket filter (tc tbf)
is the network. For each rate, the script measures the latency a and the time per byte b of single
exchanges of 8 bytes and of 0.5 MB, the time of half a batch in each of two processes that do not
communicate, and the time of a step of two ranks of Open MPI over this network. The model predicts

    T(2) = (time of half a batch) + 2 a + n b,    n bytes of gradients

Where the kernel has netem, --delay MS also delays each packet. Needs root, ip, tc, and heed_mpi with
Open MPI's mpirun; without them the script says what is missing and ends with exit code 0. Exit code 1:
a prediction differs from the measurement by more than 25 %.
"""

import argparse
import contextlib
import csv
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HOSTS = {"heed-a": "10.99.0.1", "heed-b": "10.99.0.2"}  # network namespace: its address
MESSAGE = 1 << 19  # half a bucket of gradients: what two ranks send each other at a time
MODEL = ["--threads", "1", "--log-every", "1", "--eval-every", "1000", "--eval-batches", "1",
         "--no-overlap"]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def network():
    """Makes both namespaces and the link between them, and removes them afterwards."""
    a, b = HOSTS
    try:
        for host in HOSTS:
            run("ip", "netns", "add", host)
        run("ip", "-n", a, "link", "add", "link0", "type", "veth", "peer", "name", "link0", "netns", b)
        for host, address in HOSTS.items():
            run("ip", "-n", host, "addr", "add", address + "/24", "dev", "link0")
            run("ip", "-n", host, "link", "set", "lo", "up")
            run("ip", "-n", host, "link", "set", "link0", "up")
        yield
    finally:
        for host in HOSTS:
            subprocess.run(["ip", "netns", "del", host], check=False, capture_output=True)


def set_speed(mbit, delay_ms):
    for host in HOSTS:
        tc = ["tc", "-n", host, "qdisc"]
        subprocess.run(tc + ["del", "dev", "link0", "root"], check=False, capture_output=True)
        if delay_ms:
            run(*tc, "add", "dev", "link0", "root", "netem", "delay", f"{delay_ms}ms", "rate",
                f"{mbit}mbit")
        else:
            burst = max(16, mbit // 4)  # in KB: some milliseconds, as timers are late on a busy machine
            run(*tc, "add", "dev", "link0", "root", "tbf", "rate", f"{mbit}mbit", "burst", f"{burst}kb",
                "latency", "400ms")


# ---- heed

def step_ms(folder):
    """The median milliseconds of the steps after the first three."""
    with open(os.path.join(folder, "loss.csv"), encoding="utf-8") as file:
        return statistics.median(float(row["ms"]) for row in list(csv.DictReader(file))[3:])


def half_batch_ms(program, text, folder, steps):
    """The milliseconds of a step of two processes that train on half a batch each, at the same time."""
    outs = [os.path.join(folder, name) for name in ("left", "right")]
    runs = [subprocess.Popen([program, "train", text, "--batch-size", "6", "--steps", steps, "--out",
                              out, "--replace"] + MODEL, stdout=subprocess.DEVNULL) for out in outs]
    if any([each.wait() for each in runs]):
        sys.exit("network_model.py: heed_mpi failed")
    return max(step_ms(out) for out in outs)


def mpirun(folder, *command):
    """Runs a program as two ranks, one in each namespace, and returns its output."""
    a, b = HOSTS
    agent = os.path.join(folder, "agent")  # what mpirun calls instead of ssh
    with open(agent, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nshift\nexec ip netns exec {b} unshare --uts sh -c "hostname {b}; $*"\n')
    os.chmod(agent, 0o700)
    options = {"plm_rsh_agent": agent, "btl": "tcp,self", "pml": "ob1", "btl_tcp_if_include": "link0",
               "oob_tcp_if_include": "link0"}
    mca = [word for name, value in options.items() for word in ("--mca", name, value)]
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return run("ip", "netns", "exec", a, "mpirun", *mca, "--bind-to", "none", "--host",
               ",".join(HOSTS.values()), "-n", "2", *command)


def exchange_seconds(folder, program, size, times):
    build = os.path.dirname(os.path.abspath(program))
    return float(mpirun(folder, build + "/tests/heed_exchange_time", str(size), str(times)))


def two_ranks_ms(program, text, folder, steps):
    """The milliseconds of a step of two ranks in the two namespaces."""
    out = os.path.join(folder, "ranks")
    mpirun(folder, program, "train", text, "--shards", "2", "--steps", steps, "--out", out, "--replace",
           *MODEL)
    return step_ms(out)


def gradient_bytes(program, text, folder):
    out = os.path.join(folder, "one")
    output = run(program, "train", text, "--steps", "1", "--out", out, "--replace", *MODEL)
    words = next(line for line in output.splitlines() if line.startswith("model")).split()
    return 4 * int(words[words.index("parameters") - 1].replace(",", ""))


def measure(options, folder, n):
    """One round: a, b, and the milliseconds of half a batch, of the model and of a step."""
    a = exchange_seconds(folder, options.program, 8, 101)
    b = (exchange_seconds(folder, options.program, MESSAGE, 15) - a) / MESSAGE
    compute = half_batch_ms(options.program, options.text, folder, options.steps)
    measured = two_ranks_ms(options.program, options.text, folder, options.steps)
    return a, b, compute, compute + 1e3 * (2 * a + n * b), measured


def missing():
    """What this machine lacks, or an empty string."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    for program in ("ip", "tc", "mpirun"):
        if shutil.which(program) is None:
            return f"the program {program} is not installed"
    try:
        with network():
            set_speed(100, 0)
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd)}: {error.stderr.strip()}"
    return ""


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # else the namespaces would stay
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/heed_mpi")
    parser.add_argument("text", help="the text to train on")
    parser.add_argument("--mbit", default="100,300,1000", help="rates in Mbit/s (default %(default)s)")
    parser.add_argument("--delay", type=float, default=0, help="delay of each packet in ms (netem)")
    parser.add_argument("--steps", default="15", help="steps of each run (default 15)")
    parser.add_argument("--rounds", type=int, default=3, help="the numbers are their medians (3)")
    options = parser.parse_args()
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, network():
        n = gradient_bytes(options.program, options.text, folder)
        print(f"n = {n / 1e6:.2f} MB\n  Mbit/s    a (us)  1/b (MB/s)  half batch (ms)  model (ms)  "
              "measured (ms)  ratio")
        for mbit in map(int, options.mbit.split(",")):
            try:
                set_speed(mbit, options.delay)
            except subprocess.CalledProcessError as error:
                print(f"skipped: {' '.join(error.cmd)}: {error.stderr.strip()}")
                return 0
            rounds = [measure(options, folder, n) for _ in range(options.rounds)]
            a, b, compute, model, measured = map(statistics.median, zip(*rounds))
            ratio = measured / model
            wrong += not 0.75 < ratio < 1.25
            print(f"{mbit:8} {1e6 * a:9.0f} {1e-6 / b:11.1f} {compute:16.1f} {model:11.1f} "
                  f"{measured:14.1f} {ratio:6.2f}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

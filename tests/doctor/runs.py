"""runs.py: trains the labelled runs: healthy ones, and those of kinds.py. Each is trained once and kept."""

import array
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import time

import texts

TINY = {"--layers": 1, "--heads": 2, "--embed-dim": 32, "--block-size": 32, "--batch-size": 8,
        "--steps": 300, "--lr": 0.003, "--warmup": 20, "--threads": 1, "--eval-batches": 10}
LLAMA = {"--norm": "rms", "--positions": "rotary", "--mlp": "swiglu"}


class Trainer:
    """Trains in one folder, with the program of a build, or with the one that has faults."""

    def __init__(self, program, faulty, folder, rng):
        self.program, self.faulty, self.folder, self.rng = program, faulty, folder, rng
        self.run, self.text, self.fault = folder / "run", folder / "text.txt", None

    def environment(self):
        names = {"PATH": "/nothing", "GOMP_SPINCOUNT": "0"}  # without gnuplot, which takes long
        return {**names, **({"HEED_FAULT": self.fault} if self.fault else {})}

    def command(self, *words):
        program = self.faulty if self.fault else self.program
        return ["/usr/bin/nice", "-n", "1", str(program)] + [str(word) for word in words]

    def call(self, *words):
        return subprocess.run(self.command(*words), env=self.environment(), cwd=self.folder,
                              capture_output=True, text=True, errors="replace")

    def write(self, text, encoding="utf-8", **options):
        self.text.write_bytes(text.encode(encoding, **options))

    def train(self, *more, out="run", model=True, **changed):
        flags = {**TINY, **{"--" + name.replace("_", "-"): value for name, value in changed.items()}}
        if not model:
            for name in ("layers", "heads", "embed-dim", "block-size"):
                flags.pop("--" + name)
        words = [str(word) for item in flags.items() for word in item]
        return self.call("train", "text.txt", "--out", out, *words, *more)

    def edit_init(self, edit):
        """Trains from an initial model whose tensors {name: (shape, numbers)} `edit` has changed."""
        self.train(out="first", steps=1, heads=4)
        metadata, tensors = read_safetensors(self.folder / "first/checkpoint.safetensors")
        tensors = {n: t for n, t in tensors.items() if not n.startswith("optimizer.")}
        edit(tensors)
        metadata = {n: v for n, v in metadata.items() if n.split(".")[0] in ("model", "vocabulary", "vocab")}
        write_safetensors(self.folder / "edited.safetensors", metadata, tensors)
        result = self.train("--init", "edited.safetensors", "--trust", model=False)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)

    def with_fault(self, fault, **changed):
        self.fault = fault
        (self.folder / "fault").write_text(fault)
        self.write(texts.any_text(self.rng)[1])
        return self.train(**changed)


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = entry["shape"], array.array("f", data[8 + size + begin:8 + size + end])
    return metadata, tensors


def write_safetensors(path, metadata, tensors):
    header, offset = {"__metadata__": metadata}, 0
    for name, (shape, numbers) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + 4 * len(numbers)]}
        offset += 4 * len(numbers)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(n.tobytes() for _, n in tensors.values()))


# ---- changes of the attention of an initial model with 4 heads of width 8

def rows(tensors, part, head, numbers=None, factor=None):
    """Scales or sets the 8 rows of a head in the weight of queries, keys or values; returns them."""
    shape, values = tensors[f"blocks.0.attention.{part}.weight"]
    begin, end = head * 8 * shape[1], (head + 1) * 8 * shape[1]
    if factor is not None:
        numbers = array.array("f", [factor * v for v in values[begin:end]])
    if numbers is not None:
        values[begin:end] = numbers
    return values[begin:end]


def columns(tensors, head, copied=None):
    """Sets the 8 columns of a head in the output projection to 0, or to those of another head."""
    shape, values = tensors["blocks.0.attention.out.weight"]
    for r in range(shape[0]):
        for c in range(8):
            values[r * shape[1] + head * 8 + c] = 0 if copied is None else values[r * shape[1] + copied * 8 + c]


def zero_values(tensors):
    rows(tensors, "value", 1, factor=0)
    columns(tensors, 1)


def zero_queries(tensors):
    rows(tensors, "query", 2, factor=0)
    rows(tensors, "key", 2, factor=0)


def equal_heads(tensors):
    for part in ("query", "key", "value"):
        rows(tensors, part, 3, numbers=rows(tensors, part, 0))
    columns(tensors, 3, copied=0)


def large_queries(tensors):
    for part in ("query", "key"):
        for head in range(4):
            rows(tensors, part, head, factor=40)


# ---- the kinds of broken runs

def other_alphabet(rng):
    one = texts.prose(rng, 54000)
    return one + texts.invented_language(rng, [chr(0x430 + i) for i in range(32)])[:len(one) // 9]


def sorted_words(rng):
    return "\n".join(sorted(texts.prose(rng, 120000).split()))


def stopped(trainer):
    trainer.write(texts.any_text(trainer.rng)[1])
    flags = {**TINY, "--steps": 2000, "--log-every": 5}
    words = [str(word) for item in flags.items() for word in item]
    process = subprocess.Popen(trainer.command("train", "text.txt", "--out", "run", *words),
                               env=trainer.environment(), cwd=trainer.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        time.sleep(0.01)
        path = trainer.run / "loss.csv"
        if path.exists() and len(path.read_text().splitlines()) >= 7:
            process.send_signal(signal.SIGINT)
            process.wait()


def resumed(trainer):
    trainer.write(texts.any_text(trainer.rng)[1])
    warmup = trainer.rng.randint(320, 1500)
    trainer.train(steps=150, warmup=warmup)
    trainer.call("train", "text.txt", "--resume", "--steps", 300, "--out", "run", "--threads", 1)


def on(text, encoding="utf-8", more=(), **changed):
    """A kind that trains on text(rng), with options that may be functions of rng."""
    def make(t):
        t.write(text(t.rng), encoding)
        t.train(*more, **{n: v(t.rng) if callable(v) else v for n, v in changed.items()})
    return make


def any_text(rng):
    return texts.any_text(rng)[1]


def between(low, high):
    return lambda rng: float(f"{low * (high / low) ** rng.random():.3g}")


def ascii_prose(rng):
    return texts.prose(rng).encode("ascii", "ignore").decode()


def with_zeros(rng):
    text = texts.prose(rng)
    return "".join(c + "\0" if rng.random() < 0.02 else c for c in text)


def small(rng):
    return texts.prose(rng, 3000)


SMALL = {"steps": 1000, "embed_dim": 48, "eval_every": lambda rng: rng.choice([50, 250])}

MAKERS = {
    "lr 0.1 to 1": on(any_text, lr=between(0.1, 1)),
    "lr 1e-6 to 1e-5": on(any_text, lr=between(1e-6, 1e-5)),
    "warm-up 1.5 to 10 times the steps": on(any_text, warmup=lambda rng: rng.randint(450, 3000)),
    "3 kB of text, many steps": on(small, **SMALL),
    "last tenth in another alphabet": on(other_alphabet),
    "no causal mask": lambda t: t.with_fault("not_causal", steps=500),
    "block size 1": on(any_text, block_size=1, batch_size=64),
    "a head of zero values": lambda t: (t.write(any_text(t.rng)), t.edit_init(zero_values)),
    "queries and keys 40 times as large": lambda t: (t.write(any_text(t.rng)), t.edit_init(large_queries)),
    "clip 1e-3": on(any_text, clip=1e-3),
    "a parameter that the optimizer skips": lambda t: t.with_fault(f"skipped:{t.rng.randint(0, 10)}"),
    "UTF-16LE without a mark": on(ascii_prose, "utf-16-le"),
    "zero bytes in the text": on(with_zeros),
    "NaN from a step on": lambda t: t.with_fault(f"nan:{t.rng.randint(2, 290)}"),
    "20 steps": on(any_text, steps=20, warmup=2),
    "lr 1e3 to 1e30": on(any_text, lr=between(1e3, 1e30)),
    "lr 0.1 to 1, Llama's variants, no warm-up":
        on(any_text, lr=between(0.1, 1), warmup=0, more=[w for item in LLAMA.items() for w in item]),
    "learning rate decays at once":
        on(any_text, warmup=3, decay_steps=lambda rng: rng.randint(5, 12), min_lr=1e-6),
    "warm-up longer than a run in two parts": resumed,
    "3 kB of random letters": on(lambda rng: "".join(rng.choices("abcdefghijklmnop", k=3000)), **SMALL),
    "the same batch in each step": lambda t: t.with_fault("same_batch"),
    "a sorted list of words": on(sorted_words),
    "prose, then code": on(lambda rng: texts.prose(rng, 54000) + texts.files("c++")[:6000]),
    "targets are the inputs": lambda t: t.with_fault("targets"),
    "a text repeated ten times": on(lambda rng: any_text(rng)[:6000] * 10),
    "each position attends only to itself": lambda t: t.with_fault("only_itself", steps=500),
    "two equal heads": lambda t: (t.write(any_text(t.rng)), t.edit_init(equal_heads)),
    "a head of zero queries and keys": lambda t: (t.write(any_text(t.rng)), t.edit_init(zero_queries)),
    "attention scores 100 times as large": lambda t: t.with_fault("large_scores"),
    "gradient 1000 times as large": lambda t: t.with_fault("large_gradient"),
    "a parameter whose gradient is zero": lambda t: t.with_fault(f"zero_gradient:{t.rng.randint(0, 10)}"),
    "a parameter copied onto another": lambda t: t.with_fault("copied:3"),
    "UTF-16BE without a mark": on(ascii_prose, "utf-16-be"),
    "CR line ends": on(lambda rng: texts.prose(rng).replace("\n", "\r")),
    "wrong sign of the update from a step on": lambda t: t.with_fault(f"ascends:{t.rng.randint(20, 200)}"),
    "stopped by a signal after 25 steps": stopped,
}


def healthy(t):
    rng = t.rng
    t.write(texts.any_text(rng)[1])
    heads = rng.choice([1, 2, 4])
    changed = {"heads": heads, "embed_dim": heads * rng.choice([8, 16]) if heads > 1 else 32,
               "layers": rng.choice([1, 1, 2]), "block_size": rng.choice([16, 32, 64]),
               "steps": rng.choice([300, 400, 600]), "lr": rng.choice([0.002, 0.003, 0.005]),
               "warmup": rng.choice([0, 10, 30]), "eval_every": rng.choice([50, 100, 250]),
               "batch_size": rng.choice([8, 12, 16]), "dropout": rng.choice([0, 0, 0, 0.1]),
               "seed": rng.randint(1, 10 ** 6)}
    more = []
    for item in LLAMA.items():
        more += item if rng.random() < 0.2 else []
    more += rng.choice([[], [], [], [], ["--bytes"], ["--tokenizer", "bpe", "--vocab-size", "300"]])
    result = t.train(*more, **changed)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)


MAKERS["healthy"] = healthy


def trained(kind, number, program, faulty, work):
    """The folder of run `number` of a kind, which is trained unless it was before."""
    folder = work / kind.replace(" ", "_").replace(",", "").replace("'", "") / str(number)
    if not (folder / "done").exists():
        for path in sorted(folder.rglob("*"), reverse=True) if folder.exists() else []:
            path.unlink() if path.is_file() else path.rmdir()
        folder.mkdir(parents=True, exist_ok=True)
        MAKERS[kind](Trainer(program, faulty, folder, random.Random(f"{kind} {number}")))
        (folder / "done").touch()
    return folder

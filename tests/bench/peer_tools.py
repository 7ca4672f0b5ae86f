"""peer_tools.py: what the programs of `heed bench --compare` share: options, the text, percentiles."""

import argparse


def options(description):
    """The options of heed bench's model, as o.text, o.steps, o.block_size and so on."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("text")
    sizes = {"steps": 40, "threads": 1, "block-size": 64, "batch-size": 12, "layers": 4,
             "heads": 4, "embed-dim": 128, "generate": 0, "seed": 1337}
    for name, default in sizes.items():
        parser.add_argument("--" + name, type=int, default=default, metavar="N")
    return parser.parse_args()


def vocabulary_and_ids(path):
    """The vocabulary size, and the first 90 % of the text as token ids (one token per character)."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read()
    ids = {character: i for i, character in enumerate(sorted(set(text)))}
    return len(ids), [ids[character] for character in text[: len(text) * 9 // 10]]


def percentile(values, fraction):
    values = sorted(values)
    position = fraction * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (position - below) * (values[above] - values[below])

#!/usr/bin/env python3
"""Makes the small vocabularies of tests/weights/small from the words below:
vocab.json and merges.txt for byte-level BPE, vocab.txt for WordPiece."""

import collections
import json
import pathlib
import unicodedata

TEXT = """the door opened when i was watching it . the child was playing when the dog opened the
door don't i've they're we'll it's i'm you'd hello world attention transformer transformers unaffable
playing played plays watching watched opening opens 2024 1,000 3.14 12 34 e.g. x.com don't won't
café naïve école straße über istanbul οδος σοφος σισυφος москва привет мир한국어 日本語 中文 العربية
हिन्दी ไทย שלום 😀 😀😀 ½ ² … — “quoted” ---- .... !!!! aaaaaaaa abababab   spaces    here
lower lowest newer newest wider widest low new wide the then there these they other others"""

MERGES = 420


def byte_characters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    table = {b: chr(b) for b in plain}
    table.update({b: chr(256 + n) for n, b in enumerate(others)})
    return [table[b] for b in range(256)], plain + others


def byte_level(words):
    characters, order = byte_characters()
    counts = collections.Counter(words)
    parts = {w: [characters[b] for b in w.encode()] for w in counts}
    merges = []
    while len(merges) < MERGES:
        pairs = collections.Counter()
        for word, tokens in parts.items():
            for pair in zip(tokens, tokens[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        for word, tokens in parts.items():
            i = 0
            while i + 1 < len(tokens):
                if (tokens[i], tokens[i + 1]) == best:
                    tokens[i:i + 2] = ["".join(best)]
                i += 1
    tokens = [characters[b] for b in order] + ["".join(m) for m in merges] + ["<|endoftext|>"]
    assert len(set(tokens)) == len(tokens)
    return {token: i for i, token in enumerate(tokens)}, merges


def word_pieces(words):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    plain = ["".join(c for c in unicodedata.normalize("NFD", w.strip().lower())
                     if unicodedata.category(c) != "Mn") for w in words]
    ranges = [(0x21, 0x7e), (0x3b1, 0x3c9), (0x430, 0x44f), (0x5d0, 0x5ea), (0x1100, 0x1112),
              (0x1161, 0x1175), (0x11a8, 0x11c2), (0x3042, 0x3050), (0x4e00, 0x4e20),
              (0x20000, 0x20008)]
    extra = [chr(c) for first, last in ranges for c in range(first, last + 1)
             if not 0x41 <= c <= 0x5a]
    letters = sorted(set("".join(plain)) | set(extra) - {" "})
    pieces = special + letters + ["##" + c for c in letters]
    counts = collections.Counter()
    for word in plain:
        for end in range(2, len(word) + 1):
            counts[word[:end]] += 1
            counts["##" + word[-end:]] += 1 if end < len(word) else 0
    pieces += [p for p, n in sorted(counts.items()) if n >= 2 and len(p) < 15]
    pieces += ["unaffable", "##aff", "##able", "un", "x" * 98, "##" + "x" * 2]
    return list(dict.fromkeys(pieces))


def main():
    folder = pathlib.Path(__file__).resolve().parent / "small"
    folder.mkdir(exist_ok=True)
    lines = TEXT.splitlines()
    after_spaces = [" " + word for line in lines for word in line.split(" ")]
    vocab, merges = byte_level(after_spaces * 2 + TEXT.split())
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=True) + "\n")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    (folder / "vocab.txt").write_text("".join(p + "\n" for p in word_pieces(TEXT.split())))


if __name__ == "__main__":
    main()

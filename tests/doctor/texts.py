"""texts.py: odd texts to train on: many languages and alphabets, code, verse, tables, grammars."""

import functools
import gettext
import pathlib
import random

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
LOCALES = pathlib.Path("/usr/share/locale")  # translated messages of the installed programs


def clean(text):
    return text.replace("\0", "").replace("\r", "").replace("\ufffd", "")


@functools.lru_cache(None)
def catalog(language):
    lines = []
    for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.mo")):
        try:
            with open(path, "rb") as file:
                messages = gettext.GNUTranslations(file)._catalog
        except (OSError, UnicodeDecodeError, ValueError, IndexError):
            continue
        lines += [value for key, value in messages.items() if key and isinstance(value, str)]
    random.Random(language).shuffle(lines)
    return clean("\n".join(lines))


@functools.lru_cache(None)
def languages():
    names = sorted(path.name for path in LOCALES.iterdir()) if LOCALES.is_dir() else []
    return [name for name in names if len(catalog(name)) > 60000]


@functools.lru_cache(None)
def files(kind):
    folders = {"c++": (PROJECT / "src", "*.cpp"), "headers": (PROJECT / "include", "*.hpp"),
               "python": (pathlib.Path(random.__file__).parent, "*.py"),
               "markdown": (PROJECT, "**/*.md"),
               "licences": (pathlib.Path("/usr/share/common-licenses"), "*")}
    folder, pattern = folders[kind]
    paths = sorted(folder.rglob(pattern))
    if kind == "licences":  # the last version of each: versions of a licence are copies, a leak
        paths = list({path.name.split("-")[0]: path for path in paths}.values())
    random.Random(kind).shuffle(paths)
    return clean("\n".join(p.read_text(errors="ignore") for p in paths[:80] if p.is_file()))


def play(_):
    return (PROJECT / "data/harbour.txt").read_text()


def invented_language(rng, alphabet=None):
    """Words of random syllables in an alphabet, by Zipf's law, in sentences of a small grammar."""
    first, count = rng.choice([(0x61, 26), (0x3b1, 25), (0x430, 32), (0x5d0, 27), (0x10d0, 33),
                               (0x3042, 80), (0x4e00, 300), (0x1f600, 40)])
    letters = alphabet or [chr(first + i) for i in range(count)]
    syllables = ["".join(rng.choices(letters, k=rng.randint(1, 3))) for _ in range(60)]
    word = lambda: "".join(rng.choices(syllables, k=rng.randint(1, 3)))
    nouns, verbs, others = ([word() for _ in range(n)] for n in (80, 40, 15))
    zipf = lambda words: rng.choices(words, [1 / (i + 1) for i in range(len(words))])[0]
    return "".join(" ".join([zipf(others), zipf(nouns), zipf(verbs), zipf(others), zipf(nouns)]) +
                   rng.choice([". ", "! ", ".\n"]) for _ in range(4000))


def verse(rng):
    rhymes = [["stone", "alone", "bone", "tone"], ["sea", "free", "me", "tree"],
              ["night", "light", "bright", "sight"], ["day", "away", "grey", "stay"]]
    words = "the a my of in and old slow green deep wide lost wind sail heart hand gull rope".split()
    stanza = lambda: "".join(
        " ".join(rng.choices(words, k=rng.randint(3, 6))) + " " + rng.choice(pair) + ",\n"
        for pair in rng.sample(rhymes, 2) * 2) + "\n"
    return "".join(stanza() for _ in range(600))


def table(rng):
    return "".join(f"{i};{rng.gauss(20, 5):.1f};{rng.choice(['N', 'S', 'E', 'W'])};"
                   f"{rng.randint(0, 9999):04d}\n" for i in range(5000))


def chain(rng):
    letters = "ACGT" if rng.random() < 0.5 else "abcdefgh"
    rows, text = {}, letters[:3]
    for _ in range(60000):
        row = rows.setdefault(text[-3:], [rng.random() ** 4 for _ in letters])
        text += rng.choices(letters, row)[0]
    return text


def log(rng):
    return "".join('{"t": %d, "level": "%s", "user": "u%03d", "ms": %d}\n' %
                   (1700000000 + 7 * i, rng.choice(["info", "warn", "error"]), rng.randint(0, 999),
                    rng.expovariate(0.02)) for i in range(2500))


def any_text(rng):
    """(name, text) of 25 to 200 thousand characters."""
    makers = {"play": play, "invented": invented_language, "verse": verse, "table": table,
              "chain": chain, "log": log}
    kind = rng.choice(["language"] * 6 + ["file"] * 4 + list(makers) + ["invented"] * 2)
    if kind == "language" and languages():
        name = rng.choice(languages())
        text = catalog(name)
    elif kind in makers:
        name, text = kind, makers[kind](rng)
    else:
        name = rng.choice(["c++", "headers", "python", "markdown", "licences"])
        text = files(name)
    size = min(len(text), int(rng.choice([25e3, 50e3, 100e3, 200e3])))
    begin = rng.randint(0, len(text) - size)
    return name, text[begin:begin + size]


def prose(rng, size=60000):
    """A text in Latin letters."""
    text = rng.choice([play(rng), files("licences"), files("markdown")])
    begin = rng.randint(0, max(0, len(text) - size))
    return text[begin:begin + size]

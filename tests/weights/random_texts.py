"""random_texts.py: random and difficult Unicode texts for the comparison of tokenizers."""

import random
import unicodedata

# Texts that some tokenizer somewhere gets wrong.
NASTY = [
    "", " ", "  ", "\n", "\r\n", "\t \n", "a", "A", " a", "a ", "  a  ", "a\n\nb", "a \n b",
    "i was watching the door when [MASK] opened .", "[CLS] [SEP] [PAD] [UNK] [MASK]",
    "[mask] [ MASK ] [[MASK]] x[MASK]y [MASK][MASK] [MAS K]", "<|endoftext|>", "a<|endoftext|>b",
    "I'm you're he's they've we'll I'd don't", "I'M YOU'RE HE'S", "'s't're've'm'll'd",
    "''s 'S ' s", " 's", "x's  's", "it's\u2019s", "1,234.56 is 50% of 2\u00b2 + \u00bd",
    "12 34abc56 \u0661\u0662", "\x00a\x00b", "a\x01b\x7fc", "\x1c\x1d\x1e\x1f", "a\x1cb", "a\x85b",
    "a\x85 b", "\x85\x85", "a \x85", "\ufeffa", "a\ufeffb", " \ufeff ", "\u2028\u2029", "a\u2028b",
    "a\u00a0b", "\u00a0 \u00a0x", "\u3000x", "x \u3000", "\u200b\u200c\u200d", "a\u200bb",
    "\u180ea", "\u2060", "a\u00adb", "\u0130stanbul \u0130", "I\u0307", "\u0131",
    "STRASSE Stra\u00dfe \u1e9e", "\ufb01n", "\u03a3", "\u039f\u0394\u039f\u03a3", "\u039f\u03a3.",
    "\u039f\u03a3'\u039f", "\u03a3\u03a3\u03a3 \u03a3", "\u039f\u03a3\u0301",
    "\u039f\u03a3\u0301\u0391", "A\u00ad\u03a3", "\u02b0\u03a3", "\u24b6\u03a3",
    "\u039f\u03a3\u0345", "caf\u00e9 cafe\u0301 CAF\u00c9", "na\u00efve \u00c5ngstr\u00f6m \u212b",
    "a\u0315\u0300\u05ae\u0301b", "\u1e69 s\u0323\u0307 s\u0307\u0323", "\u0344",
    "\u0958 \u0915\u093c", "\u0fb9", "a\u0903b", "a\u20ddb",
    "\uac00\uac01 \ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\u4e2d\u6587 \u65e5\u672c\u8a9e \u30ab\u30bf\u30ab\u30ca \u3072\u3089\u304c\u306a",
    "a\u4e00b\u9fffc\u3400d\u4dbfe", "\u4dff\ua000", "\uf900\ufa0e\ufaff\U0002f800",
    "\U00020000a\U0002a6df", "a\U0002a700b\U0002b738c\U0002b740d\U0002b81f",
    "\U0002b820x\U0002b920y\U0002ceafz", "\U0002ceb0x \U00030000",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea",
    "1\ufe0f\u20e3", "\u2764\ufe0f", "\u00bfqu\u00e9? \u00a1s\u00ed!", "\u2026\u2014\u201cx\u201d",
    "$5 + 3 = <8> ^~`|", "a_b-c.d@e", "\u037e \u0387 \u1fef \u1ffd", "\ufffd", "a\ufffdb",
    "\ue000", "a\ue000b", "\U000f0000", "\U0010ffff \ufffe \ufdd0", "a\U000e0041b", "##ing",
    "un##aff", "#", "##", "a#b", "\u2160\u2170 \u24d0", "\u1d400 \U0001d400\U0001d7ce",
    "\u00aa\u00ba\u00b5", "\u0e44\u0e17\u0e22\u0e20\u0e32\u0e29\u0e32",
    "\u0939\u093f\u0928\u094d\u0926\u0940", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\u0645\u064e\u0631\u0652\u062d\u064e\u0628\u064b\u0627", "x" * 99, "x" * 100, "x" * 101,
    "x" * 200, "x" * 201, "\u00e9" * 100, "e\u0301" * 100, "e\u0301" * 101, "ab " * 50, " " * 40,
    " " * 40 + "x", "\n" * 30 + "x", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", "ababababababab", ",,,,,,,",
    "!!!!!!!!!!", "----------", "........", "\u00e9" * 30, "ab" * 51, "\u0301" * 20,
    "a" + "\u0301\u0323" * 20,
]

RANGES = {
    "ascii": [(0x21, 0x7e)], "letters": [(0x61, 0x7a)], "capitals": [(0x41, 0x5a)],
    "digits": [(0x30, 0x39), (0x660, 0x669), (0x966, 0x96f), (0xff10, 0xff19), (0xbc, 0xbe),
        (0x2150, 0x218b)],
    "latin": [(0xa1, 0x24f), (0x1e00, 0x1eff)], "greek": [(0x370, 0x3ff), (0x1f00, 0x1fff)],
    "cyrillic": [(0x400, 0x52f)],
    "hebrew_arabic": [(0x590, 0x74f), (0xfb1d, 0xfdff), (0xfe70, 0xfeff)],
    "indic": [(0x900, 0xdff)], "southeast": [(0xe00, 0x109f), (0x1780, 0x17ff)],
    "hangul": [(0x1100, 0x11ff), (0xac00, 0xd7a3)], "kana": [(0x3040, 0x30ff), (0x31f0, 0x31ff)],
    "chinese": [(0x3400, 0x4dbf), (0x4e00, 0x9fff), (0xf900, 0xfaff)],
    "chinese_above": [(0x20000, 0x2a6df), (0x2a700, 0x2b73f), (0x2b740, 0x2b81f),
        (0x2b820, 0x2ceaf), (0x2ceb0, 0x2ebe0), (0x2f800, 0x2fa1f), (0x30000, 0x3134a)],
    "beside_chinese": [(0x3380, 0x3420), (0x4db0, 0x4e10), (0x9ff0, 0xa010), (0xf8f0, 0xf910),
        (0xfaf0, 0xfb10)],
    "marks": [(0x300, 0x36f), (0x483, 0x489), (0x591, 0x5bd), (0x610, 0x61a), (0x1ab0, 0x1ace),
        (0x20d0, 0x20f0), (0x1dc0, 0x1dff)],
    "controls": [(0, 0x1f), (0x7f, 0x9f)],
    "format": [(0xad, 0xad), (0x200b, 0x200f), (0x202a, 0x202e), (0x2060, 0x206f),
        (0xfeff, 0xfeff), (0xe0001, 0xe007f)],
    "spaces": [(9, 13), (0x1c, 0x20), (0x20, 0x20), (0x20, 0x20), (0x85, 0x85), (0xa0, 0xa0),
        (0x1680, 0x1680), (0x2000, 0x200a), (0x2028, 0x2029), (0x202f, 0x202f), (0x205f, 0x205f),
        (0x3000, 0x3000), (0x180e, 0x180e), (0xfeff, 0xfeff)],
    "punctuation": [(0x21, 0x2f), (0x3a, 0x40), (0x2010, 0x205e), (0x3001, 0x3030),
        (0xff01, 0xff0f)],
    "symbols": [(0x20a0, 0x20c0), (0x2100, 0x214f), (0x2190, 0x23ff), (0x2460, 0x27bf)],
    "emoji": [(0x1f300, 0x1faf6), (0x1f1e6, 0x1f1ff), (0x200d, 0x200d), (0xfe0f, 0xfe0f),
        (0x1f3fb, 0x1f3ff)],
    "mathematical": [(0x1d400, 0x1d7ff)],
    "sigma": [(0x3a3, 0x3a3), (0x3a3, 0x3a3), (0x391, 0x3a9), (0x27, 0x27), (0x2e, 0x2e),
        (0x3a, 0x3a), (0xad, 0xad), (0x301, 0x301), (0x2b0, 0x2b0), (0x24b6, 0x24b6),
        (0x20, 0x20)],
    "all": [(0, 0xd7ff), (0xe000, 0x2ffff), (0xe0000, 0xe01ef)],
    "private": [(0xe000, 0xf8ff), (0xf0000, 0xf00ff)],
}
WORDS = (
    "the of and a to in door was watching when it opened playing unaffable transformer "
    "attention Hello WORLD don't I'm you've they'll we'd he's it's 2024 3.14 1,000 [MASK] [CLS] "
    "[SEP] [PAD] [UNK] [mask] ##ing <|endoftext|> \u0130stanbul Stra\xdfe "
    "\u039f\u0394\u039f\u03a3 caf\xe9 na\xefve \ud55c\uad6d\uc5b4 \u65e5\u672c\u8a9e \U00020000 "
    "\xe9cole \u041c\u043e\u0441\u043a\u0432\u0430 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 "
    "\U0001f600 's 't 're 've 'm 'll 'd 'S x.com/a_b http:// e.g. U.S.A.").split()
SEPARATORS = [" "] * 12 + ["", "", "  ", "\n", "\t", "\n\n", " \n", "\u00a0", "\u3000", "\x85"]
SEPARATORS += ["\ufeff", "\u2028", "   ", "-", ", "]


def pools():
    """The code points of each kind that this Python's Unicode version has assigned."""
    known = lambda c: unicodedata.category(chr(c)) not in ("Cn", "Cs")
    return {name: [chr(c) for first, last in ranges for c in range(first, last + 1) if known(c)]
            for name, ranges in RANGES.items()}


def random_texts(count, seed):
    """NASTY, then random texts, `count` in all."""
    yield from NASTY[:count]
    draw = random.Random(seed)
    kinds = list(pools().values())
    choice, below = draw.choice, draw.random
    for _ in range(count - len(NASTY)):
        parts = []
        kind = choice(kinds)
        for _ in range(int(1 + below() * 12)):
            x = below()
            if x < 0.3:
                parts.append(choice(WORDS))
            elif x < 0.5:
                parts.append(choice(SEPARATORS))
            else:
                if x < 0.8:
                    kind = choice(kinds)
                parts += [choice(kind) for _ in range(int(1 + below() * 6))]
            if below() < 0.4:
                parts.append(choice(SEPARATORS))
        yield "".join(parts)

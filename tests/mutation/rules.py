"""rules.py: finds the mutants of a source file by rules, and the operands of its operators."""

import hashlib
import pathlib
import re
from typing import NamedTuple

PROJECT = pathlib.Path(__file__).resolve().parents[2]

# (kind, pattern, replacement). Patterns are searched in code without comments and strings.
RULES = [
    ("arithmetic", r" \+ (?!=)", " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \* ", " / "),
    ("arithmetic", r" / ", " * "),
    ("comparison", r" < ", " <= "),
    ("comparison", r" <= ", " < "),
    ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "),
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("boundary", r" [+-] 1\b(?!\.)", ""),
    ("condition", r" && ", " || "),
    ("condition", r" \|\| ", " && "),
    ("condition", r"\bif \(!", "if ("),
    ("dropped call", r"^ +(?!return|throw|delete)[\w:.>-]+\([^;{}]*\);$", "  ;"),
    ("swapped argument", r"\((\w+), (\w+)\)", r"(\2, \1)"),
    ("constant", r"(?<![\w.'])\d+(?![\w.'])", lambda found: str(int(found[0]) + 1)),
    ("flag", r"\btrue\b", "false"),
    ("flag", r"\bfalse\b", "true"),
    ("flag", r" \| O_\w+", ""),
]

# The switches of instrumented code are no constant expressions, and a changed process number could
# end processes that belong to nobody here.
CONSTANT = r"\b(?:constexpr\b(?! bool operator)[^;{]*[;{]|case [^:]*:|kill\([^;]*;|enum [^;]*;)"


class Mutant(NamedTuple):
    file: str
    kind: str
    begin: int
    end: int
    new: str

    def applied_to(self, text):
        return text[:self.begin] + self.new + text[self.end:]

    def lines(self, text):
        """The changed line before and after, without indentation."""
        begin = text.rfind("\n", 0, self.begin) + 1
        end = (text + "\n").find("\n", self.end)
        changed = self.applied_to(text)[begin:end + len(self.new) - (self.end - self.begin)]
        return " ".join(text[begin:end].split()), " ".join(changed.split())

    def described(self, text):
        before, after = self.lines(text)
        number = text.count("\n", 0, self.begin) + 1
        return f"{self.file}:{number}  {self.kind}: {before}  ->  {after}"


def blanked(text, filler=" "):
    """The text with comments, strings and preprocessor lines blanked out, of the same length."""
    quoted = r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
    pattern = rf"(?P<string>{quoted})|//[^\n]*|/\*.*?\*/|^ *#[^\n]*"

    def blank(found):
        return re.sub(r"[^\n]", filler if found["string"] else " ", found[0])

    return re.sub(pattern, blank, text, flags=re.M | re.S)


def mutants_of(file, text):
    code = blanked(text)
    code = re.sub(r"^ *(?:static_assert|using|template)\b[^\n]*|" + CONSTANT,
                  lambda found: re.sub(r"[^\n]", " ", found[0]), code, flags=re.M)
    for kind, pattern, new in RULES:
        for found in re.finditer(pattern, code, re.M):
            replacement = new(found) if callable(new) else found.expand(new)
            begin = text.rfind("\n", 0, found.start()) + 1
            line = text[begin:(text + "\n").find("\n", found.end())]
            concatenates = '"' in line and kind == "arithmetic"  # strings have no minus
            if replacement != found[0] and not concatenates:
                yield Mutant(file, kind, found.start(), found.end(), replacement)


def source_text(file):
    return (PROJECT / file).read_text(encoding="utf-8")


def all_mutants():
    """The mutants of all .cpp files in src. src/commands/mpi needs MPI, which may not be installed."""
    for path in sorted((PROJECT / "src").rglob("*.cpp")):
        file = path.relative_to(PROJECT).as_posix()
        if "/mpi/" not in file:
            yield from mutants_of(file, path.read_text(encoding="utf-8"))


def named(mutants):
    """{name: mutant}. A name stays as long as the mutant's line does, wherever the line stands."""
    result, texts, seen = {}, {}, {}
    for mutant in mutants:
        if mutant.file not in texts:
            texts[mutant.file] = source_text(mutant.file)
        before, after = mutant.lines(texts[mutant.file])
        name = f"{mutant.file}  {mutant.kind}: {before}  ->  {after}"
        seen[name] = seen.get(name, 0) + 1
        result[name if seen[name] == 1 else f"{name}  ({seen[name]})"] = mutant
    return result


def shuffled(names, seed):
    """An order at random, in which a change of one line moves only the mutants of that line."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


# ---- the operands of a binary operator: clang-format puts spaces around it

PRECEDENCE = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7,
              ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
ENDS = {"?", ":", ",", ";", "(", "[", "{", ")", "]", "}"}
KEYWORDS = {"return", "throw", "else", "do", "case", "co_return"}
TOKEN = re.compile(r"(?<=\s)(?:<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|])(?=\s)|(?<=\s)[-+*/%&|^]?="
                   r"(?=\s)|<<=|>>=|::|\w+|\S")
PAIRS = {")": "(", "]": "[", "}": "{"}


class Tokens:
    def __init__(self, text):
        found = list(TOKEN.finditer(blanked(text, "_")))
        self.words = [token[0] for token in found]
        self.begins = [token.start() for token in found]
        self.ends = [token.end() for token in found]
        self.partner, opened = {}, []
        for i, word in enumerate(self.words):
            if word in PAIRS.values():
                opened.append(i)
            elif word in PAIRS and opened:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i

    def is_binary(self, i):
        """Whether token i is an operator with spaces on both sides."""
        return (self.words[i] in PRECEDENCE and self.begins[i] > self.ends[i - 1]
                and i + 1 < len(self.words) and self.begins[i + 1] > self.ends[i])

    def ends_operand(self, i, lowest):
        word = self.words[i]
        if self.is_binary(i):
            return PRECEDENCE[word] < lowest
        return word in ENDS or word in KEYWORDS or (word.endswith("=") and word not in PRECEDENCE)

    def operands(self, at):
        """(begin of the left operand, begin and end of the operator, end of the right operand)."""
        i = self.begins.index(at)
        strength = PRECEDENCE[self.words[i]]
        left = i - 1
        while left >= 0:
            if self.words[left] in PAIRS:
                after_block = self.words[left] == "}" and re.match(r"\w", self.words[left + 1])
                if after_block or left not in self.partner:
                    break
                left = self.partner[left]
            elif self.ends_operand(left, strength):
                break
            left -= 1
        right = i + 1
        while right < len(self.words):
            if self.words[right] in PAIRS.values() and right in self.partner:
                right = self.partner[right]
            elif self.ends_operand(right, strength + 1):
                break
            right += 1
        return self.begins[left + 1], at, self.ends[i], self.ends[right - 1]

"""rules.py: the mutants of a source file. A rule changes one token, or drops or swaps its operands.

The name of a mutant has its file, its function, its token, the number of this token among equal ones of the
function, and the change, as in "src/ops/softmax_row.hpp softmax_row_backward '-' 1 -> '+'". Edits of other
functions do not change the name.
"""

import hashlib
import pathlib
import re
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]

OPERATORS = {"+": "-", "-": "+", "*": "/", "/": "*", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
             "<": "<= >", "<=": "< >=", ">": ">= <", ">=": "> <=", "|": ""}
ASSIGNMENTS = {"+=": "-= =", "-=": "+= =", "*=": "/= =", "/=": "*= ="}
HAVE_OPERANDS = ("+", "-", "*", "/", "&&", "||", "|")  # one of which can be dropped
TWINS = {"zeros": "ones", "ones": "zeros", "yes": "no", "no": "yes", "accumulate": "overwrite",
         "overwrite": "accumulate", "any_of": "all_of", "all_of": "any_of", "true": "false", "false": "true"}
PRECEDENCE = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7,
              ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
ENDS = {"?", ":", ",", ";", "(", "[", "{", ")", "]", "}"}
KEYWORDS = {"return", "throw", "else", "do", "case", "if", "for", "while", "switch", "catch", "sizeof",
            "decltype", "noexcept", "assert", "new", "delete"}
TOKEN = re.compile(r"(?<=\s)(?:<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|])(?=\s)|(?<=\s)[-+*/%&|^]?="
                   r"(?=\s)|<<=|>>=|::|->|\+\+|--|\d[\w.']*(?:(?<=[eE])[-+]\d+)?|\w+|\S")
PAIRS = {")": "(", "]": "[", "}": "{"}
# The switches of instrumented code are no constant expressions. A changed process number could end
# processes that belong to nobody here. Reserved memory changes only the time. Other tests read error texts.
LEFT_ALONE = (r"^ *(?:static_assert|using|template)\b[^\n]*|\bconstexpr\b(?! bool operator)[^;{]*[;{]|"
              r"\bcase [^:]*:|\bkill\([^;]*;|\benum [^;]*;|\bchar \w+\[\d+\]|"
              r"\b(?:reserve|throw_error|throw_errno)\([^;]*;")


class Edit(NamedTuple):
    begin: int
    end: int
    new: str
    cast: str = ""  # what both expressions are converted to: bool or void


class Mutant(NamedTuple):
    file: str
    edits: tuple

    def applied_to(self, text):
        for edit in sorted(self.edits, reverse=True):
            text = text[:edit.begin] + edit.new.replace("void()", "") + text[edit.end:]
        return text


def blanked(text, strings):
    """The text with comments and preprocessor lines blanked out; `strings` replaces a string's letters."""
    quoted = r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
    pattern = rf"(?P<string>{quoted})|//[^\n]*|/\*.*?\*/|^ *#[^\n]*"

    def blank(found):
        if found["string"]:
            return re.sub(r"[^\n]", strings, found[0]) if strings else found[0]
        return re.sub(r"[^\n]", " ", found[0])

    return re.sub(pattern, blank, text, flags=re.M | re.S)


class Source:
    """The tokens of a source file, its functions and its mutants."""

    def __init__(self, file):
        self.file, self.text = file, source_text(file)
        self.code, plain = blanked(self.text, ""), blanked(self.text, "_")
        found = list(TOKEN.finditer(plain))
        self.words = [token[0] for token in found]
        self.begins = [token.start() for token in found]
        self.ends = [token.end() for token in found]
        self.alone = [match.span() for match in re.finditer(LEFT_ALONE, plain, re.M)]
        self.partner, opened = {}, []
        for i, word in enumerate(self.words):
            if word in PAIRS.values():
                opened.append(i)
            elif word in PAIRS and opened:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i
        self.functions = list(self.find_functions(0, len(self.words), ""))

    def span(self, first, last):
        return " ".join(self.code[self.begins[first]:self.ends[last]].split())

    def edit(self, first, last, new, cast=""):
        return Edit(self.begins[first], self.ends[last], new, cast)

    # ---- functions

    def find_functions(self, i, end, scope):
        """(name, first token, last token) of each function, and of each table outside of functions."""
        start, name = i, ""
        while i < end:
            if self.words[i] == "{" and i in self.partner:
                head = self.words[start:i]
                if "namespace" in head or "extern" in head:
                    yield from self.find_functions(i + 1, self.partner[i], scope)
                elif "(" not in head and ("struct" in head or "class" in head):
                    named = head[max(head.index(word) for word in ("struct", "class") if word in head) + 1]
                    yield from self.find_functions(i + 1, self.partner[i], f"{scope}{named}::")
                else:
                    name = self.name_of(start, i) or name
                    yield scope + name, start, self.partner[i]
                i = self.partner[i]
                start = i + 1
            elif self.words[i] == ";":
                if i > start and "(" not in self.words[start:i]:
                    yield scope + self.name_of(start, i), start, i
                start = i + 1
            i += 1

    def name_of(self, start, end):
        """The words before the first parenthesis; of a variable, the word before "=" or the end."""
        for i in range(start + 1, end):
            if self.words[i] in ("(", "=") and re.match(r"\w", self.words[i - 1]):
                first = i - 1
                while first > start and (self.words[first - 1] in ("::", "~")
                                         or self.words[first] == "::"):
                    first -= 1
                return "".join(self.words[first:i])
            if self.words[i] == "operator":
                return "".join(self.words[i:i + 2])
        return self.words[end - 1] if end > start and re.match(r"\w", self.words[end - 1]) else ""

    # ---- expressions

    def is_binary(self, i):
        """Whether token i is an operator: clang-format puts spaces on both sides."""
        return (self.words[i] in PRECEDENCE and 0 < i < len(self.words) - 1
                and self.begins[i] > self.ends[i - 1] and self.begins[i + 1] > self.ends[i])

    def ends_operand(self, i, lowest):
        word = self.words[i]
        if self.is_binary(i):
            return PRECEDENCE[word] < lowest
        return word in ENDS or word in KEYWORDS or (word.endswith("=") and word not in PRECEDENCE)

    def left_of(self, i, strength):
        """The first token of the operand to the left of token i."""
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
        return left + 1

    def right_of(self, i, strength):
        """The last token of the operand to the right of token i."""
        right = i + 1
        while right < len(self.words):
            if self.words[right] in PAIRS.values() and right in self.partner:
                right = self.partner[right]
            elif self.ends_operand(right, strength):
                break
            right += 1
        return right - 1

    def chain_before(self, i):
        """The first token of the chain of names, calls and indices that ends with token i."""
        while True:
            if self.words[i] in (")", "]") and i in self.partner:
                i = self.partner[i] - 1
            elif not re.match(r"[A-Za-z_]", self.words[i]) or self.words[i] in KEYWORDS:
                return i + 1
            elif self.words[i - 1] in (".", "->", "::"):
                i -= 2
            else:
                return i

    def arguments(self, i):
        """[(first, last)] of the arguments in the parentheses that token i opens."""
        result, first = [], i + 1
        j = first
        while j <= self.partner[i]:
            if self.words[j] == "," or j == self.partner[i]:
                result += [(first, j - 1)] if j > first else []
                first = j + 1
            elif self.words[j] in PAIRS.values() and j in self.partner:
                j = self.partner[j]
            j += 1
        return result

    # ---- rules: each yields (token, its word in the name, change, edits)

    def operators(self, i):
        word = self.words[i]
        if not self.is_binary(i) or word not in OPERATORS:
            return
        strength = PRECEDENCE[word]
        first, last = self.left_of(i, strength), self.right_of(i, strength + 1)
        if first >= i or last <= i:
            return
        left, right = self.span(first, i - 1), self.span(i + 1, last)
        if word in "+-*/" and '"' in left + right:  # strings have no minus
            return
        for new in OPERATORS[word].split():
            yield i, f"'{word}'", f"'{new}'", [self.edit(first, last, f"{left} {new} {right}")]
        if word in HAVE_OPERANDS:
            yield i, f"'{word}'", "left", [self.edit(first, last, left)]
            yield i, f"'{word}'", "right", [self.edit(first, last, right)]

    def assignments(self, i):
        word = self.words[i]
        if word not in ASSIGNMENTS and word != "=":
            return
        first, last = self.left_of(i, 0), self.right_of(i, -1)
        while self.words[last + 1] in ("?", ":"):
            last = self.right_of(last + 1, -1)
        left, right = self.span(first, i - 1), self.span(i + 1, last)
        for new in ASSIGNMENTS.get(word, "").split():
            yield i, f"'{word}'", f"'{new}'", [self.edit(first, last, f"{left} {new} {right}")]
        is_statement = self.words[first - 1] in (";", "{", "}", ")") and self.words[last + 1] == ";"
        if is_statement and self.chain_before(i - 1) == first:
            yield i, f"'{word}'", "dropped", [self.edit(first, last, "void()", "void")]

    def constants(self, i):
        word = self.words[i]
        if word in TWINS:
            yield i, word, TWINS[word], [self.edit(i, i, TWINS[word])]
        elif re.fullmatch(r"\d+", word):
            yield i, word, str(int(word) + 1), [self.edit(i, i, str(int(word) + 1))]
        elif re.fullmatch(r"\d[\d.]*(?:[eE][-+]?\d+)?", word):
            yield i, word, "doubled", [self.edit(i, i, f"(2 * {word})")]

    def conditions(self, i):
        if self.words[i] in ("if", "while") and self.words[i + 1] == "(":
            first, last = i + 2, self.partner[i + 1] - 1
            if not {";", "="} & set(self.words[first:last]):
                for new in ("true", "false")[self.words[i] == "while":]:
                    yield i, self.words[i], new, [self.edit(first, last, new, "bool")]
        elif self.words[i] == "?":
            colon = self.right_of(i, -1) + 1
            if self.words[colon] == ":":
                first, last = self.left_of(i, 0), self.right_of(colon, -1)
                while self.words[last + 1] in ("?", ":"):
                    last = self.right_of(last + 1, -1)
                yield i, "'?'", "first", [self.edit(first, last, self.span(i + 1, colon - 1))]
                yield i, "'?'", "second", [self.edit(first, last, self.span(colon + 1, last))]

    def signs(self, i):
        if self.words[i] == "return" and self.words[i + 1] not in ("{", ";"):
            last = self.right_of(i, 0)
            arithmetic = any(self.is_binary(j) and self.words[j] in "+-*/" for j in range(i + 1, last))
            if self.words[last + 1] == ";" and arithmetic:
                yield i, "return", "negated", [self.edit(i + 1, last, f"-({self.span(i + 1, last)})")]
        if self.words[i] == "!":
            last = self.right_of(i, 11)
            yield i, "'!'", "dropped", [self.edit(i, last, self.span(i + 1, last), "bool")]
        is_unary = self.words[i] == "-" and not self.is_binary(i) and self.words[i - 1] not in PAIRS
        if is_unary and self.ends[i] == self.begins[i + 1]:
            last = self.right_of(i, 11)
            yield i, "sign", "dropped", [self.edit(i, last, self.span(i + 1, last))]

    def calls(self, i):
        if i + 1 not in self.partner or not re.match(r"[a-z]", self.words[i]) or self.words[i] in KEYWORDS:
            return
        if self.words[i + 1] != "(":
            return
        close, first = self.partner[i + 1], self.chain_before(i)
        label, arguments = f"{self.words[i]}()", self.arguments(i + 1)
        before, after = self.words[first - 1], self.words[close + 1]
        if before in (";", "{", "}", ")", "else") and after == ";":
            yield i, label, "dropped", [self.edit(first, close, "void()", "void")]
            return
        if re.match(r"[\w>&*]", before) and before not in KEYWORDS and not self.is_binary(first - 1):
            return  # a declaration
        if self.words[i - 1] == ".":
            yield i, label, "receiver", [self.edit(first, close, self.span(first, i - 2))]
        else:
            for k, argument in enumerate(arguments[:2]):
                yield i, label, f"argument {k + 1}", [self.edit(first, close, self.span(*argument))]

    def swaps(self, i):
        """Two neighbouring arguments of a call or of a list in braces."""
        is_call = self.words[i] == "(" and re.match(r"\w|>", self.words[i - 1])
        if i not in self.partner or not (is_call or self.words[i] == "{") or self.words[i - 1] in KEYWORDS:
            return
        pairs = self.arguments(i)
        if not pairs or ";" in self.words[i:self.partner[i]]:
            return
        label = f"{self.words[i - 1] if is_call else 'braces'}()"
        for k, (a, b) in enumerate(pairs):
            if is_call and a == b and re.match(r"[a-z]", self.words[a]) and self.words[a] not in TWINS:
                yield i, label, f"0 for {k + 1}", [self.edit(a, a, "0")]
        for k, (a, b) in enumerate(zip(pairs, pairs[1:])):
            if self.span(*a) != self.span(*b):
                yield i, label, f"swapped {k + 1}", [self.edit(*a, self.span(*b)),
                                                     self.edit(*b, self.span(*a))]

    def indices(self, i):
        if self.words[i] == "[" and i in self.partner and re.match(r"[\w)\]]", self.words[i - 1]):
            first, last = i + 1, self.partner[i] - 1
            if last >= first and self.words[first] != "0":
                yield i, "[]", "0", [self.edit(first, last, "0")]

    def parameters(self, first, last):
        """The other parameters of the same type, for each name in a function or a lambda."""
        for i in range(first, last):
            if self.words[i] != "(" or i not in self.partner:
                continue
            body = self.words.index("{", self.partner[i]) if "{" in self.words[self.partner[i]:last] else last
            between = self.words[self.partner[i] + 1:body]
            if body not in self.partner or not set(between) <= {"const", "noexcept", "override", "mutable"}:
                continue
            groups = {}
            for a, b in self.arguments(i):
                if b > a and re.match(r"[A-Za-z]", self.words[b]):
                    groups.setdefault(self.span(a, b - 1), []).append(self.words[b])
            for j in range(body, self.partner[body]):
                for group in groups.values():
                    is_member = self.words[j - 1] in (".", "->", "::") or self.words[j + 1] == "::"
                    for other in group if self.words[j] in group and not is_member else ():
                        if other != self.words[j]:
                            yield j, self.words[j], other, [self.edit(j, j, other)]

    def mutants(self):
        """{name: mutant}"""
        result = {}
        rules = (self.operators, self.assignments, self.constants, self.conditions, self.signs,
                 self.calls, self.swaps, self.indices)
        tokens = {}  # {function and word in the name: its tokens, also in overloads}
        for function, first, last in self.functions:
            found = [each for i in range(first, last) for rule in rules for each in rule(i)]
            found += self.parameters(first, last)
            for i, word, _, _ in sorted(found, key=lambda each: each[0]):
                numbers = tokens.setdefault((function, word), {})
                numbers.setdefault(i, len(numbers) + 1)
            for i, word, change, edits in found:
                if not any(begin <= edit.begin < end for edit in edits for begin, end in self.alone):
                    number = tokens[function, word][i]
                    name = f"{self.file} {function or '-'} {word} {number} -> {change}"
                    result[name] = Mutant(self.file, tuple(edits))
        return result

    def chosen(self, function, first_word, number, last_word, count, new):
        """The mutant in which `new` replaces the tokens from the `number`-th `first_word` of the function
        to the `count`-th `last_word` after it, or None where the function has no such tokens."""
        places = [i for name, first, last in self.functions if name == function
                  for i in range(first, last + 1)]
        starts = [i for i in places if self.words[i] == first_word][number - 1:]
        stops = [i for i in places if starts and i >= starts[0] and self.words[i] == last_word]
        if not starts or len(stops) < count:
            return None
        return Mutant(self.file, (self.edit(starts[0], stops[count - 1], new),))


def source_text(file):
    return (PROJECT / file).read_text(encoding="utf-8")


def all_mutants():
    """{name: mutant} of all .cpp files in src. src/commands/mpi needs MPI, which may not be installed."""
    files = sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / "src").rglob("*.cpp"))
    return {name: mutant for file in files if "/mpi/" not in file
            for name, mutant in Source(file).mutants().items()}


def chosen_mutants():
    """{line of chosen.txt: mutant, or None where the line does not fit the source}"""
    form = re.compile(r"(\S+) (\S+) (\S+) (\d+)(?: to (\S+) (\d+))? =>(?: (.*))?")
    result, sources = {}, {}
    for line in (HERE / "chosen.txt").read_text(encoding="utf-8").splitlines():
        found = form.fullmatch(line)
        if line.startswith("#") or not found:
            continue
        file, function, first, number, last, count, new = found.groups()
        if file not in sources:
            sources[file] = Source(file) if (PROJECT / file).exists() else None
        result[line] = sources[file] and sources[file].chosen(
            function, first, int(number), last or first, int(count or 1), new or "")
    return result


def equivalent_mutants():
    """{name: reason} of equivalent.txt"""
    lines = (HERE / "equivalent.txt").read_text(encoding="utf-8").splitlines()
    return {name: reason.strip() for name, reason in zip(lines, lines[1:]) if name.startswith("src/")}


def shuffled(names, seed):
    """An order at random, in which an edit of a function moves only the mutants of that function."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())

"""instrument.py: writes a source file in which every mutant has a switch (mutant schemata)."""

import re

from rules import Tokens

OPERATORS = {"+": "plus_minus", "-": "minus_plus", "*": "times_over", "/": "over_times",
             "<": "less_to_less_or_equal", "<=": "less_or_equal_to_less",
             ">": "greater_to_greater_or_equal", ">=": "greater_or_equal_to_greater",
             "==": "equal_differs", "!=": "differs_equal"}


def instrumented(text, numbered):
    """The text with a switch for each (number, mutant). Lines keep their numbers."""
    tokens, edits, values, swaps = Tokens(text), [], {}, []
    for number, mutant in numbered:
        found = text[mutant.begin:mutant.end]
        if mutant.kind in ("arithmetic", "comparison") or found in (" && ", " || "):
            try:
                edits += operator_edits(number, found.strip(),
                                        *tokens.operands(mutant.begin + 1))
            except ValueError:  # not an operator: a declaration, or a part of a template
                continue
        elif mutant.kind == "boundary":
            values.setdefault((mutant.end - 1, mutant.end), []).append((number, "0"))
        elif mutant.kind in ("constant", "flag") and not found.startswith(" |"):
            values.setdefault((mutant.begin, mutant.end), []).append((number, mutant.new))
        elif mutant.kind == "flag":
            values.setdefault((mutant.begin + 3, mutant.end), []).append((number, "0"))
        elif mutant.kind == "condition":  # if (!
            edits.append((mutant.end - 1, mutant.end, f"heed_mutants::on({number}) != !"))
        elif mutant.kind == "dropped call":
            begin = mutant.begin + len(found) - len(found.lstrip())
            edits.append((begin, begin, f"heed_mutants::on({number}) ? void() : void("))
            edits.append((mutant.end - 1, mutant.end - 1, ")"))
        else:
            swaps.append((number, mutant))
    constants = {span: chosen(text[slice(*span)], each) for span, each in values.items()}
    for number, mutant in swaps:
        pair = []
        for word in re.finditer(r"\w+", text[mutant.begin:mutant.end]):
            span = (mutant.begin + word.start(), mutant.begin + word.end())
            pair.append(constants.pop(span, text[slice(*span)]))
        new = ", ".join(f"heed_mutants::pick({number}, {a}, {b})" for a, b in (pair, pair[::-1]))
        edits.append((mutant.begin, mutant.end, f"({new})"))
    edits += [(*span, new) for span, new in constants.items()]
    return applied(text, edits)


def operator_edits(number, operator, left, begin, end, right):
    """The edits; insertions have a fourth item, by which those at one place are ordered."""
    if operator in ("&&", "||"):
        flip = f"heed_mutants::flip({number}, "
        return [(left, left, flip + flip, -right), (begin, end, f") {operator} {flip}"),
                (right, right, "))", 0)]
    call = f"heed_mutants::{OPERATORS[operator]}({number}, "
    return [(left, left, call, -right), (begin - 1, end, ","), (right, right, ")", 0)]


def chosen(value, alternatives):
    """An expression with the value, or the alternative whose switch is on."""
    for number, alternative in alternatives:
        value = f"(heed_mutants::on({number}) ? {alternative} : {value})"
    return value


def applied(text, edits):
    """Closings come before openings, and the opening with the farthest end comes first."""
    def order(edit):
        begin, end, _, *rank = edit
        return begin, (0 if rank == [0] else 1 if begin == end else 2), rank

    result, done = [], 0
    for begin, end, new, *_ in sorted(edits, key=order):
        result += [text[done:begin], new]
        done = end
    return "".join(result) + text[done:]

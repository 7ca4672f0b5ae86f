"""instrument.py: writes a source file in which every mutant has a switch (mutant schemata)."""


def instrumented(text, numbered):
    """The text with (heed_mutants::on(number) ? changed : unchanged) at each edit of each (number, mutant).
    Lines keep their numbers."""
    parts = []
    for number, mutant in numbered:
        for begin, end, new, cast in mutant.edits:
            # At one place, closings come before openings, and the longest opening comes first.
            changed = f"(heed_mutants::on({number}) ? {cast if new != 'void()' else ''}({new}) : {cast}("
            parts += [(begin, 1, -end, changed), (end, 0, 0, "))")]
    result, done = [], 0
    for at, _, _, part in sorted(parts, key=lambda each: each[:3]):
        result += [text[done:at], part]
        done = at
    return "".join(result) + text[done:]

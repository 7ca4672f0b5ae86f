"""texts.py: what both debuggers say when the program cannot go on."""

CANNOT_CONTINUE = ("heed: this program cannot continue (is it a core file?); the commands graph, grad, show, why, "
                   "back and save still work")
CHECK_CALLS = "heed: `heed check` calls the program, so it needs a running program, not a core file"
ENDED = "the program ended%s; `run` starts it again"

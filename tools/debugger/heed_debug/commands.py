"""commands.py: the table of the `heed ...` commands."""

import collections

from heed_debug.target import DebuggerError

Command = collections.namedtuple("Command", "function usage summary kind completes")
COMMANDS = {}
ORDER = "graph weights step out in check grad show why nan watch mark back save goto back-step rewind first blame".split()  # of the summaries


def command(usage, summary="", kind="data", completes="symbol"):
    """Makes a function of the text after the command's name the command `heed USAGE`. The function returns
    or yields the lines to print; its docstring is gdb's help, with `kind` as gdb's class of the command. A
    command that completes "none" takes no argument."""
    def register(function):
        COMMANDS[usage.split()[0]] = Command(function, usage, summary, kind, completes)
        return function
    return register


def help_lines():
    return ["heed %-13s %s" % (COMMANDS[name].usage, COMMANDS[name].summary)
            for name in ORDER if name in COMMANDS and COMMANDS[name].summary]


def find(name, argument):
    """The function of a command. Raises DebuggerError for an argument where the command takes none."""
    if argument and COMMANDS[name].completes == "none":
        raise DebuggerError("heed: `heed %s` takes no argument" % name)
    return COMMANDS[name].function


def no_command(name):
    return "heed: there is no command `heed %s`; `heed` lists the commands" % name


def error_text(name, error):
    """What a command says instead of a traceback."""
    if isinstance(error, DebuggerError):
        text = str(error)
        return text if text.startswith("heed: ") else "heed: " + text
    return "heed: `heed %s` failed: %s: %s" % (name, type(error).__name__, str(error).split("\n")[0])

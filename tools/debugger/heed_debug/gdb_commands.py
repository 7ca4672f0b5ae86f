"""gdb_commands.py: the `heed ...` commands at gdb's prompt."""

import gdb

from heed_debug import (attention, checking, entering, marking, nonfinite, outputs, reports, rerunning,  # noqa: F401
                        running, watching)
from heed_debug import commands, gdb_control

KINDS = {"data": gdb.COMMAND_DATA, "running": gdb.COMMAND_RUNNING, "starting": gdb.COMMAND_RUNNING,
         "stack": gdb.COMMAND_STACK}
COMPLETERS = {"symbol": gdb.COMPLETE_SYMBOL, "none": gdb.COMPLETE_NONE, "file": gdb.COMPLETE_FILENAME}

WELCOME = """Stopped. Some commands:
  heed step            run to the next node of the backward pass (heed step Softmax: to a Softmax node)
  heed out             run to the end of that backward, and print the gradients it returned
  heed graph           list the nodes of the pass; => marks the running one
  info args, print dy  print arrays as matrices (heed why W_K: the contributions to a gradient)
  heed                 list all commands; `help heed step` explains one in full"""
MORE_HELP = "break heed::Softmax::backward stops in an operation; `help heed step` explains a command in full"


def print_lines(lines):
    for line in lines:
        print(line)


class HeedCommand(gdb.Command):
    """Show arrays, computation graphs and gradients of a heed program, read from memory.
`heed` alone lists the commands."""

    def __init__(self):
        super().__init__("heed", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument, from_tty):
        if argument.strip() == "welcome":
            return print(WELCOME)
        if argument.strip():
            raise gdb.GdbError(commands.no_command(argument.split()[0]))
        print_lines(commands.help_lines() + [MORE_HELP])


def invoke(name, argument):
    try:
        print_lines(commands.find(name, argument)(argument))
    except gdb.GdbError:
        raise
    except KeyboardInterrupt:
        raise gdb.GdbError("heed: interrupted")
    except gdb.error as error:
        raise gdb.GdbError("heed: " + str(error).split("\n")[0])
    except Exception as error:
        raise gdb.GdbError(commands.error_text(name, error))


def register_command(name, command):
    members = {"__doc__": command.function.__doc__,
               "invoke": lambda self, argument, from_tty: invoke(name, argument.strip())}
    class_ = type("Heed" + name.title(), (gdb.Command,), members)
    class_("heed " + name, KINDS[command.kind], COMPLETERS[command.completes])


class ErrorStop(gdb.Breakpoint):
    """Stops where an error ends a lesson or an exercise, with all calls that led to it."""

    def __init__(self):
        super().__init__("heed::end_after_error", internal=True)

    def stop(self):
        print("The error ends the program here. `heed back` shows the calls that led to it.")
        return True


def register():
    ErrorStop()
    HeedCommand()
    gdb_control.skip_libraries(entering.LIBRARIES)
    for name, command in commands.COMMANDS.items():
        register_command(name, command)

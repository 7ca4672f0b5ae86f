"""control.py: the module through which the shared modules run the program.

`control` is gdb_control or lldb_control:
  at_function(name, should_stop), at_entry(name, should_stop), at_address(address, should_stop)
                               breakpoints for run_to; accumulate_arguments and finish_arguments need at_entry
  run_to(*breakpoints)         continues; whether the program stopped at one of them
  run_again(breakpoint)        the same from the program's start
  arguments(), set_arguments(text)   the program's command line after its name, as a shell reads it
  without_breakpoints()        a context in which the user's breakpoints are disabled
  report_end(wanted)           raises DebuggerError, unless run_to has said why it returned False
  accumulate_arguments()       the node's address, the number of its input, and a function that reads the part
  finish_arguments()           the value, the operation, the source line and the Links of the inputs
  may_write_infinity(type)     whether the struct of an operation declares it
  first_argument()             `this` at the first instruction of a member function
  enter(function)              runs to the beginning of an operation's backward; whether it got there
  position_lines()             where the program has stopped
  stepping()                   a context in which step_line() steps; yields whether a breakpoint stopped it
  end_of_steps(), stop_text()  what `heed in` prints at the program's end, or at a line
  call_check(node)             the address of the text that heed::check_text returns
  check_can_continue(), require_function(name, command)   raise DebuggerError
"""

from heed_debug.debugger import IN_GDB

if IN_GDB:
    from heed_debug import gdb_control as control  # noqa: F401
else:
    from heed_debug import lldb_control as control  # noqa: F401

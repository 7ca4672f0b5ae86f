"""debugger.py: the two modules through which the shared modules read and run the program.

`debugger` is gdb_target or lldb_target. It has `target`, which memory.py describes, and these functions:
  check_running()              raises DebuggerError when no heed program is stopped
  is_stopped()                 whether the program has not ended
  newest_frame(), newer(frame), older(frame)   frames; None where there is none
  frames()                     the selected thread's frames, innermost first
  source_location(frame)       the file, or "", and the line
  backward_frame()             the innermost frame of heed::backward, or None
  function_name(frame)         such as heed::backward
  variable(frame, name)        a variable's value, or None when it cannot be read
  local_value(text)            the value of an expression that begins with a variable of the frame, or None
  value_in_stack(text)         the value of an expression in the frame or in a caller, or None
  address_of(value), link_of(value), array_of(value), is_array(type), value_type(value), type_name(type)
  is_declared_later(name)      whether the frame has not yet run a variable's declaration
  links_in_scope()             the Links to the nodes of all tensors in variables
  note(text)                   prints a remark, where the debugger shows output at once
  when_exited(function)        calls a function at the program's end

`breakpoints` is the module breakpoints or lldb_breakpoints:
  at_function(name, should_stop), at_address(address, should_stop)   breakpoints for run_to
  at_accumulate(should_stop), at_finish(should_stop)   where accumulate_arguments, finish_arguments work
  accumulate_arguments()       the node's address, the number of its input, and a function that reads the part
  may_write_infinity(op)       whether the output of an operation may contain minus infinity
  finish_arguments()           the value, the operation, the source line and the Links of the inputs
  stop_at_return(frame)        a breakpoint where the callee of `frame` returns
  run_to(*breakpoints)         continues; whether the program stopped at one of them
  report_end(wanted)           raises DebuggerError, unless run_to has said why it returned False
  first_argument()             `this` at the first instruction of a member function
  enter(function)              runs to the beginning of an operation's backward; whether it got there
  position_lines()             where the program has stopped
  call_check(node)             what heed::check_text returns
  check_can_continue(), function_exists(name), require_function(name, command)
"""

try:
    import gdb  # noqa: F401
    IN_GDB = True
except ImportError:
    IN_GDB = False

if IN_GDB:
    from heed_debug import breakpoints, gdb_target as debugger  # noqa: F401
else:
    from heed_debug import lldb_breakpoints as breakpoints, lldb_target as debugger  # noqa: F401

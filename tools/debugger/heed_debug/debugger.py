"""debugger.py: the module through which the shared modules read the program.

`debugger` is gdb_target or lldb_target. It has `target`, which target.py describes, the exceptions ERRORS,
PROVENANCE, the command that makes the engine record contributions, and these functions:
  check_running()              raises DebuggerError when no heed program is stopped
  is_stopped()                 whether the program has not ended
  program_path()               the program's file
  global_address(name)         the address of a variable such as heed::num_searches
  newest_frame(), newer(frame), older(frame)   frames; None where there is none
  frames()                     the selected thread's frames, innermost first
  place(frame)                 the address at which it goes on, and its stack pointer
  source_location(frame)       the file, or "", and the line; source_line(frame) of an inlined function of
                               a library, too
  backward_frame()             the innermost frame of heed::backward that loops over the nodes, or None
  function_name(frame)         such as heed::backward
  select(number, frame)        selects a frame; returns lines to print
  variables(frame)             (type, function that returns the address) of each variable; `this` as *this
  variable(frame, name)        a variable's value, or None when it cannot be read
  local_value(text)            the value of an expression that begins with a variable of the frame, or None
  value_in_stack(text)         the value of an expression in the frame or in a caller, or None
  is_declared_later(name)      whether the frame has not yet run a variable's declaration
  type_of(value)               its bare type
  address_of(value), integer(value), type_name(type)
  copied_words(value, *paths)  pointers in a value that has no address in the program; None if it has one
  note(text)                   prints a remark, where the debugger shows output at once
  when_exited(function)        calls a function at the program's end
"""

try:
    import gdb  # noqa: F401
    IN_GDB = True
except ImportError:
    IN_GDB = False

if IN_GDB:
    from heed_debug import gdb_target as debugger  # noqa: F401
else:
    from heed_debug import lldb_target as debugger  # noqa: F401

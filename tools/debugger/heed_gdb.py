"""heed_gdb.py: loads heed's gdb commands and pretty-printers.

In gdb: source tools/debugger/heed_gdb.py (`./heed debug` does so). `heed` lists the commands."""

import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)
for name in [name for name in sys.modules if name.split(".")[0] == "heed_debug"]:
    del sys.modules[name]  # sourcing this file again reloads edited modules

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

from heed_debug import gdb_commands, printers  # noqa: E402, F401

gdb_commands.register()

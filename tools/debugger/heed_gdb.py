"""heed_gdb.py: gdb prints heed's arrays and steps through its gradients.

In gdb: source tools/debugger/heed_gdb.py, then `heed` lists what there is. (./heed debug does so.)"""

import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)
for name in [name for name in sys.modules if name.split(".")[0] == "heed_debug"]:
    del sys.modules[name]  # sourced again: what was edited counts

sys.dont_write_bytecode = True  # the source tree stays as it is

from heed_debug import commands, printers  # noqa: E402, F401

commands.register()

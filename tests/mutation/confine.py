"""confine.py: lets a process change files in its own folders only, with Landlock (Linux 5.13 or later).

A mutant may remove or replace any file that its tests name, and a mutant in the code that builds a path
may name others. So each process that runs a mutant is confined, and with it the programs that it starts.
"""

import ctypes
import os

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # numbers of the system calls
PATH_BENEATH, VERSION_FLAG, NO_NEW_PRIVILEGES = 1, 1, 38
# Rights of linux/landlock.h, by their bits.
WRITE, TRUNCATE = 1 << 1, 1 << 14
CHANGES = sum(1 << bit for bit in range(4, 13))  # remove and make files, folders, links, devices
REFER = 1 << 13  # move and link between folders

LIBC = ctypes.CDLL(None, use_errno=True)


class Ruleset(ctypes.Structure):
    _fields_ = [("handled", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def can_confine():
    """Whether the kernel has Landlock with the right to truncate (version 3, Linux 6.2)."""
    return LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG) >= 3


def confine(*folders):
    """From now on, this process changes files below `folders` only. It can write to devices, and below /tmp,
    because tmpfile() makes its files there, but cannot make, remove or truncate files with names there."""
    ruleset = Ruleset(WRITE | TRUNCATE | CHANGES | REFER)
    rules = call(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), 0)
    allowed = [(folder, ruleset.handled) for folder in folders]
    for folder, rights in allowed + [("/dev", WRITE), ("/dev/shm", ruleset.handled), ("/proc", WRITE),
                         ("/tmp", WRITE)]:
        if not os.path.isdir(folder):
            continue
        descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = PathBeneath(rights, descriptor)
        call(ADD_RULE, rules, PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(descriptor)
    LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call(RESTRICT_SELF, rules, 0)
    os.close(rules)

"""files.py: writes an array as .npy (the NumPy format) or .csv."""

import sys

from heed_debug.target import DebuggerError

NPY_TYPES = {"f": "f4", "d": "f8", "q": "i8", "i": "i4", "b": "i1", "B": "u1", "Q": "u8"}


def npy(array):
    shape = "(" + ", ".join(map(str, array.shape)) + ("," if len(array.shape) == 1 else "") + ")"
    order = "|" if array.itemsize == 1 else "<" if sys.byteorder == "little" else ">"
    header = "{'descr': '%s%s', 'fortran_order': False, 'shape': %s, }" % (
        order, NPY_TYPES[array.code], shape)
    # The length of a .npy header is a multiple of 64 bytes, and its last byte is a newline.
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1")
            + array.numbers().tobytes())


def csv(array):
    width = array.shape[-1] if array.shape else 1
    format_number = {"f": "%.9g", "d": "%.17g"}.get(array.code, "%d").__mod__
    values = array.numbers()
    rows = [",".join(map(format_number, values[i: i + width]))
            for i in range(0, len(values), max(width, 1))]
    header = "# shape %s\n" % ",".join(map(str, array.shape)) if len(array.shape) > 2 else ""
    return (header + "".join(row + "\n" for row in rows)).encode()


def save(array, path):
    encoders = {".npy": npy, ".csv": csv}
    encode = encoders.get(path[-4:].lower())
    if encode is None:
        raise DebuggerError("heed: %s: the file name must end in .npy or .csv" % path)
    try:
        with open(path, "wb") as file:
            file.write(encode(array))
    except OSError as error:
        raise DebuggerError("heed: %s: %s" % (path, error.strerror))

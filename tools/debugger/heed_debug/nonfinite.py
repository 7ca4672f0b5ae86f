"""nonfinite.py: runs the program to the first NaN or infinity: `heed nan`."""

from heed_debug import memory, nonfinite_text
from heed_debug.debugger import breakpoints, debugger


class NonfiniteWatch:
    """Checks every value passed to heed::finish and every gradient passed to heed::accumulate. The
    methods return True to stop the program. The lines to print are then in `report`."""

    def __init__(self):
        self.report = None

    def check_value(self):
        value, op, location, links = breakpoints.finish_arguments()
        self.report = nonfinite_text.value_report(
            op, value, location, [memory.Node(debugger.target, link) for link in links if link.address],
            breakpoints.may_write_infinity(op))
        return self.report is not None

    def check_gradient(self):
        from_, i, read_part = breakpoints.accumulate_arguments()
        node = memory.Node(debugger.target, memory.Link(from_, 0))
        self.report = nonfinite_text.gradient_report(node, i, read_part())
        return self.report is not None


def run_to_nonfinite():
    """Returns lines about the value, or that there was none; [] if something else stopped the program."""
    debugger.check_running()
    breakpoints.require_function("heed::finish", "heed nan")
    watch = NonfiniteWatch()
    stops = [breakpoints.at_finish(watch.check_value)]
    if breakpoints.function_exists("heed::accumulate"):  # a program without a backward pass has none
        stops.append(breakpoints.at_accumulate(watch.check_gradient))
    if breakpoints.run_to(*stops):
        return watch.report
    return [] if debugger.is_stopped() else [
        "the program ended; since `heed nan` all values and gradients were finite "
        "(minus infinity is allowed in masks)"]

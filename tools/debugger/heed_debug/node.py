"""node.py: reads the nodes of the computation graph, heed::Node, from memory."""

import collections
import struct

from heed_debug import memory
from heed_debug.target import DebuggerError, plain

Link = collections.namedtuple("Link", "address control")  # the two pointers of a shared_ptr<Node>


def link_at(target, address):
    return Link(target.pointer(address), target.pointer(address + 8))


def links_between(target, begin, end):
    """The Links in the shared_ptr<Node> objects between two addresses."""
    words = memory.read_words(target, begin, end, 100000000, width=2)
    return [Link(*pair) for pair in zip(words[::2], words[1::2])]


def read_links(target, address):
    """The Links in a vector of shared_ptr<Node>, which starts with the addresses of its begin and end."""
    return links_between(target, target.pointer(address), target.pointer(address + 8))


def with_control(target, link):
    """Adds the address of the control block, which allocate_shared puts 16 bytes before the node."""
    try:
        vtable = target.pointer(link.address - 16)
        if not link.control and "_Sp_counted_ptr_inplace<heed::" in target.symbol(vtable):
            return Link(link.address, link.address - 16)
    except DebuggerError:
        pass
    return link


Contribution = collections.namedtuple("Contribution", "op name location norm")


class Node(memory.Record):
    """A copy of a heed::Node, made when the debugger reads the node."""

    def __init__(self, target, link):
        super().__init__(target, "heed::Node", link.address)
        self.link = link
        self.has_grad, self.requires_grad = self.field("has_grad", "?"), self.field("requires_grad", "?")
        self.depth, self.op = self.field("depth"), self.view("op")
        self.name = memory.printable(self.string("name"))
        self.inputs = links_between(target, self.field("inputs"), self.field("inputs", skipped=8))
        self.shape = self.value.shape
        self.inputs_text, self.input_addresses = None, []  # set by graph.inputs_text
        self.control = target.read(link.control, 8) if link.control else b""

    def array(self, path):
        layout = memory.array_layout(self.target, "heed::Node", path + ".")
        return memory.read_array(self.target, self.address, layout)

    @property
    def value(self):
        return self.array("value")

    @property
    def grad(self):
        return self.array("grad") if self.has_grad else None

    @property
    def contributions(self):
        type_ = "heed::Contribution"
        begin, end = self.field("contributions"), self.field("contributions", skipped=8)
        records = [memory.Record(self.target, type_, address)
                   for address in range(begin, end, self.target.sizeof(self.target.type(type_)))]
        return [Contribution(record.string("op"), memory.printable(record.string("name")), record.location,
                             record.field("norm", "d")) for record in records]

    def reread(self):
        """Reads the node again. Returns None if the program has freed the node."""
        try:
            # free() overwrites the start of the memory block, which holds shared_ptr's counters.
            counts = self.target.read(self.link.control, 12) if self.link.control else b""
            if counts[:8] != self.control or (counts and struct.unpack_from("<i", counts, 8)[0] <= 0
                                              and memory.is_libstdcxx(self.target)):
                return None
            return Node(self.target, self.link) if is_node(self.target, self.address) else None
        except DebuggerError:
            return None


def node_class(target, address):
    """The class of the node at an address, such as "heed::OpNode<heed::Softmax, 0ul>", or ""."""
    try:
        vtable = target.pointer(address)
    except DebuggerError:
        return ""
    if vtable not in target.node_classes:
        name = target.symbol(vtable)
        is_vtable = name.startswith("vtable for ") and ("OpNode<" in name or plain(name) == "vtable for heed::Node")
        target.node_classes[vtable] = name[len("vtable for "):] if is_vtable else ""
    return target.node_classes[vtable]


def is_node(target, address):
    return address > 4096 and node_class(target, address) != ""

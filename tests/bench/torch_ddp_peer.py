#!/usr/bin/env python3
"""torch_ddp_peer.py: trains the model of torch_peer.py in several processes with PyTorch's
DistributedDataParallel and gloo, for `heed bench --processes --compare`.

    python3 torch_ddp_peer.py TEXT --processes 2 --steps 20 --batch-size 12

Each process takes --batch-size / --processes windows of its own. A step is batch, loss, backward with
the exchange of gradients, clip and update. Rank 0 prints one line of JSON: ms_per_step, p10, p90 (over
--steps steps, after steps / 5 + 2 warm-up steps), peak_mb of rank 0, first_loss, last_loss, torch,
threads, processes.
"""

import json
import os
import socket
import sys

sys.dont_write_bytecode = True  # no files beside the sources
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def processes_option():
    """Takes --processes N out of the arguments: torch_peer.py reads the others."""
    if "--processes" not in sys.argv:
        return 2
    at = sys.argv.index("--processes")
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


PROCESSES = processes_option()

import torch_peer as peer  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402


class Loss(torch.nn.Module):
    """Makes the loss the forward pass, which DistributedDataParallel wraps."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, targets):
        return self.model.loss(tokens, targets)


class Wrapped:
    """What peer.Training expects of a model."""

    def __init__(self, model):
        module = Loss(model)
        # gloo cannot send the causal masks, which are of type bool, and equal on all ranks.
        module._ddp_params_and_buffers_to_ignore = [name for name, _ in module.named_buffers()]
        self.ddp = DistributedDataParallel(module, broadcast_buffers=False)

    def loss(self, tokens, targets):
        return self.ddp(tokens, targets)

    def parameters(self):
        return self.ddp.parameters()


def run(rank, port, o):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=PROCESSES)
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)  # the same first weights; DistributedDataParallel broadcasts them too
    vocab_size, tokens = peer.training_tokens(o.text)
    model = peer.Gpt(vocab_size, o)
    torch.manual_seed(o.seed + rank)  # different windows
    o.batch_size //= PROCESSES
    training = peer.Training(Wrapped(model), tokens, o)
    losses = [training.step() for _ in range(o.steps // 5 + 2)]
    ms = []
    for _ in range(o.steps):
        time_taken, loss = peer.seconds(training.step)
        ms.append(1e3 * time_taken)
        losses.append(loss)
    if rank == 0:
        print(json.dumps({
            "ms_per_step": peer.percentile(ms, 0.5), "p10": peer.percentile(ms, 0.1),
            "p90": peer.percentile(ms, 0.9), "peak_mb": peer.peak_mb(), "first_loss": losses[0],
            "last_loss": losses[-1], "torch": torch.__version__, "threads": o.threads,
            "processes": PROCESSES}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main(o):
    if PROCESSES < 1 or o.batch_size % PROCESSES != 0:
        sys.exit(f"--processes {PROCESSES} does not divide --batch-size {o.batch_size}")
    port = free_port()
    children = []
    for rank in range(1, PROCESSES):
        child = os.fork()
        if child == 0:
            run(rank, port, o)
            os._exit(0)
        children.append(child)
    run(0, port, o)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(peer.OPTIONS)

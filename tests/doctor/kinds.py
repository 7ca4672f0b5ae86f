"""kinds.py: the kinds of broken runs on which heed doctor is measured, and the right finding of each.

The split was written before the doctor's thresholds were chosen. SEEN kinds were looked at while the doctor
was written; HELD_OUT kinds were first run when it was finished. docs/measurements.md says what was changed after them.
"""

# kind: the names of the findings of which the first one must be
SEEN = {
    "lr 0.1 to 1": ["learning rate too high"],
    "lr 1e-6 to 1e-5": ["learning rate too low"],
    "warm-up 1.5 to 10 times the steps": ["warm-up longer than the run"],
    "3 kB of text, many steps": ["overfitting"],
    "last tenth in another alphabet": ["validation text unlike the training text"],
    "no causal mask": ["leak"],
    "block size 1": ["context unused"],
    "a head of zero values": ["dead head"],
    "queries and keys 40 times as large": ["saturated softmax"],
    "clip 1e-3": ["gradients always clipped"],
    "a parameter that the optimizer skips": ["frozen weights"],
    "UTF-16LE without a mark": ["text not what it seems"],
    "zero bytes in the text": ["text not what it seems"],
    "NaN from a step on": ["diverged"],
    "20 steps": ["training too short"],
}

HELD_OUT = {
    "lr 1e3 to 1e30": ["learning rate too high", "diverged"],
    "lr 0.1 to 1, Llama's variants, no warm-up": ["learning rate too high"],
    "learning rate decays at once": ["learning rate too low"],
    "warm-up longer than a run in two parts": ["warm-up longer than the run"],
    "3 kB of random letters": ["overfitting"],
    "the same batch in each step": ["overfitting"],
    "a sorted list of words": ["validation text unlike the training text"],
    "prose, then code": ["validation text unlike the training text"],
    "targets are the inputs": ["leak"],
    "a text repeated ten times": ["leak"],
    "each position attends only to itself": ["context unused", "frozen weights"],  # both are true
    "two equal heads": ["duplicate heads"],
    "a head of zero queries and keys": ["dead head"],
    "attention scores 100 times as large": ["saturated softmax"],
    "gradient 1000 times as large": ["gradients always clipped"],
    "a parameter whose gradient is zero": ["frozen weights"],
    "a parameter copied onto another": ["tied weights", "frozen weights"],
    "UTF-16BE without a mark": ["text not what it seems"],
    "CR line ends": ["text not what it seems"],
    "wrong sign of the update from a step on": ["diverged"],
    "stopped by a signal after 25 steps": ["training too short"],
}

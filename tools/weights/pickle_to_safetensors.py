#!/usr/bin/env python3
"""Converts the weights of a PyTorch pickle to safetensors, for heed import. It needs torch alone.

    python3 tools/weights/pickle_to_safetensors.py pytorch_model.bin model.safetensors
    python3 tools/weights/pickle_to_safetensors.py ckpt.pt FOLDER [meta.pkl]     (nanoGPT)

A pickle can run any program when it is loaded: convert only files whose origin you trust.
"""
import ctypes
import json
import os
import pickle
import struct
import sys

import torch

TYPES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16"}


def write(path, state):
    header, blobs, end = {"__metadata__": {"format": "pt"}}, [], 0
    for name, t in state.items():
        if t.dtype not in TYPES:
            continue  # buffers, such as masks and position_ids
        t = t.detach().contiguous()
        blobs.append(ctypes.string_at(t.data_ptr(), t.element_size() * t.numel()))
        header[name.replace("_orig_mod.", "")] = {"dtype": TYPES[t.dtype], "shape": list(t.shape),
                                                  "data_offsets": [end, end + len(blobs[-1])]}
        end += len(blobs[-1])
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(blobs)


def main(source, target, meta=None):
    content = torch.load(source, map_location="cpu")
    if "model_args" not in content:
        return write(target, content)
    os.makedirs(target, exist_ok=True)
    write(target + "/model.safetensors", content["model"])
    with open(target + "/config.json", "w", encoding="utf-8") as file:
        json.dump({"model_type": "nanogpt", **content["model_args"]}, file)
    if meta:
        with open(meta, "rb") as source_file:
            stoi = pickle.load(source_file)["stoi"]
        with open(target + "/meta.json", "w", encoding="utf-8") as file:
            json.dump({"stoi": stoi}, file)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])

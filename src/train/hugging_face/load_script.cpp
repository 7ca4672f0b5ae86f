// load_script.cpp: the Python programs that load an exported model with torch alone.

#include "train/hugging_face/load_script.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

// Reads model.safetensors beside the program into a state dict.
constexpr const char* reader = R"(import ctypes, json, math, os, pickle, struct, sys, torch

def read(path):  # a safetensors file: the length of the header, the header (JSON), the numbers
    raw = bytearray(open(path, "rb").read())
    size, = struct.unpack("<Q", raw[:8])
    types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16}
    return {name: torch.frombuffer(raw, dtype=types[t["dtype"]], count=math.prod(t["shape"]),
                                   offset=8 + size + t["data_offsets"][0]).reshape(t["shape"]).clone()
            for name, t in json.loads(raw[8:8 + size]).items() if name != "__metadata__"}

here = os.path.dirname(os.path.abspath(__file__))
)";

constexpr const char* pytorch = R"(state = read(here + "/model.safetensors")  # name -> tensor
if __name__ == "__main__":
    torch.save(state, here + "/model.pt")
    print(*(f"{name} {tuple(t.shape)}" for name, t in state.items()), sep="\n")
)";

constexpr const char* gpt2 = R"(state = read(here + "/model.safetensors")
state.setdefault("lm_head.weight", state["transformer.wte.weight"])

def load_into(model):  # a GPT2LMHeadModel; its buffers with masks stay as they are
    masks = {name: t for name, t in model.state_dict().items() if name.endswith((".attn.bias", ".masked_bias"))}
    model.load_state_dict({**masks, **state})  # strict
    model.tie_weights() if hasattr(model, "tie_weights") else None

if __name__ == "__main__":
    torch.save(state, here + "/pytorch_model.bin")
)";

constexpr const char* nanogpt = R"(def from_folder():  # writes ckpt.pt and meta.pkl
    state, config = read(here + "/model.safetensors"), json.load(open(here + "/config.json"))
    state["transformer.wte.weight"] = state["lm_head.weight"]  # tied
    groups = [{"params": [t for name, t in state.items() if (t.dim() > 1) == matrix and name != "lm_head.weight"],
               "weight_decay": 0.1 * matrix} for matrix in (True, False)]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99)).state_dict()
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # as nanoGPT's model.py
        mask = torch.ones(config["block_size"], config["block_size"]).tril()[None, None]
        state.update({f"transformer.h.{i}.attn.bias": mask for i in range(config["n_layer"])})
    args = {key: value for key, value in config.items() if key != "model_type"}
    torch.save({"model": state, "model_args": args, "optimizer": optimizer, "iter_num": 0, "best_val_loss": 1e9,
                "config": {"dataset": "heed"}}, here + "/ckpt.pt")
    if os.path.exists(here + "/meta.json"):
        meta = json.load(open(here + "/meta.json"))
        if "stoi" in meta:
            meta["itos"] = {i: c for c, i in meta["stoi"].items()}
            pickle.dump(meta, open(here + "/meta.pkl", "wb"))

def to_folder(ckpt, folder, meta=None):  # the reverse: a folder for heed import
    checkpoint = torch.load(ckpt, map_location="cpu")
    header, blobs, end = {"__metadata__": {"format": "pt"}}, [], 0
    for name, t in checkpoint["model"].items():
        t = t.float().contiguous()
        blobs.append(ctypes.string_at(t.data_ptr(), 4 * t.numel()))
        header[name.replace("_orig_mod.", "")] = {"dtype": "F32", "shape": list(t.shape),
                                                  "data_offsets": [end, end + len(blobs[-1])]}
        end += len(blobs[-1])
    os.makedirs(folder, exist_ok=True)
    text = json.dumps(header).encode()
    open(folder + "/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
    json.dump({"model_type": "nanogpt", **checkpoint["model_args"]}, open(folder + "/config.json", "w"))
    if meta:
        json.dump({"stoi": pickle.load(open(meta, "rb"))["stoi"]}, open(folder + "/meta.json", "w"))

if __name__ == "__main__":
    to_folder(*sys.argv[1:]) if len(sys.argv) > 1 else from_folder()
)";

constexpr const char* nanogpt_use =
    "# python3 load.py                          makes nanoGPT's ckpt.pt and meta.pkl in this "
    "folder\n"
    "# python3 load.py ckpt.pt FOLDER meta.pkl  makes a folder for heed import\n";
constexpr const char* gpt2_use =
    "# python3 load.py makes pytorch_model.bin in this folder; from load import load_into loads a\n"
    "# GPT2LMHeadModel.\n";
constexpr const char* pytorch_use =
    "# python3 load.py makes model.pt, a state dict, in this folder; from load import state gives "
    "it.\n";

}  // namespace

std::string load_script(ExportFormat format) {
  switch (format) {
    case ExportFormat::nanogpt:
      return std::string(nanogpt_use) + reader + nanogpt;
    case ExportFormat::gpt2:
      return std::string(gpt2_use) + reader + gpt2;
    default:
      return std::string(pytorch_use) + reader + pytorch;
  }
}

}  // namespace HEED_NAMESPACE::hugging_face

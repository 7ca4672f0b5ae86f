// load_script.cpp: the Python programs that load an exported model with torch alone.

#include "files/hugging_face/load_script.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

// read_state() reads model.safetensors beside the program. Every export is in F32.
constexpr const char* reader = R"(
here = os.path.dirname(os.path.abspath(__file__)) + "/"

def read_state():  # name -> tensor
    with open(here + "model.safetensors", "rb") as file:  # header's length, header (JSON), numbers
        size, = struct.unpack("<Q", file.read(8))
        header, numbers = json.loads(file.read(size)), bytearray(file.read())
    return {name: torch.frombuffer(numbers, dtype=torch.float32, count=math.prod(t["shape"]),
                                   offset=t["data_offsets"][0]).reshape(t["shape"])
            for name, t in header.items() if name != "__metadata__"}
)";

constexpr const char* pytorch_start =
    R"(# python3 load.py makes model.pt, a state dict, in this folder; from load import state gives it.
# Rotary positions rotate the columns (2i, 2i + 1) of a head together, as Meta's Llama; or, if
# model.rotary_pairs in config.json is halves, the columns (i, i + D / 2), as transformers.
import json, math, os, struct, torch
)";
constexpr const char* pytorch = R"(
state = read_state()

if __name__ == "__main__":
    torch.save(state, here + "model.pt")
    print(*(f"{name} {tuple(t.shape)}" for name, t in state.items()), sep="\n")
)";

constexpr const char* gpt2_start =
    R"(# python3 load.py makes pytorch_model.bin here; from load import load_into loads a GPT2LMHeadModel.
import json, math, os, struct, torch
)";
constexpr const char* gpt2 =
    R"(
state = read_state()
state.setdefault("lm_head.weight", state["transformer.wte.weight"])  # tied

def load_into(model):  # strict, but the model's buffers with masks stay as they are
    masks = {name: t for name, t in model.state_dict().items()
             if name.endswith((".attn.bias", ".attn.masked_bias"))}
    model.load_state_dict({**masks, **state})

if __name__ == "__main__":
    torch.save(state, here + "pytorch_model.bin")
)";

constexpr const char* llama_start =
    R"(# LlamaForCausalLM.from_pretrained(FOLDER) of transformers reads this folder without this program.
# With torch alone: python3 load.py makes pytorch_model.bin here; from load import state gives it.
import json, math, os, struct, torch
)";
constexpr const char* llama = R"(
state = read_state()
state.setdefault("lm_head.weight", state["model.embed_tokens.weight"])  # tied

if __name__ == "__main__":
    torch.save(state, here + "pytorch_model.bin")
)";

constexpr const char* nanogpt_start =
    R"(# python3 load.py                          makes nanoGPT's ckpt.pt here, and of characters meta.pkl,
#                                          for which nanoGPT looks in data/heed/
# python3 load.py ckpt.pt FOLDER meta.pkl  makes a folder for heed import
import ctypes, json, math, os, pickle, struct, sys, torch
)";
constexpr const char* nanogpt = R"(
def to_nanogpt():
    state = read_state()
    config = json.load(open(here + "config.json", "rb"))
    del config["model_type"]
    parameters = [t for name, t in state.items() if name != "lm_head.weight"]  # tied to wte.weight
    groups = [{"params": [t for t in parameters if t.dim() > 1], "weight_decay": 0.1},
              {"params": [t for t in parameters if t.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99)).state_dict()
    state["lm_head.weight"] = state["transformer.wte.weight"]
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # as nanoGPT's model.py
        mask = torch.ones(config["block_size"], config["block_size"]).tril()[None, None]
        state.update({f"transformer.h.{i}.attn.bias": mask for i in range(config["n_layer"])})
    torch.save({"model": state, "model_args": config, "optimizer": optimizer, "iter_num": 0,
                "best_val_loss": 1e9, "config": {"dataset": "heed"}}, here + "ckpt.pt")
    meta = json.load(open(here + "meta.json", "rb")) if os.path.exists(here + "meta.json") else {}
    if "stoi" in meta:
        meta["itos"] = {i: c for c, i in meta["stoi"].items()}
        pickle.dump(meta, open(here + "meta.pkl", "wb"))
    else:
        print("no meta.pkl: nanoGPT's has characters, and the tokens of this model are others")

def from_nanogpt(ckpt, folder, meta=None):
    checkpoint, header, numbers = torch.load(ckpt, map_location="cpu"), {}, bytearray()
    for name, t in checkpoint["model"].items():
        t = t.float().contiguous()
        ends = [len(numbers), len(numbers) + 4 * t.numel()]
        header[name.replace("_orig_mod.", "")] = {"dtype": "F32", "shape": [*t.shape],
                                                  "data_offsets": ends}
        numbers += ctypes.string_at(t.data_ptr(), 4 * t.numel())
    text = json.dumps(header).encode()
    os.makedirs(folder, exist_ok=True)
    open(folder + "/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + numbers)
    config = {"model_type": "nanogpt", **checkpoint["model_args"]}
    json.dump(config, open(folder + "/config.json", "w", encoding="utf-8"))
    if meta:
        stoi = pickle.load(open(meta, "rb"))["stoi"]
        json.dump({"stoi": stoi}, open(folder + "/meta.json", "w", encoding="utf-8"))

if __name__ == "__main__":
    from_nanogpt(*sys.argv[1:]) if len(sys.argv) > 1 else to_nanogpt()
)";

}  // namespace

std::string load_script(ExportFormat format) {
  const auto script = [](const char* start, const char* rest) {
    return std::string(start) + reader + rest;
  };
  if (format == ExportFormat::nanogpt) return script(nanogpt_start, nanogpt);
  if (format == ExportFormat::gpt2) return script(gpt2_start, gpt2);
  if (format == ExportFormat::llama) return script(llama_start, llama);
  return script(pytorch_start, pytorch);
}

}  // namespace HEED_NAMESPACE::hugging_face

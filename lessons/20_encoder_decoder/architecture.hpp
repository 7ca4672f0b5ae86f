// architecture.hpp: draws an encoder-decoder from the names and shapes of its parameters, for
// lesson 20.
#pragma once

#include <map>

#include "lesson.hpp"

namespace heed {

// A layer of the model and what the picture says about its weights: "query, key (32, 32)".
struct Layer {
  std::string name;  // "encoder.blocks.0.attention"
  std::vector<std::pair<Shape, Names>> weights = {};

  bool is(const std::string& last) const {
    return name == last || name.find("." + last) != std::string::npos;
  }
  std::string text() const {
    std::string all;
    for (const auto& [shape, names] : weights) {
      all += all.empty() ? "" : ", ";
      for (const std::string& part : names) all += part + (&part == &names.back() ? " " : ", ");
      all += str(shape);
    }
    return all;
  }
};

// The layers in the order of their creation. "encoder.blocks.0.attention.query.weight" belongs to
// the layer "encoder.blocks.0.attention"; biases are left out.
inline std::vector<Layer> layers_of(const Parameters& parameters) {
  std::vector<Layer> layers;
  for (const Tensor& p : parameters) {
    std::string name = p.name(), part = "";
    if (name.substr(name.rfind('.')) != ".weight") continue;
    name.resize(name.rfind('.'));
    for (const std::string layer : {".attention.", ".cross.", ".mlp."}) {
      const std::size_t at = name.find(layer);
      if (at == std::string::npos) continue;
      part = name.substr(at + layer.size());
      name.resize(at + layer.size() - 1);
    }
    if (layers.empty() || layers.back().name != name) layers.push_back({name});
    auto& weights = layers.back().weights;
    if (weights.empty() || weights.back().first != p.shape()) weights.push_back({p.shape(), {}});
    if (!part.empty()) weights.back().second.push_back(part);
  }
  return layers;
}

// Builds the diagram in Graphviz's language, from the bottom to the top.
class Architecture {
 public:
  explicit Architecture(const Parameters& parameters) {
    const std::vector<Layer> layers = layers_of(parameters);
    for (const std::string stack : {"encoder", "decoder"}) {
      add_input(stack, layers.front());  // both stacks use the same token embedding
      nodes_ += "subgraph cluster_" + stack + " { label=<<b>" + stack +
                "</b>>; labeljust=l; labelloc=b; style=rounded; color=\"#999999\"\n";
      for (const Layer& layer : layers)
        if (layer.name.rfind(stack + ".", 0) == 0) add(layer);
      nodes_ += "}\n";
      if (stack == "encoder") memory_ = top_;
    }
    add_box("head", "output layer", layers.back().text());
    add_edge(top_, "head", "label=\" (B, T, C)\"");
    nodes_ += "logits [shape=none]\n";
    add_edge("head", "logits", "label=\" (B, T, V)\"");
  }

  std::string graph() const {
    return "digraph {\nrankdir=BT; ranksep=0.25; nodesep=0.6; fontname=\"sans-serif\"\n"
           "node [shape=box, style=rounded, fontname=\"sans-serif\", margin=\"0.2,0.06\"]\n"
           "edge [color=\"#0072B2\", arrowsize=0.6, fontname=\"sans-serif\", fontsize=11]\n" +
           nodes_ + edges_ + "}\n";
  }

 private:
  void add_box(const std::string& name, const std::string& title, const std::string& weights) {
    nodes_ += "\"" + name + "\" [label=<" + title +
              "<br/><font point-size=\"10\" color=\"#555555\">" + weights + "</font>>]\n";
  }
  void add_edge(const std::string& from, const std::string& to, const std::string& options = "") {
    edges_ += "\"" + from + "\" -> \"" + to + "\" [" + options + "]\n";
  }

  void add_input(const std::string& stack, const Layer& embedding) {
    const bool source = stack == "encoder";
    nodes_ += "\"" + stack + " input\" [shape=none, label=\"" + stack +
              (source ? " input:\\nthe source\"]\n" : " input:\\nstart, then the target\"]\n");
    top_ = stack + " embedding";
    add_box(top_, "shared token embedding<br/>+ sinusoidal positions",
            embedding.name + " " + embedding.text());
    add_edge(stack + " input", top_, source ? "label=\" (B, S)\"" : "label=\" (B, T)\"");
  }

  // A layer norm, or a layer after its norm with the residual connection around both.
  void add(const Layer& layer) {
    const bool norm = layer.is("norm1") || layer.is("norm2") || layer.is("norm3");
    if (norm) residual_ = top_;
    add_box(layer.name, title_of(layer), layer.text());
    add_edge(top_, layer.name, layer.is("cross") ? "weight=9, label=\" queries\"" : "weight=9");
    top_ = layer.name;
    if (layer.is("cross"))
      add_edge(memory_, layer.name,
               "color=\"#009E73\", penwidth=3, weight=0, headport=w, "
               "label=\"memory (B, S, C):\\nkeys and values\"");
    if (norm || layer.is("norm")) return;
    top_ += " sum";
    nodes_ += "\"" + top_ + "\" [label=\"+\", shape=circle, margin=0, width=0.3]\n";
    add_edge(layer.name, top_, "weight=9");
    add_edge(residual_, top_, "penwidth=3, weight=0, color=\"#D55E00\"");
  }

  static std::string title_of(const Layer& layer) {
    if (layer.is("cross")) return "cross-attention";
    if (layer.is("mlp")) return "MLP";
    if (layer.is("attention"))
      return layer.name.rfind("encoder", 0) == 0 ? "self-attention" : "causal self-attention";
    return layer.name.find("blocks") == std::string::npos ? "final layer norm" : "layer norm";
  }

  std::string nodes_, edges_, top_, residual_, memory_;
};

inline std::string architecture(const Parameters& parameters) {
  return Architecture(parameters).graph();
}

}  // namespace heed

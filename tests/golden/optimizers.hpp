// optimizers.hpp: runs the optimizers and schedules of a golden file with heed.
#pragma once

#include <algorithm>
#include <numeric>

#include "golden/operations.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/optim/sgd.hpp"

namespace golden {

// The parameter after each step; row i of the second input is the gradient of step i.
template <class Optimizer>
Values stepped(Optimizer optimizer, Tensor parameter, const Call& call) {
  const Array& gradients = call.tensor(1).value();
  Array path = heed::uninitialized(gradients.shape());
  const std::size_t n = parameter.value().size();
  for (std::size_t step = 0; step < gradients.shape()[0]; ++step) {
    if (call.has("lrs")) optimizer.set_lr(number(call.attrs["lrs"].at(step)));
    parameter.node()->grad = heed::zeros(parameter.shape());
    parameter.node()->has_grad = true;
    std::copy_n(gradients.data() + step * n, n, parameter.mutable_grad().data());
    optimizer.step();
    std::copy_n(parameter.value().data(), n, path.data() + step * n);
  }
  return {Tensor(path)};
}

inline Result optimizer(const Call& call) {
  const Tensor parameter(call.tensor(0).value(), true);
  const Json& args = call.attrs.at("args");
  const std::string name = call.attrs.at("name");
  if (name == "sgd") {
    heed::optim::SgdOptions options;
    options.lr = number(args.at("lr"));
    options.momentum = args.value("momentum", 0.0);
    options.dampening = args.value("dampening", 0.0);
    options.weight_decay = args.value("weight_decay", 0.0);
    options.nesterov = args.value("nesterov", false);
    return stepped(heed::optim::Sgd({parameter}, options), parameter, call);
  }
  if (name != "adam" && name != "adamw") throw std::runtime_error("unknown optimizer " + name);
  heed::optim::AdamWOptions options;
  options.lr = number(args.at("lr"));
  options.decoupled = name == "adamw";
  options.weight_decay = args.value("weight_decay", options.decoupled ? 0.01 : 0.0);
  options.eps = args.value("eps", options.eps);
  if (args.contains("betas")) {
    options.beta1 = number(args["betas"].at(0));
    options.beta2 = number(args["betas"].at(1));
  }
  return stepped(heed::optim::AdamW({parameter}, options), parameter, call);
}

inline Result clip(const Call& call) {
  std::vector<Tensor> parameters;
  for (const Tensor& gradient : call.tensors()) {
    parameters.emplace_back(heed::zeros(gradient.shape()), true);
    parameters.back().node()->grad = gradient.value();
    parameters.back().node()->has_grad = true;
  }
  const double norm_type = call.has("norm_type") ? call.real("norm_type") : 2;
  const double norm = heed::optim::clip_grad_norm(parameters, call.real("max_norm"), norm_type);
  Values outputs{Tensor(heed::scalar(static_cast<heed::Real>(norm)))};
  for (const Tensor& parameter : parameters) outputs.push_back(Tensor(parameter.grad()));
  return outputs;
}

// The learning rate at each of the steps.
template <class Schedule>
Values rates(const Schedule& schedule, const std::vector<std::int64_t>& steps) {
  Array values = heed::uninitialized({steps.size()});
  for (std::size_t i = 0; i < steps.size(); ++i)
    values(i) = static_cast<heed::Real>(schedule.at(steps[i]));
  return {Tensor(values)};
}

inline Result schedule(const Call& call) {
  heed::optim::WarmupCosine lr;
  lr.lr = call.real("lr");
  lr.min_lr = call.real("min_lr");
  lr.warmup = call.integer("warmup");
  lr.decay_steps = call.integer("decay");
  return rates(lr, call.attrs.at("its").get<std::vector<std::int64_t>>());
}

// The first n learning rates of PyTorch's schedules. Options have the names of PyTorch's arguments.
inline Result torch_schedule(const Call& call) {
  const std::string name = call.attrs.at("cls");
  const Json& args = call.attrs.at("args");
  const auto take = [&](const char* key, auto& option) { option = args.value(key, option); };
  std::vector<std::int64_t> steps(call.attrs.at("n").get<std::size_t>());
  std::iota(steps.begin(), steps.end(), std::int64_t{0});
  if (name == "CosineAnnealingLR") {
    heed::optim::CosineAnnealingLR schedule{call.real("lr")};
    take("T_max", schedule.T_max);
    take("eta_min", schedule.eta_min);
    return rates(schedule, steps);
  }
  if (name == "LinearLR") {
    heed::optim::LinearLR schedule{call.real("lr")};
    take("start_factor", schedule.start_factor);
    take("end_factor", schedule.end_factor);
    take("total_iters", schedule.total_iters);
    return rates(schedule, steps);
  }
  if (name == "StepLR") {
    heed::optim::StepLR schedule{call.real("lr")};
    take("step_size", schedule.step_size);
    take("gamma", schedule.gamma);
    return rates(schedule, steps);
  }
  if (name != "ExponentialLR") throw std::runtime_error("unknown schedule " + name);
  heed::optim::ExponentialLR schedule{call.real("lr")};
  take("gamma", schedule.gamma);
  return rates(schedule, steps);
}

inline Table optimizer_operations() {
  return {{"optimizer", optimizer},
          {"clip_grad_norm", clip},
          {"lr_schedule", schedule},
          {"torch_schedule", torch_schedule}};
}

}  // namespace golden

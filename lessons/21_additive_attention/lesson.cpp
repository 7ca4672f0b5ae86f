// 21 additive_attention: the attention of 2014, between an encoder and a decoder that are GRUs.
//
// Before this lesson: 20_encoder_decoder, a transformer with cross-attention.
// After it: 22_vision, attention over the patches of an image.
// A useful breakpoint: Translator::scores (in translator.hpp). Continue with `finish`.

#include "by_hand.hpp"
#include "training.hpp"

using namespace heed;
const std::string lesson = "21_additive_attention";

void recurrent_networks(const Translator& model) {
  section("A recurrent network");
  say("Attention is older than the transformer. In 2014 most neural networks that",
      "translated were RECURRENT NEURAL NETWORKS (RNN). Such a network reads one",
      "position after the other and keeps one vector, its HIDDEN STATE. From the state",
      "h and the input x it computes the next state. The GATED RECURRENT UNIT (GRU) of",
      "Cho et al. uses two gates, r and z, whose elements are between 0 and 1:", "",
      "  r = sigmoid(W_r x + U_r h)         the reset gate",
      "  z = sigmoid(W_z x + U_z h)         the update gate",
      "  n = tanh(W_n x + r * (U_n h))      the candidate",
      "  next state = (1 - z) * n + z * h   (* multiplies elements)", "",
      "Where z is 1, the state keeps its value. (Each W x also has a bias. torch.nn.GRU",
      "has this form, and a bias on each U h, too; Cho et al. write U_n (r * h).) We",
      "compute the states for 'may', with random weights, by loops and by struct Gru:", "");
  const Gru gru = direction(model.encoder, 0);
  const Tensor x = model.character(tokens_of({"may"}));  // (1, 3, C)
  Doubles by_hand(width, 0);
  Tensor h(zeros({1, width}));
  for (std::int64_t t = 0; t < 3; ++t) {
    by_hand = gru_by_hand(gru, numbers_of(select(x, 1, t).value()), by_hand);
    h = gru(select(x, 1, t), h);
  }
  check("the state after three letters by hand = Gru", array_of({by_hand}), h);
}

void encoder_and_decoder(const Translator& model) {
  section("The fixed context vector");
  say("The encoder of Bahdanau, Cho and Bengio is BIDIRECTIONAL: one GRU reads the line",
      "forwards and one backwards. The state h_j of position j is the concatenation of",
      "both hidden states there. It can depend on the whole line.", "");
  check("h_0 to h_2 of 'may' by hand = the encoder's", array_of(encoder_by_hand(model, "may")),
        select(model.encode(tokens_of({"may"})).H, 0, 0));
  say("", "A third GRU is the decoder. Its inputs are the previous output character and a",
      "context vector c_i. From c_i and its state s_i a linear layer computes logits of",
      "the next of N characters: 10, or 16 with a time, also in the tests. (Training",
      "uses teacher forcing, lesson 20; the tests do not.)", "",
      "Before attention, all c_i were the same FIXED CONTEXT VECTOR, the last state of",
      "the encoder (Cho et al. 2014; in Sutskever et al. 2014 it is the first state of",
      "the decoder). Here C = 48, and it has 96 numbers: the last states of both GRUs.",
      "They must contain all that the decoder needs to know about a line of any length.",
      "In all our models a linear layer and tanh also make the first state from them.");
}

void additive_scores(const Translator& model) {
  section("Additive scores");
  say("Attention gives each output position i a context vector of its own. The query is",
      "s_(i-1), the decoder's state before this position. Keys and values are the h_j:", "",
      "  e_ij = v . tanh(W s_(i-1) + U h_j)   the scores; additive, as in lesson 03",
      "  a_i = softmax(e_i)                   the attention weights",
      "  c_i = sum over j of a_ij h_j         the context vector", "",
      "The paper calls the first formula the ALIGNMENT MODEL. It is trained with the",
      "rest. U h_j does not depend on i, so it is computed once for each input.", "");
  const Encoded e = model.encode(tokens_of({"3rd of march 1999"}));
  const Tensor s = tanh(model.first_state(e.last));                            // (1, C)
  const std::vector<Doubles> H = encoder_by_hand(model, "3rd of march 1999");  // (17, 2C)
  const Doubles scores = scores_by_hand(model, numbers_of(s.value()), H);
  check("17 scores for '3rd of march 1999' by hand = v(tanh(W(s) + U(H)))", array_of({scores}),
        model.scores(s, e.keys));
  const Tensor a = softmax(model.scores(s, e.keys), -1);  // (1, 17)
  check("the context vector by hand = a H", array_of({context_by_hand(scores, H)}),
        matmul(a, select(e.H, 0, 0)));
  say("", "Why tanh? Without it, e_ij = v . W s + v . U h_j. The first term is the same for",
      "all j, so softmax removes it: the weights do not depend on the query.", "");
  const auto linear_weights = [&](const Tensor& query) {
    return softmax(squeeze(model.v(unsqueeze(model.W(query), 1) + e.keys), -1), -1);
  };
  check("without tanh: the weights for query s = the weights for query -s", linear_weights(s),
        linear_weights(-s));
  const Array change = abs(a - softmax(model.scores(-s, e.keys), -1)).value();
  claim("with tanh they differ", xt::amax(change)() > 1e-4, "by " + decimal(xt::amax(change)(), 6));
  say("", "Luong et al. (2015) use dot products as scores, such as s . U h_j ('general').",
      "(Their query is s_i; we keep s_(i-1).) Vaswani et al. (2017) divide dot products",
      "by sqrt(d_k); d_k is the width of queries and keys, here 48.");
}

std::vector<Result> train_all() {
  section("Training");
  const std::int64_t steps = in_brief(400, 150);
  const std::string longest = std::to_string(training_length(true) + more_words.back());
  say("We train the same encoder and decoder with a fixed context vector and with three",
      "kinds of scores, " + std::to_string(steps) +
          " steps of 16 lines each. Each model has its learning rate:",
      "none of six rates from 0.0025 to 0.03 was better by more than a standard error,",
      "with other seeds, on other lines.", "",
      "The accuracy is the exact match (lesson 20), the fraction of 100 lines whose",
      "whole output is right: mean and standard error of 3 seeds. All models have the",
      "same test lines; the choice of 100 adds an uncertainty of up to 0.05. The last",
      "column has lines of " + longest + " characters, with a time; the last row has one seed.",
      "");
  quote("scores                  steps   date           date and time   " + longest +
        " characters");
  std::vector<Result> results;
  std::vector<Series> curves;  // the training losses
  for (const Setting& setting : settings) {
    results.push_back(train_and_test(setting, steps, brief() ? 1 : 3));
    quote(row_of(results.back()));
    curves.push_back(results.back().losses);
  }
  results.push_back(train_and_test(settings[0], 3 * steps, 1));
  quote(row_of(results.back()));
  loss_curves("training loss (nats per character)", curves);
  return results;
}

void compare(const std::vector<Result>& results) {
  const Result &fixed = results[0], &additive = results[1], &longer = results[4];
  claim_accuracies(results);
  picture_of_lengths(lesson,
                     {{&additive, false, "additive, date", "#D55E00"},
                      {&additive, true, "additive, date and time", "#D55E00"},
                      {&fixed, false, "fixed, date", "#56B4E9"},
                      {&longer, false, "fixed, 3 x steps, date (one seed)", "#0072B2"},
                      {&longer, true, "fixed, 3 x steps, date and time (one seed)", "#0072B2"}});
  say("", "Figure 2 of Bahdanau et al. has the quality of translations (BLEU): with a fixed",
      "context vector it falls as sentences get longer. Our picture separates two",
      "reasons. Along a curve lines get more words, but the output keeps its length. A",
      "time makes the output longer: then the fixed vector has almost no right output",
      "after this number of steps. With attention, more words alone also lower the",
      "accuracy, on lines much longer than in training (24 characters, or 32 with a",
      "time): with a time and additive scores it falls clearly.", "",
      "In this task scaled dot products do about as well as additive scores (in eight",
      "seeds 0.76 and 0.75 with a time), and on the longest lines better. Without the",
      "scale they do worse. Vaswani et al. (2017, section 3.2.1) suspect that large dot",
      "products saturate the softmax (lesson 09). We have not tested that this is the",
      "reason here.");
}

void alignment(const Translator& model) {
  section("The alignment");
  say("The attention weights show from which positions each context vector takes its",
      "values (figure 3 of the paper). A state h_j also depends on the characters next",
      "to j, so the weight is often beside the character. In a row that looks empty,",
      "the weight is spread over many keys. The date is held out:");
  const std::string line = "at 17:45 on 3rd of october 1999 we left";
  const Decoded decoded = model.decode(tokens_of({line}), 16);
  const Names rows = characters_of(text_of(argmax(decoded.logits, -1), 0));
  picture_trained(lesson, "alignment", select(decoded.weights, 0, 0).value(),
                  {"attention weights, additive", rows, characters_of(line),
                   "output character (query)", "input character (key)", 0, 1});
  say("", "The queries do not go from left to right. Mean weights of 100 held-out lines",
      "(one model; uniform weights would give 0.39 on the date and 0.19 on the time):");
  Generator g(7);
  const Array means = weights_by_part(model, new_batch(g, 100, true, training_length(true), true));
  show_trained("mean attention weight", means, {"writing the date", "writing the time"},
               {"on the date", "on the time", "elsewhere"});
  const double least = std::min(means(0, 0), means(1, 1));
  claim("more than half is on what is being written", least > 0.5, decimal(least, 3));
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow the lesson down
  opening({"to build the attention of 2014 and compare it with a fixed vector",
           "e_ij = v . tanh(W s_(i-1) + U h_j), a_i = softmax(e_i)\n"
           "c_i = sum_j a_ij h_j   e, a (N, S); c_i, h_j (2C); s, v (C);\n"
           "W (C, C); U (C, 2C); i: output position, j: input position",
           "additive attention: Bahdanau, Cho and Bengio, \"Neural Machine\n"
           "Translation by Jointly Learning to Align and Translate\", sections 3\n"
           "and A.1.2 (arXiv 2014, ICLR 2015); GRU: Cho et al., \"Learning Phrase\n"
           "Representations using RNN Encoder-Decoder for Statistical Machine\n"
           "Translation\", 2.3 (2014); Sutskever et al., \"Sequence to Sequence\n"
           "Learning with Neural Networks\" (2014); dot products: Luong et al.,\n"
           "\"Effective Approaches to Attention-based Neural Machine\n"
           "Translation\", 3.1 (2015)",
           "torch.nn.GRU(bidirectional=True); no module for additive attention"});
  Generator g(20);
  Parameters parameters;
  const Translator untrained({parameters, g}, Score::additive, width);
  recurrent_networks(untrained);
  the_task();
  encoder_and_decoder(untrained);
  additive_scores(untrained);
  const std::vector<Result> results = train_all();
  compare(results);
  alignment(results[1].models[0]);
  say("", "The keys need not be characters: 22_vision attends to patches of an image.");
  questions(
      "In train_all write 8 * steps in place of 3 * steps. How many outputs with a\n"
      "time does the fixed context vector get right?",
      "In Translator::decode (translator.hpp) replace scores(s, e.keys) by\n"
      "scores(0 * s, e.keys). Which rows of the table change, and why?",
      "LOCATION-BASED scores (Luong et al. 2015, equation 8) use no encoder state.\n"
      "In Translator::decode write slice(W(s), -1, 0, std::int64_t(e.keys.size(1)))\n"
      "for scores(s, e.keys): element j of W s is the score of position j. (Set\n"
      "more_words in training.hpp to {0}.) What does such a model learn?");
}

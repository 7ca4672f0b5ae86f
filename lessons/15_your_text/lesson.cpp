// 15 your_text: token ids, windows and batches of a text, and a GPT that learns to continue it.
//
// Before this lesson: 14_how_low_can_it_go, the lower bound on the loss.
// After it: 16_looking_inside, the attention heads of such a model.
// With a text of your own: ./heed lesson 15 my_novel.txt
// Worth a breakpoint: heed::random_batch, which draws the windows of a batch.

#include <cmath>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/loss.hpp"
#include "heed/optim/adamw.hpp"
#include "ngram.hpp"
#include "sampling.hpp"

using namespace heed;

void vocabulary_and_ids(const std::string& text, const Vocabulary& vocabulary) {
  section("Vocabulary and token ids");
  say("The VOCABULARY is the sorted list of the text's distinct tokens. A token's id is",
      "its index in this list. In a CHARACTER-LEVEL MODEL each token is one character.",
      "(GPT-2's tokens are pieces of words: Sennrich et al. 2016, byte pair encoding.)", "");
  const Names characters = characters_of(text);
  std::map<std::string, Real> id;  // a map sorts its keys
  for (const std::string& character : characters) id[character] = 0;
  Real next_id = 0;
  for (auto& [character, number] : id) number = next_id++;
  Array by_hand = zeros({characters.size()});
  for (std::size_t n = 0; n < characters.size(); ++n) by_hand(n) = id[characters[n]];
  const Ids ids = vocabulary.encode(text);
  const Indices all = xt::adapt(ids, {1ul, ids.size()}),
                eight = xt::view(all, xt::all(), xt::range(0, 8));
  say(grouped(double(ids.size())) + " tokens, " + std::to_string(vocabulary.size()) +
          " of them distinct. The first eight:",
      "", row_of(eight, 0, &vocabulary), row_of(eight, 0), "");
  check("ids by hand = in one line, for the whole text", by_hand, numbers(xt::view(all, 0)), 0);
  claim("decoding the ids gives the text", vocabulary.decode(ids) == text, "another text");
}

void batch_of_windows(const Corpus& corpus, const Vocabulary& vocabulary) {
  section("A batch of windows");
  const Split training = corpus.training(), validation = corpus.validation();
  say("The last tenth of the text is the validation part. The model does not train on",
      "it, so its loss there shows how well it predicts new text.", "",
      "  training    from token 0, " + grouped(double(training.size)) + " tokens",
      "  validation  from token " + grouped(double(validation.begin)) + ", " +
          grouped(double(validation.size)) + " tokens",
      "");
  check("nine tenths by hand = the corpus's", number(std::floor(0.9 * double(corpus.size()))),
        number(double(training.size)), 0);
  say("", "The model reads a window of T tokens. The target at each position is the next",
      "token, so a window gives T predictions, and the causal mask (lesson 08) hides",
      "the targets. B windows from random positions of the training part are a batch.",
      "With B = 3 and T = 8:", "");
  Generator generator(1337), same_generator(1337);
  const Batch batch = random_batch(training, 3, 8, generator);  // (3, 8) and (3, 8)
  for (std::size_t b = 0; b < 3; ++b)
    say("  inputs      " + row_of(batch.inputs, b, &vocabulary),
        "  targets     " + row_of(batch.targets, b, &vocabulary),
        "  target ids  " + row_of(batch.targets, b), "");
  const Indices starts = same_generator.randint(0, std::int64_t(training.size - 8), {3});
  Array inputs = zeros({3, 8}), targets = zeros({3, 8});
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t t = 0; t < 8; ++t) {
      inputs(b, t) = Real(corpus.ids(std::size_t(starts(b)) + t, 1)(0));
      targets(b, t) = Real(corpus.ids(std::size_t(starts(b)) + t + 1, 1)(0));
    }
  check("inputs by hand = in one line", inputs, numbers(batch.inputs), 0);
  check("targets by hand = in one line", targets, numbers(batch.targets), 0);
}

void learning_rate_schedule(const TrainOptions& options) {
  section("The learning rate schedule");
  say("A LEARNING RATE SCHEDULE gives the learning rate of each step. The rate first",
      "rises linearly: the warm-up (Vaswani et al. 2017, section 5.3). It often makes",
      "training more stable; the reason is debated. Then the rate falls along half a",
      "cosine to a tenth of its maximum, so that the last steps are small.");
  const optim::WarmupCosine schedule = schedule_of(options);
  Array by_hand = zeros({std::size_t(options.steps)}), in_one_line = by_hand;
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const double done = double(step - options.warmup) / double(options.steps - options.warmup);
    const double factor = step < options.warmup ? double(step + 1) / double(options.warmup + 1)
                                                : 0.55 + 0.45 * std::cos(std::acos(-1.0) * done);
    by_hand(step) = Real(options.lr * factor);
    in_one_line(step) = Real(schedule.at(step));
  }
  check("learning rates by hand = optim::WarmupCosine, every step", by_hand, in_one_line, 1e-8);
  picture_of(schedule, options);
}

// The initial loss by hand, and ten training steps in a loop. The trainer does the same ten steps.
void ten_steps(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options,
               Trainer& trainer) {
  section("The loss by hand, and ten training steps");
  say("The model has two blocks of lesson 12, four heads, width 64 and windows of 64.",
      "Its logits have the shape (B, T, V). The loss is the cross-entropy of lesson 05.", "");
  Parameters parameters;
  Generator generator(options.seed);
  const nn::Gpt model(Scope(parameters, generator), config);
  Batches batches(corpus.training(), options.batch_size, config.block_size, options.seed);
  const Batch first = batches.next();         // (8, 64) and (8, 64)
  const Tensor logits = model(first.inputs);  // (8, 64, V)
  const double loss = cross_entropy_by_hand(logits.value(), first.targets);
  const double uniform = std::log(double(config.vocab_size));
  check("loss by hand = cross_entropy", number(loss), cross_entropy(logits, first.targets));
  check("cross_entropy = the model's own loss", cross_entropy(logits, first.targets),
        model.loss(first.inputs, first.targets));
  say("", "loss " + decimal(loss, 4) + ", of equal probabilities: ln V = " + decimal(uniform, 4));
  claim("the initial loss is ln V within 3 %", std::abs(loss - uniform) <= 0.03 * uniform + 1e-6,
        decimal(loss, 4));
  say("", "A step draws a batch and computes the loss and its gradients. One unusual batch",
      "can have very large gradients. So if their norm, as one long vector, is above 1,",
      "they are scaled to norm 1: GRADIENT CLIPPING (Pascanu et al. 2013). Then AdamW",
      "(lesson 07) updates the weights, with 0.99 in place of 0.999 for the second",
      "moment and, for the matrices only, a weight decay of 0.1, which keeps weights",
      "small. The Trainer does the same.", "");
  optim::AdamWOptions adamw;
  adamw.beta2 = options.beta2, adamw.weight_decay = options.weight_decay;
  adamw.decay_vectors = false;
  optim::AdamW optimizer(parameters.tensors(), adamw);
  batches.rewind(options.seed);
  for (std::int64_t step = 0; step < 10; ++step) {
    const Batch batch = batches.next();
    optim::zero_grad(parameters.tensors());
    backward(model.loss(batch.inputs, batch.targets));
    optim::clip_grad_norm(parameters.tensors(), options.clip);
    optimizer.set_lr(schedule_of(options).at(step));
    optimizer.step();
    trainer.step();
  }
  check("the loss by hand = the Trainer's first", number(loss),
        number(trainer.history()[0].train_loss));
  check("every weight after our ten steps = the Trainer's, bit for bit", all_weights(parameters),
        all_weights(trainer.parameters()), 0);
}

void training(const Ids& validation, Trainer& trainer) {
  section("Training");
  say("The Trainer continues. Every 250 steps it also computes the loss of windows from",
      "the validation part, the same each time. The training loss is the mean over the",
      "last ten batches, which are other windows: it can be above the validation loss.", "");
  while (!trainer.done())
    if (const auto row = trainer.step(); row && row->val_loss) say(in_words(*row));
  const double unigram = loss_of_counts(validation, 0, validation.size() - 1);
  const double bigram = loss_of_counts(validation, 1, validation.size() - 1);
  const double reached = *trainer.history().back().val_loss;
  say("",
      "The unigram entropy of the validation part is " + decimal(unigram, 4) +
          ", its bigram entropy " + decimal(bigram, 4),
      "(lesson 14). The last validation loss of the model is " + trained(reached) + ".");
  claim_of_text("the validation loss is below the bigram entropy", reached < bigram, reached);
}

int main(int argc, char** argv) {
  set_num_threads(1);  // the model is too small for a second thread to save time
  opening({"to train a character-level GPT, to sample from it, to see it overfit",
           "loss = -1 / (B T) sum_bt ln p(target(b, t))   logits (B, T, V)\n"
           "p = softmax(logits / temperature)             over V tokens",
           "cosine schedule: Loshchilov and Hutter, \"SGDR: Stochastic Gradient\n"
           "Descent with Warm Restarts\", section 3 (2017)",
           "torch.optim.AdamW, torch.nn.utils.clip_grad_norm_, torch.multinomial"});
  section("The text");
  say("Has a model learned a language, or learned a text by heart? Text that it has not",
      "seen shows it. This lesson is ./heed train, step by step, with the play of heed,",
      "or with your own text: ./heed lesson 15 my_novel.txt. It begins:", "");
  const std::string text = text_to_learn(argc, argv);
  quote(truncated(text.substr(0, text.find('\n', 60)), 300));
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Ids ids = vocabulary.encode(text);
  const Corpus corpus(text, vocabulary);
  vocabulary_and_ids(text, vocabulary);
  batch_of_windows(corpus, vocabulary);
  nn::GptConfig config;
  config.vocab_size = vocabulary.size(), config.layers = 2, config.embed_dim = 64;
  TrainOptions options;
  options.batch_size = 8, options.lr = 4e-3, options.min_lr = 4e-4;
  options.steps = in_brief(1500, 450), options.warmup = in_brief(100, 20);
  Trainer trainer(corpus, config, options);
  learning_rate_schedule(options);
  ten_steps(corpus, config, options, trainer);
  training({ids.begin() + std::ptrdiff_t(corpus.validation().begin), ids.end()}, trainer);
  compare_with_counts(ids, corpus, trainer);
  sampling(vocabulary, corpus.validation(), trainer.model());
  overfitting(ids, vocabulary, corpus.validation(), config, options);

  section("A larger model in one command");
  say("./heed train trains 4 blocks of width 128 for 2000 steps. It saves a CHECKPOINT,",
      "a file with all that the next step needs: weights, moments, random generators.", "",
      "  ./heed train my_novel.txt", "  ./heed train --resume --out runs/my_novel",
      "  ./heed sample runs/my_novel --temperature 0.8 --top-k 10", "",
      "The second command continues after Ctrl-C. Next lesson: 16_looking_inside.", "",
      "To see how windows are drawn, start gdb with ./heed debug 15, and type:",
      "break heed::random_batch, continue, next past the line of starts, print starts.");
  questions("In main divide lr and min_lr by 10. What is the last validation loss?",
            "In overfitting use 10 * kilobyte. Does the model still overfit?",
            "In overfitting set options.dropout = 0.3. (In training, dropout then sets\n"
            "30 % of its inputs to 0, at random, and multiplies the others by 1 / 0.7;\n"
            "Srivastava et al. 2014.) Does the minimum get lower?");
}

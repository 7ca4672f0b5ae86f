// watch_test.cpp: heed train --watch writes a page that reloads itself until the run ends.

#include "commands/train/watch.hpp"

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "small_model.hpp"

using namespace heed_test;

TEST_CASE("the page of a run reloads itself until the end, and escapes texts",
          "[commands][watch]") {
  const ScratchFolder folder;
  heed::test::Run run(heed::test::few_steps(20));
  run.steps(4);
  const std::filesystem::path page = folder / "watch.html";
  heed::app::Watch watch("runs/<b>", run.trainer);
  heed::LogRow row;
  row.step = 3;
  watch.show(page, row, "a <script> & more");
  const std::string first = content(page);
  CHECK(has(first, "<meta http-equiv=\"refresh\" content=\"2\">"));
  CHECK(has(first, "<span>runs/&lt;b&gt;</span></h1>"));
  CHECK(has(first, "<h3>step 3</h3>\n<pre>a &lt;script&gt; &amp; more</pre>"));
  CHECK_FALSE(has(first, "<script"));
  watch.show(page, row, "in the same second");
  CHECK(content(page) == first);
  watch.end(page, "finished");
  const std::string last = content(page);
  CHECK_FALSE(has(last, "refresh"));
  CHECK(has(last, "in the same second"));
}

TEST_CASE("train --watch shows the last losses, and that a run has diverged", "[commands][watch]") {
  const Sandbox sandbox;
  const Finished done = sandbox.heed(train_tiny + Arguments{"--watch"});
  REQUIRE(done.code == 0);
  CHECK(has(done.out, "\nwatch  o/watch.html, in a browser\n"));
  const std::string page = content(sandbox / "o/watch.html");
  CHECK(has(page, ">finished: step 20 of 20</p>"));
  CHECK(has(page, "default-src 'none'"));
  CHECK_FALSE(has(page, "refresh"));
  const std::vector<std::string> rows = heed::split(losses(sandbox / "o"), '\n');
  const std::vector<std::string> last = heed::split(rows.at(rows.size() - 2), ',');
  CHECK(has(page, ">training  " + heed::decimal(std::stod(last[1]), 4) + "</li>"));
  CHECK(has(page, ">validation  " + heed::decimal(std::stod(last[2]), 4) + "</li>"));
  CHECK(has(page, "lowest validation, step 20  "));
  CHECK(sandbox.heed(train_tiny + Arguments{"--watch", "--replace", "--eval-every", "5"}).code ==
        0);
  CHECK(has(content(sandbox / "o/watch.html"), "<h3>step 5</h3>"));
  const Arguments wild = {"--watch", "--lr", "1e30", "--clip", "0", "--warmup", "0"};
  CHECK(sandbox.heed(Arguments{"train", "in.txt", "--out", "w"} + tiny + wild).code == 1);
  CHECK(has(content(sandbox / "w/watch.html"), ">diverged: step "));
}

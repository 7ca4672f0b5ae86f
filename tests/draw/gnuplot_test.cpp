// gnuplot_test.cpp: tests of quoting, of running gnuplot, and of its absence.

#include "draw/gnuplot.hpp"

#include <cstdlib>

#include "base/process.hpp"
#include "catch.hpp"
#include "draw/plot_programs.hpp"
#include "heed/base/error.hpp"
#include "heed/draw/plot_program.hpp"

using namespace heed;
using namespace heed_test;

namespace {

std::string script_for(const std::string& name, const std::string& title) {
  return "set encoding utf8\nset terminal svg noenhanced\nset output " +
         gnuplot_string(name + ".svg") + "\nset title " + gnuplot_string(title) + "\nplot x\n";
}

}  // namespace

TEST_CASE("gnuplot_string quotes its text so that gnuplot expands nothing", "[draw][gnuplot]") {
  CHECK(gnuplot_string("it's `date` \"x\" \\n") == "'it''s `date` \"x\" \\n'");
  CHECK(gnuplot_string("a\nb") == "'a\\nb'");
  CHECK(gnuplot_string("a]]>b]]]>]>>") == "'a]] >b]]] >]>>'");  // ]]> is an error in an SVG file
}

TEST_CASE("gnuplot_number writes a decimal point", "[draw][gnuplot]") {
  CHECK(gnuplot_number(1.5) == "1.5");
  CHECK(gnuplot_number(-2e-7) == "-2e-07");
  CHECK(gnuplot_number(1234567) == "1234567");
  CHECK(gnuplot_range({0, 2000}) == "[0:2000]");
}

TEST_CASE("names and folders may contain spaces, quotes and Unicode", "[draw][gnuplot]") {
  for (const std::string name :
       {"loss", "it's a \"loss\"", "Verlust über Schritte 魚", "x<", "-d"}) {
    const ScratchFolder folder("'" + std::string(name == "x<" ? "quoted" : "ü \"q\""));
    const Plot plot = draw_with_gnuplot(folder.path, name, script_for(name, "a & b < c `d` %e _f"));
    if (not_installed(plot.message)) return;
    INFO(plot.message);
    CHECK(plot.ok);
    CHECK(plot.message == (folder / (name + ".svg")).string());
    CHECK(has(folder.read(name + ".svg"), "a &amp; b &lt; c `d` %e _f"));
    CHECK(has(folder.read(name + ".gp"), "plot x"));
  }
}

TEST_CASE("text_with_gnuplot accepts a script of 50,000 lines", "[draw][gnuplot]") {
  std::string script = "set terminal dumb size 60,12\n$data << END\n";
  for (int i = 0; i < 50000; ++i) script += std::to_string(i) + " 1\n";
  const Plot plot = text_with_gnuplot(script + "END\nplot $data with lines\n");
  if (not_installed(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
  CHECK(has(plot.message, "*****"));
}

TEST_CASE("an error in a script becomes a message of one line", "[draw][gnuplot]") {
  const ScratchFolder folder;
  const Plot plot = draw_with_gnuplot(folder.path, "bad", "plot nonsense(\n");
  if (not_installed(plot.message)) return;
  CHECK(!plot.ok);
  CHECK(has(plot.message, "gnuplot: "));
  CHECK(!has(plot.message, "\n"));
}

TEST_CASE("gnuplot ignores the user's settings", "[draw][gnuplot]") {
  const ScratchFolder folder;
  folder.write(".gnuplot", "system('touch " + (folder / "proof").string() + "')\n");
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", folder.path.c_str(), 1);
  const Plot text = text_with_gnuplot("set terminal dumb\nplot x\n");
  const Plot plot = draw_with_gnuplot(folder.path, "a", script_for("a", "title"));
  ::setenv("HOME", home.c_str(), 1);
  if (not_installed(text.message)) return;
  CHECK(text.ok);
  CHECK(plot.ok);
  CHECK_FALSE(std::filesystem::exists(folder / "proof"));
}

TEST_CASE("the script that stays beside a picture draws the same picture", "[draw][gnuplot]") {
  const ScratchFolder folder;
  const Plot plot = draw_with_gnuplot(folder.path, "a", script_for("a", "title"));
  if (not_installed(plot.message)) return;
  REQUIRE(plot.ok);
  const std::string drawn = folder.read("a.svg");
  folder.write("a.svg", "");
  CHECK(run_child({{"gnuplot", "a.gp"}, folder.path}).code == 0);
  CHECK(folder.read("a.svg") == drawn);
}

TEST_CASE("without gnuplot the script is written and the message says what to install",
          "[draw][gnuplot]") {
  const ScratchFolder folder;
  const EmptyPath nothing_installed;
  const Plot plot = draw_with_gnuplot(folder.path, "loss", "plot x\n");
  CHECK(!plot.ok);
  CHECK(has(plot.message, "install gnuplot-nox (apt) or gnuplot (brew, conda)"));
  CHECK(folder.read("loss.gp") == "plot x\n");
  CHECK(text_with_gnuplot("plot x\n").message == plot.message);
}

TEST_CASE("a folder that is not writable becomes a message", "[draw][gnuplot]") {
  for (const std::string data : {"", "0,1\n"}) {  // the data are written before the script
    const Plot plot = draw_with_gnuplot("/nonexistent/folder", "loss", "plot x\n", data);
    const std::string ending = data.empty() ? ".gp" : ".csv";
    CHECK(!plot.ok);
    CHECK(plot.file_failed);
    CHECK(has(plot.message, "/nonexistent/folder/loss" + ending + ": No such file or directory"));
  }
}

TEST_CASE("the name of a picture must not contain a folder or be empty", "[draw][gnuplot]") {
  CHECK_THROWS_AS(draw_with_gnuplot(".", "a/b", ""), Error);
  CHECK_THROWS_AS(draw_with_gnuplot(".", "", ""), Error);
}

TEST_CASE("path_in joins a folder and a file name", "[draw][gnuplot]") {
  CHECK(path_in("runs/a", "loss.csv") == "runs/a/loss.csv");
  CHECK(path_in("runs/", "loss.csv") == "runs/loss.csv");
  CHECK(path_in("", "loss.csv") == "loss.csv");
}

TEST_CASE("gnuplot draws texts that begin with apostrophes", "[draw][gnuplot]") {
  CHECK(gnuplot_string("'") == "\"'\"");
  CHECK(gnuplot_string("''a'b") == "\"''\" . 'a''b'");
  CHECK(gnuplot_string("") == "''");
  const Plot plot = text_with_gnuplot("set terminal dumb\nset title " + gnuplot_string("'s") +
                                      "\nplot [0:1] x title " + gnuplot_string("''"));
  if (not_installed(plot.message)) return;
  CHECK(plot.ok);
  CHECK(has(plot.message, " 's"));
  CHECK(has(plot.message, "''"));
}

// comparison_tables.hpp: the tables and notes of heed compare.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "commands/compare/run_group.hpp"

namespace heed::app {

// The first row has the titles of the columns; `text_columns` are aligned at the left.
struct Table {
  std::vector<std::vector<std::string>> rows;
  std::set<std::size_t> text_columns;

  std::string text() const;  // lines, with two spaces between columns
  std::string html() const;  // an element that scrolls if the table is wider than the page
};

// Tables with a row for each group, whose number is its place, counted from 1.
Table option_table(const std::vector<RunGroup>& groups);  // the options that differ
Table loss_table(const std::vector<RunGroup>& groups);    // steps, losses, speed and verdict

// What the tables mean, and what must be known to read them.
std::vector<std::string> notes_of(const std::vector<RunGroup>& groups);

}  // namespace heed::app

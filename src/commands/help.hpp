// help.hpp: the text that --help prints: sections of names and descriptions.
#pragma once

#include <string>

namespace heed::app {

// The start of a help text: "heed train: ABOUT" and "Usage: USAGE".
std::string help_start(const std::string& name, const std::string& about, const std::string& usage);

// The title of a section, such as "Options".
std::string help_title(const std::string& title);

// A name and its description, from column 24 on, in lines of at most 80 columns. If the name is
// too long for its column, the description starts in the next line.
std::string help_line(const std::string& name, const std::string& description);

// A paragraph, in lines of at most 80 columns. Lines that begin with a space are not changed.
std::string help_paragraph(const std::string& text);

}  // namespace heed::app

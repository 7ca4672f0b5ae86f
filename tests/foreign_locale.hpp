// foreign_locale.hpp: a global locale with a decimal comma and spaces between thousands.
#pragma once

#include <locale>
#include <string>

namespace heed_test {

// Sets the global locale until this object is destroyed. (French and Polish write 18 400,5.)
class ForeignLocale {
 public:
  ForeignLocale() : before_(std::locale::global({std::locale::classic(), new Numbers})) {}
  ~ForeignLocale() { std::locale::global(before_); }
  ForeignLocale(const ForeignLocale&) = delete;

 private:
  struct Numbers : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return ' '; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

}  // namespace heed_test

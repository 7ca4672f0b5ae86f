# doxygen_comments.awk: turns the ordinary comments of a header into Doxygen's. A comment stands
# before the declarations that it describes, up to the next empty line or comment; Doxygen wants one
# before each, so the comment is repeated, and `double x, y;` becomes two declarations. A comment
# before a class describes no member, but the functions that follow the class without empty line.

function is_declaration() {  # the line begins a declaration, and the one before it has ended
  return previous ~ /(;|[{}]|:)( *\/\/\/<.*)?$/ && !/^ *([{}#]|public:|private:|protected:|template|namespace|inline namespace|\/\/)/
}

function print_variables(  end, type, variables, n, i) {  # of a line such as `double x, y;  ///< (C)`
  end = index($0, ";")
  n = split(substr($0, 1, end - 1), variables, ", ")
  type = variables[1]
  sub(/ = .*/, "", type)
  sub(/[a-z_0-9]+$/, "", type)
  for (i = 1; i <= n; ++i) {
    if (i > 1 && !trailing && comment != "") print comment
    print (i > 1 ? type : "") variables[i] substr($0, end)
  }
}

function mark_code() {  # `x` becomes <tt>x</tt>; the line has these marks in comments only
  while (match($0, /`[^`]+`/))
    $0 = substr($0, 1, RSTART - 1) "<tt>" substr($0, RSTART + 1, RLENGTH - 2) "</tt>" substr($0, RSTART + RLENGTH)
}

FNR == 1 {
  comment = outer_comment = previous = ""
  sub(/^\/\/ [^ ]*: /, "/// @file\n/// ")
  print
  next
}
/^ *\/\/ ----/ { print ""; next }  # the heading of a group of declarations
/^ *$/ { comment = ""; previous = ""; in_comment = 0; print; next }
/^ *\/\/($| )/ {
  continues = !in_comment && index(previous, "///<") > 0 && index(previous, "///<") == index($0, "//")
  sub(/\/\//, continues ? "///<" : "///")
  gsub(/[@\\<>#&]/, "\\\\&")
  sub(/\/\/\/\\</, "///<")
  mark_code()
  print
  if (continues) next  # the second line of a comment after a declaration
  comment = (in_comment ? comment "\n" : "") $0
  in_comment = 1
  next
}
{
  trailing = sub(/\/\/ /, "///< ")
  mark_code()
  if (/^};/) comment = outer_comment
  if (!in_comment && !trailing && comment != "" && is_declaration()) print comment
  if (/^ +[A-Za-z_][A-Za-z_:<>0-9 ]* [a-z_0-9]+( = [^,;()]*)?(, [a-z_0-9]+( = [^,;()]*)?)+;( *\/\/\/<.*)?$/)
    print_variables()
  else
    print
  if (/^(struct|class) .*{$/) outer_comment = comment
  if (/{( *\/\/\/<.*)?$/) comment = ""
  in_comment = 0
  previous = $0
}

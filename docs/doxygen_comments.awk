# doxygen_comments.awk: turns the ordinary comments of a header into Doxygen's. A comment stands
# before the declarations that it describes, up to the next empty line or comment; Doxygen wants one
# before each, so the comment is repeated.

function is_declaration() {  # the line begins a declaration, and the one before it has ended
  return previous ~ /(;|[{}]|:)( *\/\/\/<.*)?$/ && !/^ *([{}#]|public:|private:|protected:|template|namespace|inline namespace|\/\/)/
}

FNR == 1 {
  sub(/^\/\/ [^ ]*: /, "/// @file\n/// ")
  print
  next
}
/^ *\/\/ ----/ { print ""; next }  # the heading of a group of declarations
/^ *$/ { comment = ""; previous = ""; print; next }
/^ *\/\/($| )/ {
  sub(/\/\//, "///")
  gsub(/[@\\<>#&]/, "\\\\&")
  comment = (in_comment ? comment "\n" : "") $0
  in_comment = 1
  print
  next
}
{
  trailing = sub(/\/\/ /, "///< ")
  if (!in_comment && !trailing && comment != "" && is_declaration()) print comment
  in_comment = 0
  previous = $0
  print
}

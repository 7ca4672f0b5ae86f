# changed_solution.cmake: writes a wrong answer, a solution in which a .change file replaces lines.
#
# Usage: cmake -D SOLUTION=FILE -D CHANGE=FILE -D OUT=FILE -P changed_solution.cmake
#
# A .change file begins with comment lines, which say what is wrong with the answer. Then each group
# of lines
#   -line of the solution
#   +line that replaces it
# has one or more lines with "-", which must occur exactly once in the solution, one after the other,
# and any number of lines with "+".

function(replace_once old new)
  string(REPLACE "${old}" "" without "${text}")
  string(LENGTH "${text}" before)
  string(LENGTH "${without}" after)
  string(LENGTH "${old}" length)
  math(EXPR removed "${before} - ${after}")
  if(NOT removed EQUAL length OR length EQUAL 0)
    message(FATAL_ERROR "${CHANGE}: these lines are not in ${SOLUTION} exactly once:\n${old}")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(READ ${SOLUTION} text)
file(READ ${CHANGE} change)
set(comment "")
set(old "")
set(new "")
# Takes line after line from `change`. (A list of lines would be cut at semicolons.)
string(FIND "${change}" "\n" end)
while(NOT end EQUAL -1)
  string(SUBSTRING "${change}" 0 ${end} line)
  math(EXPR next "${end} + 1")
  string(SUBSTRING "${change}" ${next} -1 change)
  string(FIND "${change}" "\n" end)
  string(SUBSTRING "${line} " 0 1 sign)
  string(SUBSTRING "${line} " 1 -1 rest)  # and the space, which is removed
  string(REGEX REPLACE " $" "" rest "${rest}")
  if(sign STREQUAL "-")
    if(NOT new STREQUAL "")
      replace_once("${old}" "${new}")
      set(old "")
      set(new "")
    endif()
    string(APPEND old "${rest}\n")
  elseif(sign STREQUAL "+")
    string(APPEND new "${rest}\n")
  elseif(old STREQUAL "")
    string(APPEND comment "${line}\n")
  else()  # an empty line ends a group
    replace_once("${old}" "${new}")
    set(old "")
    set(new "")
  endif()
endwhile()
if(NOT old STREQUAL "")
  replace_once("${old}" "${new}")
endif()
file(WRITE ${OUT} "${comment}${text}")

# apply.cmake: writes the wrong answers to an exercise, each a solution in which lines are replaced.
#
# Usage: cmake -D SOLUTION=FILE -D ANSWERS=FILE -D OUT=FOLDER -P apply.cmake
#
# The file ANSWERS has a section for each wrong answer, from which OUT/NAME.cpp is written:
#   # NAME
#   // what is wrong with it
#   -line of the solution
#   +line that replaces it
# Each group has one or more lines with "-", which must occur exactly once in the solution, one after
# the other, and any number of lines with "+". An empty line separates groups and sections.

function(replace_once)
  if(old STREQUAL "")
    return()
  endif()
  string(REPLACE "\n${old}" "\n" without "${text}")
  string(LENGTH "${text}" before)
  string(LENGTH "${without}" after)
  string(LENGTH "${old}" length)
  math(EXPR removed "${before} - ${after}")
  if(NOT removed EQUAL length)
    message(FATAL_ERROR
      "${ANSWERS}, ${name}: these lines are not in ${SOLUTION} exactly once:\n${old}")
  endif()
  string(REPLACE "\n${old}" "\n${new}" text "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(READ ${SOLUTION} solution)
file(READ ${ANSWERS} answers)
string(APPEND answers "\n# \n")  # ends the last section
set(name "")
set(old "")
set(new "")
# Takes line after line from `answers`. (A list of lines would be cut at semicolons.)
string(FIND "${answers}" "\n" end)
while(NOT end EQUAL -1)
  string(SUBSTRING "${answers}" 0 ${end} line)
  math(EXPR next "${end} + 1")
  string(SUBSTRING "${answers}" ${next} -1 answers)
  string(FIND "${answers}" "\n" end)
  string(SUBSTRING "${line} " 0 1 sign)
  string(SUBSTRING "${line} " 1 -1 rest)  # and the space, which is removed
  string(REGEX REPLACE " $" "" rest "${rest}")
  if(sign STREQUAL "-")
    string(APPEND old "${rest}\n")
  elseif(sign STREQUAL "+")
    string(APPEND new "${rest}\n")
  elseif(sign STREQUAL " ")  # an empty line
    replace_once()
    set(old "")
    set(new "")
  elseif(sign STREQUAL "#")
    if(NOT name STREQUAL "")
      file(WRITE ${OUT}/${name}.cpp "${comment}${text}")
    endif()
    string(SUBSTRING "${rest}" 1 -1 name)
    set(text "\n${solution}")
    set(comment "")
  else()
    string(APPEND comment "${line}\n")
  endif()
endwhile()

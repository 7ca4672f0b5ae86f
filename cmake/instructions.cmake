# instructions.cmake: which SIMD instructions a library was compiled for, and whether the processor
# has them (x86 only).

set(HEED_X86_INSTRUCTIONS sse4.2 avx avx2 fma avx512f avx512bw avx512dq avx512vl)

# Sets `result` to the instructions that the compiler uses with these flags.
function(heed_used_instructions result)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${ARGN} -dM -E -x c++ /dev/null
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  set(used)
  foreach(instruction ${HEED_X86_INSTRUCTIONS})
    string(TOUPPER ${instruction} name)
    string(REPLACE "." "_" name ${name})
    if(macros MATCHES "__${name}__ 1")
      list(APPEND used ${instruction})
    endif()
  endforeach()
  set(${result} "${used}" PARENT_SCOPE)
endfunction()

# Sets `result` to those of the instructions that this machine's processor lacks. Empty if the
# processor is unknown, as on other systems than Linux.
function(heed_missing_instructions result instructions)
  set(lacking)
  if(EXISTS /proc/cpuinfo AND NOT CMAKE_CROSSCOMPILING)
    file(STRINGS /proc/cpuinfo lines REGEX "^flags" LIMIT_COUNT 1)
    string(REPLACE "sse4_2" "sse4.2" lines "${lines}")
    foreach(instruction ${instructions})
      if(lines AND NOT "${lines} " MATCHES " ${instruction} ")
        list(APPEND lacking ${instruction})
      endif()
    endforeach()
  endif()
  set(${result} "${lacking}" PARENT_SCOPE)
endfunction()

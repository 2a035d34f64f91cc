# Planted bugs: which source files have places for them, and in which builds they are compiled in.

option(TUTTI_MUTANTS "Compile planted bugs in, all switched off: tests of the tests" OFF)

# tutti_mutated(FILE …)
#
# Names source files of the current folder that ask base::is_planted. They alone are compiled with
# the definition, so that no other file is compiled anew for it.
function(tutti_mutated)
  if(TUTTI_MUTANTS)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS TUTTI_MUTANTS)
  endif()
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY TUTTI_MUTATED_SOURCES ${ARGN})
endfunction()

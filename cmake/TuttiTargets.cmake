# How every target of the project is made: one macro for libraries, one for their tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(TUTTI_TESTS "Build the tests" ON)
option(TUTTI_BENCH "Build the benchmarks" ON)
option(TUTTI_SLOW_CHECKS "Compile ensure_slow in" OFF)
set(TUTTI_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS json url system)
find_package(fmt CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(RocksDB CONFIG REQUIRED)
find_package(CapnProto CONFIG REQUIRED)
find_package(CAF REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
if(TUTTI_TESTS)
  find_package(GTest CONFIG REQUIRED)
  find_package(rapidcheck CONFIG REQUIRED)
  include(GoogleTest)
endif()
if(TUTTI_BENCH)
  find_package(benchmark CONFIG REQUIRED)
endif()

# mold links a test binary in a fifth of the time; without it the default linker does.
find_program(TUTTI_MOLD mold)
if(TUTTI_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(tutti_options INTERFACE)
target_compile_options(tutti_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fdiagnostics-color=auto
  -Wno-missing-field-initializers # designated initialisers leave the rest at their defaults on purpose
  -Wno-stringop-overread # g++ 12 sees one where a small_vector that is empty is moved
)
target_include_directories(tutti_options INTERFACE ${PROJECT_SOURCE_DIR})
if(TUTTI_SLOW_CHECKS)
  target_compile_definitions(tutti_options INTERFACE TUTTI_SLOW_CHECKS)
endif()
if(TUTTI_SANITIZE)
  # CAF binds references to null where an actor without arguments is spawned: -fno-sanitize=null.
  target_compile_options(tutti_options INTERFACE -fsanitize=${TUTTI_SANITIZE} -fno-sanitize=null
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tutti_options INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()

# tutti_add_library(NAME SOURCES … HEADERS … PUBLIC … PRIVATE …)
#
# Makes the static library tutti_NAME from the files of the current folder. HEADERS are those without
# a source of the same name: each is compiled alone to prove that it stands by itself (all others are
# proved by being included first in their source). A link test proves that the library needs nothing
# but what it declares.
function(tutti_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  set(target tutti_${name})
  set(checks)
  foreach(header IN LISTS ARG_HEADERS)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    set(check ${CMAKE_CURRENT_BINARY_DIR}/alone/${header}.cpp)
    file(CONFIGURE OUTPUT ${check} CONTENT "#include \"@path@\"\n" @ONLY)
    list(APPEND checks ${check})
  endforeach()
  add_library(${target} STATIC ${ARG_SOURCES} ${checks})
  target_link_libraries(${target} PUBLIC tutti_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(TUTTI_TESTS)
    set(main ${PROJECT_BINARY_DIR}/link_test_main.cpp)
    if(NOT EXISTS ${main})
      file(WRITE ${main} "int main() { return 0; }\n")
    endif()
    add_executable(${target}_links ${main})
    target_link_libraries(${target}_links PRIVATE
      -Wl,--whole-archive $<TARGET_FILE:${target}> -Wl,--no-whole-archive ${ARG_PUBLIC} ${ARG_PRIVATE}
      tutti_options)
    add_dependencies(${target}_links ${target})
    add_test(NAME "links.${name} needs only what it declares" COMMAND ${target}_links)
  endif()
endfunction()

# tutti_add_tests(NAME SOURCES … LIBRARIES … [TIMEOUT SECONDS] [LOCK NAME])
#
# Makes tutti_NAME_tests from the files of the current folder; each test becomes one of ctest's. Of
# tests with the same lock one runs at a time.
function(tutti_add_tests name)
  cmake_parse_arguments(ARG "TAKES_MUTANTS" "TIMEOUT;LOCK" "SOURCES;LIBRARIES" ${ARGN})
  if(ARG_TAKES_MUTANTS AND TUTTI_MUTANTS)
    set(planted ${PROJECT_SOURCE_DIR}/tests/planted.cpp)
    set_property(SOURCE ${planted} APPEND PROPERTY COMPILE_DEFINITIONS TUTTI_MUTANTS)
    list(APPEND ARG_SOURCES ${planted})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(tutti_${name}_tests ${ARG_SOURCES})
  target_link_libraries(tutti_${name}_tests PRIVATE tutti_options ${ARG_LIBRARIES} GTest::gtest
                        GTest::gtest_main GTest::gmock rapidcheck)
  target_compile_definitions(tutti_${name}_tests PRIVATE
    TUTTI_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" TUTTI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(TUTTI_SANITIZE) # g++ 12 sees uninitialised std::functions in std::regex then
    target_compile_options(tutti_${name}_tests PRIVATE -Wno-maybe-uninitialized)
  endif()
  gtest_discover_tests(tutti_${name}_tests TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} RESOURCE_LOCK "${ARG_LOCK}")
endfunction()

# Embeds the documents of this folder into the program: makes openapi_data.cpp, which pulls each file
# in byte for byte, and sets OPENAPI_DATA to its path.

set(openapi_files
  tutti.dev-v1alpha1
  v1.35-core-v1
  v1.35-discovery
  v1.35-scheduling.k8s.io-v1alpha1
  v1.36.3-coordination.k8s.io-v1
  v1.36.3-core-v1
  v1.36.3-discovery
  v1.36.3-events.k8s.io-v1
  v1.36.3-policy-v1
  v1.36.3-scheduling.k8s.io-v1
  v1.36.3-scheduling.k8s.io-v1alpha2
  v1.37.2-coordination.k8s.io-v1
  v1.37.2-core-v1
  v1.37.2-discovery
  v1.37.2-events.k8s.io-v1
  v1.37.2-policy-v1
  v1.37.2-scheduling.k8s.io-v1
  v1.37.2-scheduling.k8s.io-v1alpha3
  v1.37.2-scheduling.k8s.io-v1beta1)

set(openapi_code "")
set(openapi_declarations "")
set(openapi_rows "")
set(openapi_paths "")
set(number 0)
foreach(file IN LISTS openapi_files)
  set(path ${CMAKE_CURRENT_LIST_DIR}/${file}.json)
  list(APPEND openapi_paths ${path})
  # The checksum makes the code differ when a file does: a compiler cache does not look into .incbin.
  file(SHA256 ${path} checksum)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  set(symbol tutti_openapi_${number})
  string(APPEND openapi_code
    "// ${file}: ${checksum}\n"
    "asm(\".pushsection .rodata,\\\"a\\\"\\n\"\n"
    "    \".global ${symbol}\\n${symbol}:\\n\"\n"
    "    \".incbin \\\"${path}\\\"\\n\"\n"
    "    \".global ${symbol}_end\\n${symbol}_end:\\n\"\n"
    "    \".byte 0\\n.popsection\\n\");\n")
  string(APPEND openapi_declarations "extern const char ${symbol}[], ${symbol}_end[];\n")
  string(APPEND openapi_rows "    {\"${file}\", ${symbol}, ${symbol}_end},\n")
  math(EXPR number "${number} + 1")
endforeach()

set(OPENAPI_DATA ${CMAKE_CURRENT_BINARY_DIR}/openapi_data.cpp)
file(CONFIGURE OUTPUT ${OPENAPI_DATA} @ONLY CONTENT [[
// The embedded files, in the order of their names. Made by api/openapi/embed.cmake.
#include "api/openapi/embedded.hpp"

@openapi_code@
extern "C" {
@openapi_declarations@}

namespace tutti::api {

std::span<const embedded_file> embedded_files() {
  static const embedded_file files[] = {
@openapi_rows@  };
  return files;
}

} // namespace tutti::api
]])
set_source_files_properties(${OPENAPI_DATA} PROPERTIES OBJECT_DEPENDS "${openapi_paths}")

// One HTTP exchange as plain values: what bridge roles ask for, whatever carries the bytes.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::protocol {

struct http_request {
  std::string method; ///< GET, POST, PUT, PATCH, DELETE
  std::string target; ///< path and query, e.g. "/api/v1/pods?limit=500"
  std::string body;
  std::string content_type; ///< of the body; empty = application/json
  bool is_stream = false;   ///< a watch: the body is handed on line by line
  bool is_urgent = false;   ///< finishing a committed gang goes before everything else
};

} // namespace tutti::protocol

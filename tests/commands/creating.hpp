// Objects of a manifest, created one by one on a server that runs.
#pragma once

#include <string>

#include "api_client.hpp"

namespace tutti::commands {

/// An object that the server does not take fails the test.
void create(const api_client& api, const std::string& manifest);

} // namespace tutti::commands

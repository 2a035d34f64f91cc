// What the files of the shorthand share.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include <boost/json.hpp>

#include "sim/scenario/names.hpp"
#include "sim/scenario/shorthand.hpp"

namespace tutti::sim::scenario {

namespace json = boost::json;

/// Calls `use` for each name of a mapping whose keys may be ranges, with its own copy of the value.
void for_each_name(const tree& x, const std::function<void(const std::string&, const tree&)>& use);

json::object metadata_of(const full_name& name);
/// `{"apiVersion": …, "kind": …, "metadata": …}` of a namespaced object; of a cluster-wide one if
/// the space is empty.
json::object object_of(std::string_view api_version, std::string_view kind, const full_name& name);

/// True for what may be asked of a node: cpu, memory, gpu, any name with a domain.
bool is_resource(const std::string& word);
/// An amount as it stands in the file.
json::value amount_of(const tree& x);

/// Collects what other objects need, each once: namespaces and priority classes.
class prerequisites {
public:
  void add_space(const full_name& name);
  /// The name of a class with this priority.
  std::string class_of(std::int64_t priority, bool never_preempts);
  wanted_objects before(wanted_objects rest);

private:
  std::set<std::string> known_;
  wanted_objects list_;
};

} // namespace tutti::sim::scenario

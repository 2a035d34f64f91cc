// Reads manifests from files and folders into objects, each with where it came from.
#include "api/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/defaults.hpp"
#include "api/manifest_text.hpp"
#include "api/schema.hpp"
#include "api/validate.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;
using base::code;
using base::error;
using base::result;

/// No manifest of people is larger; reading one whole is then no risk to memory.
constexpr std::uintmax_t file_bytes_max = 1u << 30;
/// Lists of lists of lists: more is a mistake.
constexpr int list_depth_max = 8;

/// Where an object stands: which file, which document, and where in a List; and what it is.
struct origin {
  std::string_view file;
  int document;
  std::string prefix;      ///< "items[3]." inside a List, else empty
  std::string object = {}; ///< "PodGroup train"; empty while it is not known

  std::string text() const {
    return fmt::format("file {}, document {}{}", file, document,
                       object.empty() ? "" : " (" + object + ")");
  }
};

error complain(const origin& at, code c, std::string_view path, std::string_view what,
               std::string_view allowed) {
  auto text = fmt::format("{}, {}{}: {}", at.text(), at.prefix, path, what);
  if (!allowed.empty())
    text += fmt::format("; allowed: {}", allowed);
  return {c, std::move(text)};
}

error bad(const origin& at, std::string_view path, std::string_view what,
          std::string_view allowed) {
  return complain(at, code::bad_input, path, what, allowed);
}

std::string string_in(const json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found && found->is_string() ? std::string{found->get_string()} : std::string{};
}

/// A word that is safe to repeat in a message of one line.
bool is_plain(const std::string& word) {
  constexpr std::size_t bytes_most = 253;
  return !word.empty() && word.size() <= bytes_most
         && std::all_of(word.begin(), word.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                     || c == '-' || c == '.';
            });
}

/// What an object calls itself, whatever else is wrong with it: "PodGroup train".
std::string name_of(const json::object& object) {
  const auto kind = string_in(object, "kind");
  const auto* metadata = object.if_contains("metadata");
  const auto name =
      metadata && metadata->is_object() ? string_in(metadata->get_object(), "name") : "";
  return is_plain(kind) && is_plain(name) ? kind + " " + name : std::string{};
}

/// Releases to try, the preferred one first.
std::vector<release> candidates(const manifest_options& options) {
  if (options.kubernetes)
    return {*options.kubernetes};
  return {releases.begin(), releases.end()};
}

/// Why a kind is not known: a near name, another version of it, or all that there are.
error unknown_kind(const origin& at, const std::string& api_version, const std::string& kind,
                   const manifest_options& options) {
  std::set<std::string> versions, kinds, all;
  for (auto r : candidates(options))
    for (auto& known : known_kinds(r)) {
      if (known.kind == kind)
        versions.insert(known.api_version);
      kinds.insert(known.kind);
      all.insert(fmt::format("{} ({})", known.kind, known.api_version));
    }
  auto where = options.kubernetes ? fmt::format("Kubernetes {}", name_of(*options.kubernetes))
                                  : std::string{"any release"};
  if (!versions.empty())
    return bad(at, "apiVersion", fmt::format("\"{}\" has no {} in {}", api_version, kind, where),
               fmt::format("{}", fmt::join(versions, ", ")));
  auto close = nearest(kind, {kinds.begin(), kinds.end()});
  auto hint = close.empty() ? std::string{} : fmt::format(", did you mean \"{}\"?", close);
  return bad(at, "kind",
             fmt::format("unknown kind \"{}\" of \"{}\" in {}{}", kind, api_version, where, hint),
             fmt::format("{}", fmt::join(all, ", ")));
}

/// The newest release that knows the kind and has nothing against the object; else the complaint of
/// the newest that knows the kind.
result<std::pair<release, const known_kind*>> match(const origin& at, const json::object& object,
                                                    const manifest_options& options) {
  auto api_version = string_in(object, "apiVersion"), kind = string_in(object, "kind");
  std::vector<field_error> first_errors;
  for (auto r : candidates(options)) {
    auto* known = find_kind(r, api_version, kind);
    if (!known)
      continue;
    auto errors = check_fields(r, object);
    if (errors.empty())
      return std::pair{r, known};
    if (first_errors.empty())
      first_errors = std::move(errors);
  }
  if (first_errors.empty())
    return unknown_kind(at, api_version, kind, options);
  auto& first = first_errors.front();
  auto more = first_errors.size() > 1 ? fmt::format(" (and {} more)", first_errors.size() - 1) : "";
  return bad(at, first.path, first.what, first.allowed + more);
}

class reader {
public:
  explicit reader(const manifest_options& options) : options_(options) {}

  result<void> read(std::string_view text, std::string_view file) {
    auto documents = parse_documents(text);
    if (!documents)
      return error{documents.error().what(),
                   fmt::format("file {}, {}", file, documents.error().message())};
    for (auto& document : *documents) {
      origin at{file, document.number, {}};
      if (!document.content.is_object())
        return bad(at, "top level", "is no object", "an object with apiVersion and kind");
      if (auto done = take(std::move(document.content.get_object()), at, 0); !done)
        return done;
    }
    return {};
  }

  std::vector<manifest> done() { return std::move(manifests_); }

private:
  result<void> take(json::object object, const origin& at, int depth) {
    for (auto* key : {"apiVersion", "kind"}) {
      auto* found = object.if_contains(key);
      if (!found || found->is_null())
        return bad(at, key, "is missing",
                   std::string_view{key} == "kind" ? "Pod, PodGroup, …"
                                                   : "v1, scheduling.k8s.io/v1beta1, …");
      if (!found->is_string())
        return bad(at, key, "is no text", "a string");
    }
    auto kind = string_in(object, "kind");
    if (auto* items = object.if_contains("items"); items && kind.ends_with("List"))
      return take_list(std::move(object), kind, at, depth);
    origin named = at;
    named.object = name_of(object);
    return add(std::move(object), named);
  }

  result<void> take_list(json::object list, const std::string& kind, const origin& at, int depth) {
    if (depth == list_depth_max)
      return bad(at, "items", "is a list too deep in lists",
                 fmt::format("{} levels", list_depth_max));
    auto& items = list["items"];
    if (items.is_null())
      return {};
    if (!items.is_array())
      return bad(at, "items", "is no list", "a list of objects");
    auto& array = items.get_array();
    for (std::size_t i = 0; i < array.size(); ++i) {
      origin inside{at.file, at.document, fmt::format("{}items[{}].", at.prefix, i)};
      if (!array[i].is_object())
        return bad(at, fmt::format("items[{}]", i), "is no object",
                   "an object with apiVersion and kind");
      auto item = std::move(array[i].get_object());
      if (kind != "List") { // a typed list may leave the type of its items out
        item.emplace("apiVersion", list["apiVersion"]);
        item.emplace("kind", kind.substr(0, kind.size() - std::string_view{"List"}.size()));
      }
      if (auto done = take(std::move(item), inside, depth + 1); !done)
        return done;
    }
    return {};
  }

  result<void> add(json::object object, const origin& at) {
    auto matched = match(at, object, options_);
    if (!matched)
      return matched.error();
    manifest m;
    m.file = at.file;
    m.document = at.document;
    m.kubernetes = matched->first;
    m.api_version = matched->second->api_version;
    m.kind = matched->second->kind;
    auto* metadata = object["metadata"].if_object();
    m.name = metadata ? string_in(*metadata, "name") : std::string{};
    if (m.name.empty())
      return bad(at, "metadata.name", "is missing",
                 "a name; generateName is not supported in files");
    m.ns = string_in(*metadata, "namespace");
    if (matched->second->is_namespaced && m.ns.empty())
      (*metadata)["namespace"] = m.ns = options_.default_namespace;
    if (!matched->second->is_namespaced && !m.ns.empty())
      return bad(at, "metadata.namespace", fmt::format("a {} belongs to no namespace", m.kind),
                 "nothing");
    m.object = std::move(object);
    if (auto done = obey_rules(m, at); !done)
      return done;
    return keep(std::move(m), at);
  }

  /// The rules of the API server for the object alone: said here, they come with their place, and
  /// before anything of the file is applied. An object that is there already may obey others.
  static result<void> obey_rules(const manifest& m, const origin& at) {
    json::object whole = m.object;
    apply_defaults(whole, {.kubernetes = m.kubernetes});
    if (auto why = refuse_create(m.kubernetes, whole))
      return error{
          code::bad_input,
          fmt::format("file {}, document {}{}: {}", at.file, at.document,
                      at.prefix.empty() ? "" : ", " + at.prefix.substr(0, at.prefix.size() - 1),
                      text_for_people(*why))};
    return {};
  }

  result<void> keep(manifest m, const origin& at) {
    auto group = m.api_version.substr(
        0, m.api_version.find('/') == m.api_version.npos ? 0 : m.api_version.find('/'));
    auto [known, is_new] =
        seen_.try_emplace(std::tuple{group, m.kind, m.ns, m.name}, m.file, m.document);
    if (!is_new)
      return complain(at, code::already_exists, "metadata.name",
                      fmt::format("{} \"{}\" stands already in file {}, document {}", m.kind,
                                  m.name, known->second.first, known->second.second),
                      "each object once");
    manifests_.push_back(std::move(m));
    if (!base::goes_on(options_.watch, manifests_.size()))
      return base::stopped();
    return {};
  }

  const manifest_options& options_;
  std::vector<manifest> manifests_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::pair<std::string, int>>
      seen_;
};

result<std::string> slurp(const std::string& path) {
  if (path == "-")
    return std::string{std::istreambuf_iterator<char>{std::cin}, {}};
  std::error_code failure;
  auto size = std::filesystem::file_size(path, failure);
  if (!failure && size > file_bytes_max)
    return error{code::bad_input,
                 fmt::format("file {}: is {} bytes long; allowed: {}", path, size, file_bytes_max)};
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return error{code::io, fmt::format("file {}: cannot be opened for reading", path)};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad())
    return error{code::io, fmt::format("file {}: cannot be read", path)};
  return text;
}

/// The files that a path stands for.
result<std::vector<std::string>> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (path == "-")
    return std::vector{path};
  if (!fs::exists(path, failure))
    return error{code::not_found, fmt::format("file {}: no such file", path)};
  if (!fs::is_directory(path, failure))
    return std::vector{path};
  std::vector<std::string> files;
  for (fs::directory_iterator entry{path, failure}, end; !failure && entry != end;
       entry.increment(failure)) {
    auto ending = entry->path().extension();
    std::error_code unreadable; // a link that leads nowhere is no manifest
    const bool is_file = entry->is_regular_file(unreadable);
    if (is_file && (ending == ".yaml" || ending == ".yml" || ending == ".json"))
      files.push_back(entry->path().string());
  }
  if (failure)
    return error{code::io, fmt::format("file {}: {}", path, failure.message())};
  if (files.empty())
    return error{
        code::not_found,
        fmt::format("file {}: the directory has no manifests; allowed: *.yaml, *.yml, *.json",
                    path)};
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

std::string place_of(const manifest& x) {
  return fmt::format("file {}, document {}", x.file, x.document);
}

result<std::vector<manifest>> read_manifests(const std::vector<std::string>& paths,
                                             const manifest_options& options) {
  reader all{options};
  for (auto& path : paths) {
    auto files = files_of(path);
    if (!files)
      return files.error();
    for (auto& file : *files) {
      auto text = slurp(file);
      if (!text)
        return text.error();
      if (auto done = all.read(*text, file); !done)
        return done.error();
    }
  }
  return all.done();
}

result<std::vector<manifest>> read_manifests(const std::string& path,
                                             const manifest_options& options) {
  return read_manifests(std::vector{path}, options);
}

result<std::vector<manifest>> read_manifest_text(std::string_view text, std::string_view file,
                                                 const manifest_options& options) {
  reader one{options};
  if (auto done = one.read(text, file); !done)
    return done.error();
  return one.done();
}

} // namespace tutti::api

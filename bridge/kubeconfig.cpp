// One reader of fields that remembers the first thing wrong; the three lists; the merge.
#include "bridge/kubeconfig.hpp"

#include <filesystem>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "api/manifest_text.hpp"
#include "bridge/base64.hpp"

namespace tutti::bridge {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::code;
using base::error;

/// Where the extension stands that plugins are told.
constexpr std::string_view exec_extension = "client.authentication.k8s.io/exec";

std::string_view kind_of(const json::value& v) {
  switch (v.kind()) {
  case json::kind::null:
    return "nothing";
  case json::kind::bool_:
    return "true or false";
  case json::kind::int64:
  case json::kind::uint64:
  case json::kind::double_:
    return "a number";
  case json::kind::string:
    return "a text";
  case json::kind::array:
    return "a list";
  case json::kind::object:
    return "a map";
  }
  return "?";
}

/// One map of a file. What is wrong first is kept in `wrong`, which all maps of a file share; after
/// that every field reads as absent.
class fields {
public:
  fields(const json::object& from, std::string place, std::optional<error>& wrong)
      : from_(&from), place_(std::move(place)), wrong_(&wrong) {}

  const std::string& place() const { return place_; }
  std::string place_of(std::string_view name) const {
    return place_.ends_with(' ') ? fmt::format("{}{}", place_, name)
                                 : fmt::format("{}.{}", place_, name);
  }

  /// Null if the field is absent or null.
  const json::value* find(std::string_view name) const {
    const auto* v = from_->if_contains(name);
    return v == nullptr || v->is_null() || *wrong_ ? nullptr : v;
  }
  std::string text(std::string_view name) const {
    const auto* v = find(name);
    if (v == nullptr)
      return {};
    if (v->is_string())
      return std::string{v->get_string()};
    const bool needs_quotes = v->is_number() || v->is_bool();
    complain(name, *v, "a text", needs_quotes ? "put it in quotes" : "");
    return {};
  }
  bool flag(std::string_view name) const {
    const auto* v = find(name);
    if (v != nullptr && !v->is_bool())
      complain(name, *v, "true or false", "write true or false, without quotes");
    return v != nullptr && v->is_bool() && v->get_bool();
  }
  /// Calls `use(item, place)` for each item of a list.
  template <class Use>
  void each(std::string_view name, Use use) const {
    const auto* v = find(name);
    if (v == nullptr)
      return;
    if (!v->is_array())
      return complain(name, *v, "a list", "");
    std::size_t i = 0;
    for (const auto& item : v->get_array())
      use(item, fmt::format("{}[{}]", place_of(name), i++));
  }
  /// The map below; an empty one if it is absent.
  fields below(std::string_view name) const {
    static const json::object none;
    const auto* v = find(name);
    if (v != nullptr && !v->is_object())
      complain(name, *v, "a map", "");
    return {v != nullptr && v->is_object() ? v->get_object() : none, place_of(name), *wrong_};
  }
  fields item(const json::value& v, const std::string& place) const {
    static const json::object none;
    if (!v.is_object())
      refuse(place, fmt::format("is {}, not a map", kind_of(v)), "");
    return {v.is_object() ? v.get_object() : none, place, *wrong_};
  }
  /// Bytes that stand in `name`-data in base64, or in the file that `name` says.
  text_source bytes(std::string_view name, const fs::path& folder) const {
    text_source out;
    const auto data_name = std::string{name} + "-data";
    const auto data = text(data_name);
    if (!data.empty()) {
      out.place = place_of(data_name);
      const auto bytes = from_base64(without_white_space(data));
      if (!bytes || bytes->empty())
        refuse(out.place, "is no base64",
               fmt::format("encode the PEM file with `base64 -w0`, or name it in {}", name));
      out.data = bytes.value_or("");
    }
    if (const auto file = text(name); !file.empty()) {
      out.place = place_of(name);
      out.file = beside(file, folder);
    }
    return out;
  }
  void refuse(const std::string& place, const std::string& what, std::string hint) const {
    if (!*wrong_)
      *wrong_ = error{code::bad_input, fmt::format("{}: {}", place, what), std::move(hint)};
  }

  static std::string beside(const std::string& file, const fs::path& folder) {
    return file.empty() || fs::path{file}.is_absolute() ? file : (folder / file).string();
  }

private:
  static std::string without_white_space(const std::string& text) {
    std::string out;
    for (const char c : text)
      if (c != '\n' && c != '\r' && c != ' ' && c != '\t')
        out += c;
    return out;
  }
  void complain(std::string_view name, const json::value& v, std::string_view wanted,
                std::string hint) const {
    refuse(place_of(name), fmt::format("is {}, not {}", kind_of(v), wanted), std::move(hint));
  }

  const json::object* from_;
  std::string place_;
  std::optional<error>* wrong_;
};

exec_plugin read_exec(const fields& f, const fs::path& folder) {
  exec_plugin out;
  out.place = f.place();
  out.command = f.text("command");
  // A path with a slash is relative to the file that names it; a bare word is looked up in $PATH.
  if (out.command.find('/') != out.command.npos)
    out.command = fields::beside(out.command, folder);
  f.each("args", [&](const json::value& v, const std::string& place) {
    if (!v.is_string())
      return f.refuse(place, fmt::format("is {}, not a text", kind_of(v)), "put it in quotes");
    out.arguments.emplace_back(v.get_string());
  });
  f.each("env", [&](const json::value& v, const std::string& place) {
    const auto entry = f.item(v, place);
    out.environment.emplace_back(entry.text("name"), entry.text("value"));
    if (out.environment.back().first.empty())
      f.refuse(place, "has no name", "give name and value");
  });
  out.api_version = f.text("apiVersion");
  out.install_hint = f.text("installHint");
  out.interactive_mode = f.text("interactiveMode");
  out.wants_cluster = f.flag("provideClusterInfo");
  return out;
}

kube_cluster read_cluster(const fields& f, const fs::path& folder) {
  kube_cluster out;
  out.server = f.text("server");
  out.server_name = f.text("tls-server-name");
  out.skips_verification = f.flag("insecure-skip-tls-verify");
  out.authority = f.bytes("certificate-authority", folder);
  out.proxy_url = f.text("proxy-url");
  f.each("extensions", [&](const json::value& v, const std::string& place) {
    const auto entry = f.item(v, place);
    if (entry.text("name") == exec_extension)
      if (const auto* said = entry.find("extension"))
        out.exec_config = *said;
  });
  return out;
}

kube_user read_user(const fields& f, const fs::path& folder) {
  kube_user out;
  out.certificate = f.bytes("client-certificate", folder);
  out.key = f.bytes("client-key", folder);
  out.token = f.text("token");
  out.token_file = fields::beside(f.text("tokenFile"), folder);
  out.username = f.text("username");
  out.password = f.text("password");
  if (f.find("exec") != nullptr)
    out.exec = read_exec(f.below("exec"), folder);
  for (const char* name : {"auth-provider", "as", "as-uid", "as-groups", "as-user-extra"})
    if (f.find(name) != nullptr)
      out.not_built.emplace_back(name);
  return out;
}

kube_context read_context(const fields& f, const fs::path&) {
  return {f.text("cluster"), f.text("user"), {}};
}

/// A list of {name: NAME, INNER: {…}} as a map.
template <class Entry>
void read_list(const fields& top, const char* list, const char* inner, const fs::path& folder,
               Entry (*read)(const fields&, const fs::path&), std::map<std::string, Entry>& out) {
  top.each(list, [&](const json::value& v, const std::string& place) {
    const auto entry = top.item(v, place);
    const auto name = entry.text("name");
    if (name.empty())
      return top.refuse(place, "has no name", "give it one");
    const auto named = fmt::format("{}[{}]", top.place_of(list), name);
    auto read_one = read(top.item(v, named).below(inner), folder);
    read_one.place = named;
    if (!out.emplace(name, std::move(read_one)).second)
      top.refuse(named, "is there twice", "remove or rename one of the two");
  });
}

} // namespace

base::result<kubeconfig> read_kubeconfig(const std::string& path, std::string_view text) {
  auto documents = api::parse_documents(text);
  if (!documents)
    return documents.error().in(path);
  kubeconfig out;
  out.files.push_back(path);
  if (documents->empty())
    return out;
  const auto& first = documents->front().content;
  if (documents->size() > 1 || !first.is_object())
    return error{code::bad_input, path + ": is no kubeconfig: it must be one map",
                 "`kubectl config view --raw` prints one"};
  std::optional<error> wrong;
  const fields top{first.get_object(), path + ": ", wrong};
  for (const auto& [name, wanted] : {std::pair{"kind", "Config"}, {"apiVersion", "v1"}})
    if (const auto said = top.text(name); !said.empty() && said != wanted)
      top.refuse(top.place_of(name),
                 fmt::format("is {}, not {}: this is no kubeconfig", said, wanted),
                 "`kubectl config view --raw` prints one");
  const auto folder = fs::path{path}.parent_path();
  out.current_context = top.text("current-context");
  read_list(top, "clusters", "cluster", folder, read_cluster, out.clusters);
  read_list(top, "users", "user", folder, read_user, out.users);
  read_list(top, "contexts", "context", folder, read_context, out.contexts);
  if (wrong)
    return *wrong;
  return out;
}

kubeconfig merge(std::vector<kubeconfig> all) {
  kubeconfig out;
  for (auto& one : all) {
    out.files.insert(out.files.end(), one.files.begin(), one.files.end());
    if (out.current_context.empty())
      out.current_context = one.current_context;
    out.clusters.merge(one.clusters);
    out.users.merge(one.users);
    out.contexts.merge(one.contexts);
  }
  return out;
}

std::vector<std::string> paths_in(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const auto colon = list.find(':');
    if (colon != 0)
      out.emplace_back(list.substr(0, colon));
    list.remove_prefix(colon == list.npos ? list.size() : colon + 1);
  }
  return out;
}

} // namespace tutti::bridge

// Replays what real API servers answered to good and bad objects, case by case: the same code, the
// same words, the same stored object.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "api/admission.hpp"
#include "api/json_edit.hpp"
#include "api/manifest_text.hpp"
#include "api/schema.hpp"
#include "api/validate.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

/// Cases that are not ours, or not to the letter, by a piece of their name; each with the reason.
struct exception {
  std::string_view piece;
  std::string_view reason;
};
constexpr exception not_replayed[] = {
    {"server-side apply", "field ownership is the server's business"},
    {"stale resourceVersion", "the store compares versions"},
    {"Workload status subresource", "which paths exist is the server's business"},
};
/// Compared up to the text that is not ours to know.
constexpr exception compared_in_part[] = {
    {"Pod update: ", "the server appends a diff of its internal Go structs"},
    {"composite depth 5", "the server prints its internal Go structs as the value"},
};

template <std::size_t N>
const exception* listed(const exception (&list)[N], std::string_view name) {
  for (auto& one : list)
    if (name.find(one.piece) != name.npos)
      return &one;
  return nullptr;
}

json::value parse(std::string_view text) {
  return json::parse(text);
}

/// Without nulls, empty lists and times: what differs only in the printing.
json::value plain(const json::value& value) {
  if (auto* object = value.if_object()) {
    json::object kept;
    for (auto& [key, member] : *object)
      if (key != "lastTransitionTime")
        if (auto inner = plain(member); !inner.is_null())
          kept[key] = std::move(inner);
    return kept;
  }
  if (auto* list = value.if_array()) {
    json::array kept;
    for (auto& item : *list)
      kept.push_back(plain(item));
    return kept.empty() ? json::value{} : json::value(std::move(kept));
  }
  return value;
}

void merge_patch(json::value& to, const json::value& patch) {
  if (!patch.is_object()) {
    to = patch;
    return;
  }
  if (!to.is_object())
    to = json::object{};
  for (auto& [key, member] : patch.get_object())
    if (member.is_null())
      to.get_object().erase(key);
    else
      merge_patch(to.get_object()[key], member);
}

/// Lists with a key are merged by it; new items come first, as the server puts them.
void strategic_patch(json::value& to, const json::value& patch, std::string_view field = {}) {
  auto key = field == "conditions" ? "type" : "name";
  if (patch.is_array() && to.is_array()) {
    json::array added;
    for (auto& item : patch.get_array()) {
      auto same = std::find_if(to.get_array().begin(), to.get_array().end(),
                               [&](auto& old) { return old.at(key) == item.at(key); });
      if (same == to.get_array().end())
        added.push_back(item);
      else
        strategic_patch(*same, item);
    }
    to.get_array().insert(to.get_array().begin(), added.begin(), added.end());
    return;
  }
  if (!patch.is_object() || !to.is_object()) {
    to = patch;
    return;
  }
  for (auto& [name, member] : patch.get_object())
    strategic_patch(to.get_object()[name], member, name);
}

void json_patch(json::value& to, const json::value& patch) {
  for (auto& step : patch.get_array()) {
    std::string path{step.at("path").get_string()};
    auto slash = path.rfind('/');
    auto& parent = to.at_pointer(path.substr(0, slash));
    auto last = path.substr(slash + 1);
    if (step.at("op") == "remove")
      parent.get_object().erase(last);
    else if (parent.is_array())
      parent.get_array().push_back(step.at("value"));
    else
      parent.get_object()[last] = step.at("value");
  }
}

/// A server with what the recording had created between its cases.
class recorded_server {
public:
  explicit recorded_server(release r) : release_(r) {
    auto file = r == release::v1_36 ? "validation-v1.36.3.yaml" : "validation-v1.37.2.yaml";
    std::ifstream stream{std::string{TUTTI_TEST_DATA "/kubernetes/"} + file};
    std::string text{std::istreambuf_iterator<char>{stream}, {}};
    auto read = parse_documents(text);
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    if (read && !read->empty())
      cases_ = read->front().content.get_array();
    cluster_.workload = [this](std::string_view, std::string_view name) {
      auto found = stored_.find("workloads/" + std::string{name});
      return found == stored_.end() ? nullptr : &found->second.get_object();
    };
  }

  void replay() {
    for (auto& one : cases_)
      replay(one.get_object());
  }

  int replayed = 0;
  int elsewhere = 0; ///< bindings, deletions, reads, rights
  std::map<std::string_view, int> excepted;

private:
  struct target {
    std::string method;
    std::string key; ///< "podgroups/x", or "podgroups" on create
    std::string subresource;
    std::string version; ///< "v1beta1"
    bool is_strict;
  };

  static target target_of(std::string request) {
    target t;
    auto space = request.find(' ');
    t.method = request.substr(0, space);
    auto question = request.find('?');
    t.is_strict = request.find("fieldValidation=Strict") != request.npos;
    auto path = request.substr(space + 1, question - space - 1);
    constexpr std::string_view marker = "/namespaces/validation/";
    auto at = path.find(marker);
    if (at == path.npos)
      return t;
    t.version = path.substr(path.rfind('/', at - 1) + 1, at - path.rfind('/', at - 1) - 1);
    t.key = path.substr(at + marker.size());
    if (auto second = t.key.find('/', t.key.find('/') + 1);
        t.key.find('/') != t.key.npos && second != t.key.npos) {
      t.subresource = t.key.substr(second + 1);
      t.key.resize(second);
    }
    return t;
  }

  void replay(const json::object& one) {
    std::string name{text_at(one, "case")};
    SCOPED_TRACE(std::string{name_of(release_)} + ": " + name);
    auto t = target_of(std::string{text_at(one, "request")});
    if (t.subresource == "binding")
      note_binding(one, t);
    bool is_ours = !t.key.empty() && (t.method == "POST" || t.method == "PATCH")
                   && (t.subresource.empty() || t.subresource == "status");
    if (!is_ours) {
      ++elsewhere;
      return;
    }
    if (auto* why = listed(not_replayed, name)) {
      ++excepted[why->piece];
      return;
    }
    make_what_was_there(name, t);
    ++replayed;
    if (auto* why = listed(compared_in_part, name))
      ++excepted[why->piece];
    if (t.method == "POST")
      create(one, name, t);
    else
      patch(one, name, t);
  }

  void create(const json::object& one, const std::string& name, const target& t) {
    auto object = one.at("body").get_object();
    object["metadata"].get_object()["namespace"] = "validation";
    compare_warning(one, object);
    auto refused = refuse_decode(release_, object, t.is_strict);
    if (!refused) {
      drop_unknown_fields(release_, object);
      refused = admit_new(object, options(), cluster_);
    }
    compare(one, name, refused, object, 201);
  }

  void patch(const json::object& one, const std::string& name, const target& t) {
    auto found = stored_.find(t.key);
    ASSERT_NE(found, stored_.end()) << t.key;
    json::value now = found->second;
    auto kind = text_at(one, "contentType");
    if (kind == "application/json-patch+json")
      json_patch(now, one.at("body"));
    else if (kind == "application/strategic-merge-patch+json")
      strategic_patch(now, one.at("body"));
    else
      merge_patch(now, one.at("body"));
    auto part = t.subresource == "status" ? object_part::status : object_part::main;
    auto refused = admit_update(found->second.get_object(), now.get_object(), part, options());
    compare(one, name, refused, now.get_object(), 200);
    if (!refused)
      found->second = now;
  }

  void compare_warning(const json::object& one, const json::object& object) const {
    std::string expected{text_at(one, "warning")}, ours;
    for (auto& error : check_fields(release_, object))
      if (error.why == field_error::problem::unknown_field && one.at("code") != 400)
        ours += "299 - " + json::serialize(json::string{error.server_text});
    EXPECT_EQ(ours, expected);
  }

  static std::string without_uids(std::string text) {
    constexpr std::string_view zero = "00000000-0000-0000-0000-000000000000";
    for (auto at = text.find(zero); at != text.npos; at = text.find(zero))
      text.replace(at, zero.size(), "<uid>");
    return text;
  }

  /// 1.36 lists a changed uid twice.
  static json::array without_repeats(const json::array& list) {
    json::array kept;
    for (auto& item : list)
      if (kept.empty() || kept.back() != item)
        kept.push_back(item);
    return kept;
  }

  /// Either in the server's own words or beside them.
  static bool says_what_is_allowed(const cause& x) {
    for (auto* words :
         {"must ", "may not ", "may only ", "supported values: ", "maximum ", "reserved for "})
      if (x.message.find(words) != x.message.npos)
        return true;
    return !x.allowed.empty();
  }

  void compare(const json::object& one, const std::string& name,
               const std::optional<refusal>& refused, const json::object& object, int good) {
    ASSERT_EQ(one.at("code"), refused ? refused->code : good)
        << (refused ? refused->message : json::serialize(object));
    if (!refused)
      return compare_stored(one, object);
    EXPECT_EQ(text_at(one, "reason"), refused->reason);
    for (auto& cause : refused->causes)
      EXPECT_TRUE(says_what_is_allowed(cause)) << cause.field << ": " << cause.message;
    std::string expected{text_at(one, "message")};
    auto ours = without_uids(refused->message);
    if (listed(compared_in_part, name)) {
      auto cut = expected.find_first_of("\n{");
      EXPECT_EQ(ours.substr(0, cut), expected.substr(0, cut));
      auto tail = expected.rfind(": ");
      if (expected.find("hierarchy") != expected.npos) {
        EXPECT_TRUE(ours.ends_with(expected.substr(tail))) << ours;
      }
      return;
    }
    EXPECT_EQ(ours, expected);
    json::array causes;
    for (auto& cause : refused->causes)
      causes.push_back({{"reason", cause.reason},
                        {"message", without_uids(cause.message)},
                        {"field", cause.field}});
    auto* recorded = list_at(one, "causes");
    EXPECT_EQ(causes, recorded ? without_repeats(*recorded) : json::array{});
  }

  static void compare_stored(const json::object& one, const json::object& object) {
    auto* result = object_at(one, "result");
    if (!result)
      return;
    json::object ours;
    if (object.at("kind") == "Pod") {
      for (auto* part : {"spec", "status"})
        if (auto* from = object_at(object, part))
          for (auto& [key, value] : *result)
            if (auto* found = from->if_contains(key); found && *found != "")
              ours[key] = *found;
    } else {
      for (auto* field : {"name", "finalizers"})
        if (auto* value = object.at("metadata").get_object().if_contains(field))
          ours["metadata"].is_null() ? void(ours["metadata"] = json::object{{field, *value}})
                                     : void(ours["metadata"].get_object()[field] = *value);
      for (auto* part : {"spec", "status"})
        if (auto* value = object.if_contains(part))
          ours[part] = *value;
    }
    EXPECT_EQ(json::serialize(plain(ours)), json::serialize(plain(sorted_like(*result, ours))));
    EXPECT_EQ(plain(ours), plain(*result));
  }

  /// Only so that a difference reads well: what is equal prints equal.
  static json::value sorted_like(const json::object& recorded, const json::object& ours) {
    return plain(recorded) == plain(ours) ? json::value(ours) : json::value(recorded);
  }

  void note_binding(const json::object& one, const target& t) {
    auto found = stored_.find(t.key);
    if (one.at("code") == 201 && found != stored_.end())
      found->second.get_object()["spec"].get_object()["nodeName"] =
          one.at("body").at("target").at("name");
  }

  void put(const std::string& plural, std::string_view text, const std::string& name) {
    auto object = parse(text).get_object();
    object["metadata"] = {{"name", name}, {"namespace", "validation"}, {"uid", "u"}};
    auto refused = admit_new(object, options(), cluster_);
    EXPECT_FALSE(refused) << refused->message;
    stored_[plural + "/" + name] = object;
  }

  void put_pod(const std::string& name, std::string_view extra) {
    put("pods",
        std::string{R"({"apiVersion":"v1","kind":"Pod","spec":{"schedulerName":"nobody",
        "containers":[{"name":"main","image":"pause:3.10"}])"}
            + std::string{extra} + "}}",
        name);
  }

  /// The recording created these just before it changed them.
  void make_what_was_there(const std::string& name, const target& t) {
    if (name.find("template missing") != name.npos)
      put("workloads",
          R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload","spec":{
          "podGroupTemplates":[{"name":"t","schedulingPolicy":{"gang":{"minCount":3}}}]}})",
          "w");
    if (t.method != "PATCH" || stored_.contains(t.key))
      return;
    auto plural = t.key.substr(0, t.key.find('/'));
    auto own = t.key.substr(plural.size() + 1);
    auto head = R"({"apiVersion":"scheduling.k8s.io/)" + t.version + R"(","kind":)";
    if (plural == "podgroups")
      put(plural,
          head + R"("PodGroup","spec":{"schedulingPolicy":{"gang":{"minCount":3}},)"
              + (release_ == release::v1_37
                     ? R"("workloadRef":{"workloadName":"w","templateName":"t"}}})"
                     : R"("podGroupTemplateRef":{"workload":{"workloadName":"w",
                     "podGroupTemplateName":"t"}}}})"),
          own);
    else if (plural == "compositepodgroups")
      put(plural,
          head + R"("CompositePodGroup","spec":{"schedulingPolicy":{"gang":{"minGroupCount":2}},
          "workloadRef":{"workloadName":"w","templateName":"t"}}})",
          own);
    else if (own == "ct")
      put(plural,
          head + R"("Workload","spec":{"compositePodGroupTemplates":[{"name":"a","schedulingPolicy":
          {"gang":{"minGroupCount":1}},"podGroupTemplates":[{"name":"b","schedulingPolicy":{"gang":
          {"minCount":2}}}]}]}})",
          own);
    else if (plural == "workloads")
      put(plural,
          head + R"("Workload","spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"gang":
          {"minCount":2}}}]}})",
          own);
    else
      put_pod(own, own == "p1"   ? R"(,"schedulingGroup":{"podGroupName":"g"})"
                   : own == "p3" ? R"(,"schedulingGroup":{"podGroupName":"g"},
                   "schedulingGates":[{"name":"example.com/hold"}])"
                                 : "");
  }

  default_options options() const { return {release_, "default-scheduler"}; }

  release release_;
  json::array cases_;
  cluster_lookup cluster_;
  std::map<std::string, json::value> stored_;
};

struct counts {
  int replayed;
  int elsewhere;
  int excepted;
};

counts replay(release r) {
  recorded_server server{r};
  server.replay();
  int excepted = 0;
  for (auto& [piece, count] : server.excepted) {
    auto* why =
        listed(not_replayed, piece) ? listed(not_replayed, piece) : listed(compared_in_part, piece);
    std::cout << "  excepted: " << count << " of \"" << piece << "\": " << why->reason << "\n";
    excepted += count;
  }
  return {server.replayed, server.elsewhere, excepted};
}

TEST(Recorded, a_server_of_1_36_gives_the_same_answers) {
  auto seen = replay(release::v1_36);
  EXPECT_EQ(seen.replayed, 103);
  EXPECT_EQ(seen.elsewhere, 45);
  EXPECT_EQ(seen.excepted, 7);
}

TEST(Recorded, a_server_of_1_37_gives_the_same_answers) {
  auto seen = replay(release::v1_37);
  EXPECT_EQ(seen.replayed, 239);
  EXPECT_EQ(seen.elsewhere, 55);
  EXPECT_EQ(seen.excepted, 12);
}

} // namespace
} // namespace tutti::api

// What several replicas answer becomes one answer.
#include "cli/together.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace tutti::cli {
namespace {

namespace json = boost::json;

std::vector<json::object> answers(const std::vector<const char*>& texts) {
  std::vector<json::object> out;
  for (const auto* text : texts)
    out.push_back(json::parse(text).as_object());
  return out;
}

std::string joined(const char* path, const std::vector<const char*>& texts) {
  return json::serialize(together(togetherness_of(path), answers(texts)));
}

TEST(Together, of_a_gang_counts_who_places_it) {
  EXPECT_EQ(joined("/api/gangs/ns/a", {R"({"name":"a","elsewhere":true})", R"({"name":"a"})",
                                       R"({"name":"a","elsewhere":true})"}),
            R"({"name":"a"})");
  // Nobody places it while it is taken over: what is known then is said.
  EXPECT_EQ(joined("/api/gangs/ns/a", {R"({"name":"a","elsewhere":true})"}),
            R"({"name":"a","elsewhere":true})");
}

TEST(Together, of_all_gangs_each_row_is_of_who_places_it) {
  const auto said = json::parse(
      joined("/api/gangs", {R"({"items":[{"namespace":"n","name":"a","phase":"Bound"},)"
                            R"({"namespace":"n","name":"b","elsewhere":true}]})",
                            R"({"items":[{"namespace":"n","name":"b","phase":"Queued"},)"
                            R"({"namespace":"n","name":"a","elsewhere":true},)"
                            R"({"namespace":"m","name":"a","phase":"Bound"}]})"}));
  EXPECT_EQ(said, json::parse(R"({"items":[{"namespace":"n","name":"a","phase":"Bound"},)"
                              R"({"namespace":"n","name":"b","phase":"Queued"},)"
                              R"({"namespace":"m","name":"a","phase":"Bound"}]})"));
}

TEST(Together, pieces_of_a_story_are_told_in_order_and_once) {
  const auto said =
      json::parse(joined("/api/trace/ns/a?last=9",
                         {R"({"items":[{"unix_ms":10,"what":"x"},{"unix_ms":30,"what":"z"}]})",
                          R"({"items":[{"unix_ms":20,"what":"y"},{"unix_ms":30,"what":"z"}]})"}));
  EXPECT_EQ(said, json::parse(R"({"items":[{"unix_ms":10,"what":"x"},{"unix_ms":20,"what":"y"},)"
                              R"({"unix_ms":30,"what":"z"}]})"));
}

TEST(Together, shards_and_reservations_are_added_up_and_the_rest_is_anyones) {
  EXPECT_EQ(joined("/api/shards",
                   {R"({"items":[{"shard":0},{"shard":2}]})", R"({"items":[{"shard":1}]})"}),
            R"({"items":[{"shard":0},{"shard":1},{"shard":2}]})");
  EXPECT_EQ(togetherness_of("/api/reservations"), togetherness::pieces);
  EXPECT_EQ(togetherness_of("/api/nodes"), togetherness::anyone);
  EXPECT_EQ(togetherness_of("/api/status"), togetherness::anyone);
}

} // namespace
} // namespace tutti::cli

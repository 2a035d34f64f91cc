// Canonical bytes: equal demands give equal ids, and damage is noticed.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/terms.hpp"

namespace tutti::api {
namespace {

using operation = label_requirement::operation;

shape_terms rich_shape() {
  shape_terms x;
  x.selector = {{"disk", "ssd"}, {"zone", "a"}};
  x.has_required = true;
  x.required = {{{{"cores", operation::gt, {"8"}}, {"zone", operation::in, {"a", "b"}}}, {}},
                {{}, {{"metadata.name", operation::in, {"n1"}}}}};
  x.preferred = {{10, {{{"spot", operation::does_not_exist, {}}}, {}}}};
  x.tolerations = {{"", true, "", true, taint_effect::no_schedule},
                   {"gpu", false, "yes", false, taint_effect::no_execute}};
  x.node_name = "n1";
  return x;
}

class_terms rich_class() {
  return {{{"a", "1"}, {"zone", "b"}}, {{"gpu", "yes", taint_effect::no_execute}}, true};
}

base::footprint one_cpu() {
  return {base::resources{.cpu_milli = 1000, .pods = 1}, {}};
}

TEST(ShapeBlob, reads_back_as_what_was_written) {
  auto shape = make_shape(rich_shape(), one_cpu());
  auto read = decode_shape(shape->blob);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->selector, rich_shape().selector);
  EXPECT_EQ(read->required.size(), 2U);
  EXPECT_EQ(read->preferred, rich_shape().preferred);
  EXPECT_EQ(read->node_name, "n1");
  EXPECT_EQ(make_shape(*read, one_cpu())->blob, shape->blob);
  EXPECT_EQ(shape->takes, one_cpu());
}

TEST(ClassBlob, reads_back_as_what_was_written) {
  auto read = decode_class(make_class(rich_class())->blob);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, rich_class());
}

TEST(ShapeBlob, is_the_same_whatever_the_order_that_has_no_meaning) {
  auto x = rich_shape();
  auto y = x;
  std::swap(y.selector[0], y.selector[1]);
  std::swap(y.required[0], y.required[1]);
  std::swap(y.required[1].labels[0], y.required[1].labels[1]);
  std::swap(y.required[1].labels[0].values[0], y.required[1].labels[0].values.back());
  std::swap(y.tolerations[0], y.tolerations[1]);
  y.tolerations.push_back(y.tolerations[0]);
  y.required.push_back({}); // matches nothing, so it adds nothing
  y.preferred.push_back({0, {{{"x", operation::exists, {}}}, {}}});
  EXPECT_EQ(make_shape(x, one_cpu())->id, make_shape(y, one_cpu())->id);
  EXPECT_EQ(make_shape(x, one_cpu())->blob, make_shape(y, one_cpu())->blob);
}

TEST(ShapeBlob, tells_unlike_demands_apart) {
  auto base_id = make_shape(rich_shape(), one_cpu())->id;
  auto x = rich_shape();
  x.has_required = false;
  EXPECT_NE(make_shape(x, one_cpu())->id, base_id);
  x = rich_shape();
  x.preferred.push_back(x.preferred[0]);
  EXPECT_NE(make_shape(x, one_cpu())->id, base_id) << "equal preferences add up";
  auto two = one_cpu();
  two.amounts.cpu_milli = 2000;
  EXPECT_NE(make_shape(rich_shape(), two)->id, base_id);
  auto with_port = one_cpu();
  with_port.ports.push_back({base::symbol{""}, base::symbol{"TCP"}, 80});
  EXPECT_NE(make_shape(rich_shape(), with_port)->id, base_id);
  auto with_gpu = one_cpu();
  with_gpu.amounts.set(base::symbol{"a.b/gpu"}, 1);
  EXPECT_NE(make_shape(rich_shape(), with_gpu)->id, base_id);
}

TEST(ShapeBlob, does_not_care_for_the_order_of_ports) {
  base::host_port a{base::symbol{""}, base::symbol{"TCP"}, 80};
  base::host_port b{base::symbol{""}, base::symbol{"TCP"}, 22};
  base::footprint ab = one_cpu();
  ab.ports = {a, b};
  base::footprint ba = one_cpu();
  ba.ports = {b, a};
  EXPECT_EQ(make_shape({}, ab)->id, make_shape({}, ba)->id);
}

TEST(ClassBlob, keeps_the_order_of_taints_for_the_first_one_is_reported) {
  class_terms x{
      {}, {{"a", "", taint_effect::no_schedule}, {"b", "", taint_effect::no_schedule}}, false};
  auto y = x;
  std::swap(y.taints[0], y.taints[1]);
  EXPECT_NE(make_class(x)->id, make_class(y)->id);
}

TEST(Blob, cut_short_or_too_long_is_corrupt) {
  auto shape = make_shape(rich_shape(), one_cpu())->blob;
  for (std::size_t size = 0; size < shape.size(); ++size) {
    auto read = decode_shape(std::string_view{shape}.substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().what(), base::code::corrupt) << size;
  }
  EXPECT_EQ(decode_shape(shape + "x").error().what(), base::code::corrupt);
  auto kind = make_class(rich_class())->blob;
  for (std::size_t size = 0; size < kind.size(); ++size)
    EXPECT_FALSE(decode_class(std::string_view{kind}.substr(0, size))) << size;
  EXPECT_EQ(decode_class(kind + "x").error().what(), base::code::corrupt);
}

TEST(Blob, of_another_kind_is_corrupt_and_of_a_later_version_is_newer) {
  auto shape = make_shape(rich_shape(), one_cpu())->blob;
  EXPECT_EQ(decode_class(shape).error().what(), base::code::corrupt);
  auto later = shape;
  later[1] = 2;
  EXPECT_EQ(decode_shape(later).error().what(), base::code::newer_format);
  later[1] = 0;
  EXPECT_EQ(decode_shape(later).error().what(), base::code::corrupt);
}

TEST(Blob, that_promises_more_elements_than_it_has_is_corrupt) {
  std::string huge{"S\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12};
  EXPECT_EQ(decode_shape(huge).error().what(), base::code::corrupt);
  std::string lossy{"S\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12};
  EXPECT_EQ(decode_shape(lossy).error().what(), base::code::corrupt);
}

RC_GTEST_PROP(Blob, any_bytes_are_read_or_refused_but_never_crash, (const std::string& bytes)) {
  (void)decode_shape("S\x01" + bytes);
  (void)decode_class("C\x01" + bytes);
}

RC_GTEST_PROP(Blob, one_changed_byte_never_crashes_the_reader,
              (std::uint8_t at, std::uint8_t value)) {
  auto blob = make_shape(rich_shape(), one_cpu())->blob;
  blob[at % blob.size()] = static_cast<char>(value);
  auto read = decode_shape(blob);
  if (read)
    RC_ASSERT(decode_shape(make_shape(*read, one_cpu())->blob).has_value());
}

} // namespace
} // namespace tutti::api

// Looks at files and programs, and keeps the old identity where nothing has changed.
#include "bridge/credentials.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/trimmed.hpp"
#include "bridge/base64.hpp"
#include "bridge/http_text.hpp"
#include "bridge/printable.hpp"
#include "bridge/tls_context.hpp"

namespace tutti::bridge {
namespace {

using base::code;
using base::error;

/// A file that rotates may be half written, or away for a moment: what it said before still holds.
bool may_pass(const error& e) {
  return e.what() == code::not_found || e.what() == code::io || e.what() == code::bad_input;
}

/// The longest hints of plugins name two pages and a command.
constexpr std::size_t install_hint_bytes_max = 1000;

/// Hints of plugins may have several lines.
std::string in_one_line(std::string_view text) {
  std::string out{base::trimmed(text)};
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return printable(out, install_hint_bytes_max);
}

} // namespace

credentials::credentials(cluster_access where, std::shared_ptr<machine> from)
    : where_(std::move(where)), machine_(std::move(from)) {}

bool credentials::is_fresh(base::time_point now) const {
  if (!current_)
    return false;
  if (expires_ && machine_->clock().wall_now() >= *expires_)
    return false;
  const bool has_files = !where_.authority.file.empty() || !where_.certificate.file.empty()
                         || !where_.key.file.empty() || where_.token_file.is_given();
  return !has_files || now - read_at_ < limits::credentials_last;
}

identity_ptr credentials::known() const {
  const std::lock_guard lock{mutex_};
  return is_fresh(machine_->clock().now()) ? current_ : nullptr;
}

base::result<identity_ptr> credentials::fetch(const identity_ptr& refused) {
  const std::lock_guard one_at_a_time{fetching_};
  const auto now = machine_->clock().now();
  identity_ptr before;
  {
    const std::lock_guard lock{mutex_};
    before = current_;
    const bool has_rested = now - read_at_ >= limits::credentials_rest;
    if (failed_ && !has_rested)
      return *failed_;
    const bool may_look = has_rested || !where_.exec; // a file costs nothing
    if (current_ && (!may_look || (is_fresh(now) && current_ != refused)))
      return current_;
  }
  if (refused != nullptr && refused == before)
    printed_.reset();
  auto found = look();
  const std::lock_guard lock{mutex_};
  read_at_ = machine_->clock().now();
  failed_.reset();
  if (!found) {
    const bool is_over = expires_ && machine_->clock().wall_now() >= *expires_;
    if (before && !is_over && may_pass(found.error()))
      return before;
    failed_ = found.error();
    return found.error();
  }
  expires_ = printed_ ? printed_->expires : std::nullopt;
  if (before && *before->tls == *found->tls)
    found->tls = before->tls;
  const bool is_same =
      before && before->tls == found->tls && before->authorization == found->authorization;
  if (!is_same)
    current_ = std::make_shared<const identity>(std::move(*found));
  return current_;
}

base::result<tls_material::text> credentials::text_of(const text_source& source) const {
  if (source.file.empty())
    return tls_material::text{source.data, source.place};
  auto text = machine_->read(source.file);
  if (!text)
    return error{text.error().what(),
                 fmt::format("{}: {}: {}", source.place, source.file, text.error().message()),
                 "the file must be there, and readable by this user"};
  return tls_material::text{std::move(*text), fmt::format("{}: {}", source.place, source.file)};
}

base::result<std::string> credentials::token_of(const text_source& file) const {
  auto text = text_of(file);
  if (!text)
    return text.error();
  auto token = std::string{base::trimmed(text->pem)};
  if (token.empty())
    return error{code::bad_input, text->place + ": is empty", "write the token into it"};
  if (!is_header_word(token))
    return error{code::bad_input,
                 fmt::format("{}: is no token: it {}", text->place, no_header_word),
                 "write the token alone into it"};
  return token;
}

base::result<void> credentials::ask_plugin(std::string_view authority) {
  const auto& plugin = *where_.exec;
  const bool is_over =
      printed_ && printed_->expires && machine_->clock().wall_now() >= *printed_->expires;
  if (printed_ && !is_over)
    return {};
  auto variables = plugin.environment;
  variables.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, where_, authority));
  const auto said = machine_->run({.command = plugin.command,
                                   .arguments = plugin.arguments,
                                   .environment = std::move(variables),
                                   .patience = limits::plugin_patience},
                                  is_given_up_);
  if (!said) {
    const bool is_missing = said.error().what() == code::not_found;
    return error{is_missing ? code::bad_input : said.error().what(),
                 fmt::format("{}: {}: {}", plugin.place, plugin.command, said.error().message()),
                 is_missing && !plugin.install_hint.empty()
                     ? in_one_line(plugin.install_hint)
                     : "run it by hand, as this user, to see why"};
  }
  auto read = read_exec_credential(plugin, *said);
  if (!read)
    return read.error();
  if (!is_header_word(read->token))
    return error{
        code::bad_input,
        fmt::format("{}: {} printed a token that {}", plugin.place, plugin.command, no_header_word),
        "run it by hand"};
  printed_ = std::move(*read);
  return {};
}

base::result<identity> credentials::look() {
  identity out;
  tls_material tls;
  tls.server_name = where_.server_name;
  tls.skips_verification = where_.skips_verification;
  if (!where_.server.is_tls) {
    out.tls = std::make_shared<const tls_material>(std::move(tls));
    return out;
  }
  for (const auto& [from, to] : {std::pair{&where_.authority, &tls.authorities},
                                 {&where_.certificate, &tls.certificate},
                                 {&where_.key, &tls.key}})
    if (from->is_given()) {
      auto text = text_of(*from);
      if (!text)
        return text.error();
      *to = std::move(*text);
    }
  std::string token = where_.token;
  if (where_.token_file.is_given()) {
    auto text = token_of(where_.token_file);
    if (!text)
      return text.error();
    token = std::move(*text);
  }
  if (where_.exec) {
    if (auto ok = ask_plugin(tls.authorities.pem); !ok)
      return ok.error();
    if (token.empty())
      token = printed_->token;
    if (tls.certificate.pem.empty() && !printed_->certificate.empty()) {
      tls.certificate = {printed_->certificate, where_.exec->place + ": printed certificate"};
      tls.key = {printed_->key, where_.exec->place + ": printed key"};
    }
  }
  if (!token.empty())
    out.authorization = "Bearer " + token;
  else if (!where_.username.empty())
    out.authorization = "Basic " + to_base64(where_.username + ":" + where_.password);
  if (auto ok = check_tls_material(tls); !ok)
    return ok.error();
  out.tls = std::make_shared<const tls_material>(std::move(tls));
  return out;
}

} // namespace tutti::bridge

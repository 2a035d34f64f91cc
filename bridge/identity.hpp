// Who we are to the API server, and whom we take for it: what connections and requests are made of.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace tutti::bridge {

/// PEM texts for one connection under TLS, and where each comes from, for errors.
struct tls_material {
  struct text {
    std::string pem; ///< empty = none
    std::string place;
    friend bool operator==(const text&, const text&) = default;
  };
  text authorities; ///< none = those of the system
  text certificate; ///< ours and what stands above it; none = we show none
  text key;
  std::string server_name; ///< must stand in the server's certificate; empty = the host we call
  bool skips_verification = false;

  friend bool operator==(const tls_material&, const tls_material&) = default;
};

/// What one request is sent with. A value that never changes: another identity is another object.
struct identity {
  std::string authorization; ///< value of the header; empty = none
  /// The same object as long as its content is the same. Null: nothing special.
  std::shared_ptr<const tls_material> tls;
};
using identity_ptr = std::shared_ptr<const identity>;

/// Where identities come from: files that rotate, programs, or nowhere. Thread-safe.
class identity_source {
public:
  virtual ~identity_source() = default;

  /// The one to use now, without looking anywhere; null if it has to be fetched.
  virtual identity_ptr known() const = 0;
  /// Looks anew where `known` is too old, or is what the server has refused (`refused` may be
  /// null). The same object as `refused`: there is no other. May block for as long as a program
  /// takes.
  virtual base::result<identity_ptr> fetch(const identity_ptr& refused) = 0;
  /// Ends a `fetch` that waits for a program, and lets no program run any more.
  virtual void give_up() noexcept = 0;
};

/// Always the same identity.
class fixed_identity final : public identity_source {
public:
  explicit fixed_identity(identity who) : who_(std::make_shared<const identity>(std::move(who))) {}
  identity_ptr known() const override { return who_; }
  base::result<identity_ptr> fetch(const identity_ptr&) override { return who_; }
  void give_up() noexcept override {}

private:
  identity_ptr who_;
};

} // namespace tutti::bridge

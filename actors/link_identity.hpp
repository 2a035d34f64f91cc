// The certificate that a replica shows to the others, read again while it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/identity.hpp"
#include "bridge/machine.hpp"
#include "bridge/tls_context.hpp"

namespace tutti::actors {

/// Files in PEM, named as in a Secret of type kubernetes.io/tls: tls.crt, tls.key, ca.crt.
struct link_files {
  std::string directory;
  /// Must stand in the certificate of every replica; empty: in each one's its own name.
  std::string common_name;
};

/// Not thread-safe.
class link_identity {
public:
  link_identity(link_files where, std::shared_ptr<bridge::machine> from, base::duration lasts);

  /// Reads the files if what is known is old. `bad_input`, `not_found` or `io`, with file and cure,
  /// as long as there was nothing good in them yet; what was good once stays in force, and
  /// `trouble` says why.
  base::result<bridge::tls_context_ptr> look();
  /// Of the last look; nothing if all is well.
  const std::optional<base::error>& trouble() const { return trouble_; }
  /// Another number each time that the files had something new and good in them.
  std::uint64_t version() const { return version_; }
  /// The name that the certificate of `replica` must have.
  const std::string& name_of(const std::string& replica) const {
    return where_.common_name.empty() ? replica : where_.common_name;
  }

private:
  base::result<bridge::tls_material> read() const;

  const link_files where_;
  const std::shared_ptr<bridge::machine> from_;
  const base::duration lasts_;
  bridge::tls_material known_;
  bridge::tls_context_ptr context_;
  std::uint64_t version_ = 0;
  std::optional<base::error> trouble_;
  std::optional<base::time_point> read_at_;
};

} // namespace tutti::actors

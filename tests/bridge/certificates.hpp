// Certificates for tests, made here and now: no files, no programs, nothing that expires with time.
#pragma once

#include <string>
#include <vector>

namespace tutti::testing_tls {

/// PEM texts that belong together.
struct certified {
  std::string certificate;
  std::string key;
};

struct wish {
  std::string common_name = "somebody";
  std::vector<std::string> names; ///< "DNS:a.example", "IP:127.0.0.1"
  /// Instead of `names`: the bytes of the whole extension in hexadecimal, "30:03:87:01:41", so that
  /// a certificate can have names that are none.
  std::string names_der{};
  int valid_from_days = -1; ///< from today
  int valid_to_days = 1;
};

/// Signs for others.
class authority {
public:
  explicit authority(const std::string& name);
  /// One that another authority has let in.
  authority(const std::string& name, const authority& above);
  /// PEM.
  const std::string& certificate() const { return own_.certificate; }
  certified issue(const wish& for_whom) const;

private:
  certified own_;
};

/// Signed by nobody but itself.
certified self_signed(const wish& for_whom);

/// The same key, locked with a password.
std::string with_password(const std::string& key);

} // namespace tutti::testing_tls

#include "actors/link_identity.hpp"

#include <utility>

namespace tutti::actors {

link_identity::link_identity(link_files where, std::shared_ptr<bridge::machine> from,
                             base::duration lasts)
    : where_(std::move(where)), from_(std::move(from)), lasts_(lasts) {}

base::result<bridge::tls_material> link_identity::read() const {
  bridge::tls_material out;
  const std::pair<const char*, bridge::tls_material::text*> files[] = {
      {"tls.crt", &out.certificate}, {"tls.key", &out.key}, {"ca.crt", &out.authorities}};
  for (const auto& [name, text] : files) {
    text->place = where_.directory + "/" + name;
    auto pem = from_->read(text->place);
    if (!pem)
      return base::error{pem.error().what(), pem.error().message(),
                         "a link needs tls.crt, tls.key and ca.crt, as in a Secret of type "
                         "kubernetes.io/tls"}
          .in(text->place);
    text->pem = std::move(*pem);
  }
  return out;
}

base::result<bridge::tls_context_ptr> link_identity::look() {
  const auto now = from_->clock().now();
  if (read_at_ && now - *read_at_ < lasts_ && (context_ || trouble_))
    return context_ ? base::result<bridge::tls_context_ptr>{context_}
                    : base::result<bridge::tls_context_ptr>{*trouble_};
  read_at_ = now;
  trouble_.reset();
  auto found = read();
  if (found && context_ && *found == known_)
    return context_;
  auto made = found ? bridge::make_link_context(*found)
                    : base::result<bridge::tls_context_ptr>{found.error()};
  if (made) {
    known_ = std::move(*found);
    context_ = std::move(*made);
    ++version_;
    return context_;
  }
  trouble_ = made.error();
  if (context_)
    return context_;
  return *trouble_;
}

} // namespace tutti::actors

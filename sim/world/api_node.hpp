// The API server as a node of the simulated network: real bytes travel to it and back, each way
// with its own delay, and may be lost, refused or held up on the way.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "protocol/events.hpp"
#include "protocol/http.hpp"
#include "sim/api_server/connection.hpp"
#include "sim/api_server/control_plane.hpp"
#include "sim/world/dice.hpp"
#include "sim/world/exchange_end.hpp"
#include "sim/world/timeline.hpp"

namespace tutti::sim {

/// What becomes of one request.
struct api_verdict {
  enum class what : std::uint8_t {
    serve,
    answer,       ///< `status` comes back and nothing was done
    lost,         ///< it never arrives, and the client hears of a broken connection
    applied_lost, ///< it is served, and its answer never arrives
  };
  what becomes = what::serve;
  int status = 0;
  std::int64_t retry_after_s = 0;
  /// Lost ones: the client waits for its own timeout instead of hearing of a reset.
  bool is_silent = false;
  base::duration delay{}; ///< of the answer, on top of the network's own
};

/// What becomes of what a watch says: of one piece of its stream, made of whole lines.
struct watch_verdict {
  bool is_cut = false;      ///< the stream ends here, without these lines
  std::uint32_t copies = 1; ///< 0 = they never come
  base::duration delay{};   ///< on top of the network's own; keeps the order
};

class api_node {
public:
  struct options {
    api_server::control_plane::options plane;
    base::duration latency_least = std::chrono::microseconds{200};
    base::duration latency_most = std::chrono::milliseconds{3};
    base::duration client_timeout = std::chrono::seconds{62};
  };
  using judge =
      std::function<api_verdict(const std::string& client, const protocol::http_request&)>;
  using watch_judge =
      std::function<watch_verdict(const std::string& client, const std::string& target)>;
  using hear = std::function<void(protocol::event)>;

  api_node(options how, timeline& time, base::random_stream& network);

  /// From a client of the network. `heard` gets the events of the exchange, all with `id`, until
  /// `forget`. Returns a key for that.
  std::uint64_t start(const std::string& client, std::uint64_t id, protocol::http_request request,
                      hear heard);
  /// Nobody listens any more; what was sent arrives all the same.
  void forget(std::uint64_t key);
  /// Ends every watch of `client` (empty = of all) after the network's delay.
  void cut_watches(const std::string& client, const std::string& resource);
  /// While cut off, nothing of this client arrives and nothing reaches it, until `heal`: its
  /// exchanges time out.
  void cut_off(const std::string& client, bool is_cut);

  void judges(judge x) { judge_ = std::move(x); }
  void judges_watches(watch_judge x) { watch_judge_ = std::move(x); }
  /// Every piece of a watch passes here on its way to the client, as whole lines; what comes back
  /// is what the client hears.
  using line_editor = std::function<std::string(const std::string& client,
                                                const std::string& target, std::string lines)>;
  void edits_lines(line_editor x) { line_editor_ = std::move(x); }
  /// Every open watch that `is_meant` hears these lines once more.
  void say_again(
      const std::function<bool(const std::string& client, const std::string& target)>& is_meant,
      const std::string& lines);
  /// Requests without an answer, and pieces of streams on their way to a client.
  std::size_t under_way() const;
  /// Called after every turn of the server: its objects may have changed.
  void after_turn(std::function<void()> x) { after_turn_ = std::move(x); }
  /// Called for each request when it arrives, before the server sees it.
  void on_arrival(std::function<void(const std::string& client, const protocol::http_request&)> x) {
    on_arrival_ = std::move(x);
  }

  api_server::control_plane& plane() { return plane_; }
  const api_server::control_plane& plane() const { return plane_; }
  /// One request without a network, from the world itself; the answer is whole.
  api_server::response ask(const protocol::http_request& request);
  /// Kubelets and controllers act, watches are told. After any change from outside.
  void turn();

private:
  struct exchange {
    std::string client;
    protocol::http_request request;
    hear heard;
    exchange_end end;
    std::unique_ptr<api_server::connection> at_server;
    base::time_point last_delivery{};
    /// What the server has said and the client has not heard, in order: pieces and how often their
    /// lines are to be heard.
    std::deque<std::pair<std::string, std::uint32_t>> pieces;
    bool is_on_its_way = false; ///< has not arrived yet and will
    bool answer_is_lost = false;
    base::duration delay{};
  };

  void arrive(std::uint64_t key);
  void pump(std::uint64_t key, exchange& x);
  void send_back(std::uint64_t key, exchange& x, std::string bytes, base::duration delay,
                 std::uint32_t copies = 1);
  void deliver(std::uint64_t key);
  void break_off(std::uint64_t key, std::string why, base::duration after);
  void tell(std::uint64_t key, std::vector<protocol::event> events);
  void arm();
  base::duration latency();
  bool is_cut_off(const std::string& client) const;

  options how_;
  timeline& time_;
  base::random_stream& network_;
  api_server::control_plane plane_;
  judge judge_;
  watch_judge watch_judge_;
  line_editor line_editor_;
  std::function<void()> after_turn_;
  std::function<void(const std::string&, const protocol::http_request&)> on_arrival_;
  std::map<std::uint64_t, exchange> live_;
  std::map<std::string, bool> cut_off_;
  std::uint64_t last_key_ = 0;
  std::optional<base::time_point> armed_;
  bool is_turning_ = false;
};

} // namespace tutti::sim

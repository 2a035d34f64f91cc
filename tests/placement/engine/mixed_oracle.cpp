#include "tests/placement/engine/mixed_oracle.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/random.hpp"
#include "tests/placement/engine/tied_words.hpp"

namespace tutti::placement::engine::testing {
namespace {

constexpr std::int32_t port = 8080;

std::string node_name(std::size_t i) {
  return "n" + std::to_string(i);
}

std::string key_value(const drawn_node& n, const std::string& key, std::size_t i) {
  return key == host_key ? node_name(i) : key == rack_key ? n.rack : n.zone;
}

/// Nodes by value of the key; those without are left out.
std::map<std::string, std::vector<std::size_t>> domains_of(const drawn_gang& in,
                                                           const std::string& key) {
  std::map<std::string, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < in.nodes.size(); ++i)
    if (const auto value = key_value(in.nodes[i], key, i); !value.empty())
      out[value].push_back(i);
  return out;
}

bool may_be_on(const drawn_gang& in, const drawn_lot& l, std::size_t i) {
  const auto& n = in.nodes[i];
  const auto& app = in.apps[l.app];
  const auto lacks = [&](const std::string& key) {
    return !key.empty() && key_value(n, key, i).empty();
  };
  return (n.has_disk || !l.wants_disk) && !lacks(app.near) && !lacks(app.even)
         && !lacks(in.keys[l.group]) && l.cpu <= n.cpu && l.memory <= n.memory && l.gpus <= n.gpus
         && n.pods > 0;
}

// ---- drawing ----

class drawer {
public:
  drawer(std::uint64_t seed, drawn_size size, bool has_terms)
      : dice_(seed, "mixed gang"), is_small_(size == drawn_size::small), has_terms_(has_terms) {}

  drawn_gang draw() {
    draw_apps();
    draw_lots();
    draw_nodes();
    draw_minimum();
    return out_;
  }

private:
  std::int64_t of(std::int64_t first, std::int64_t last) {
    return static_cast<std::int64_t>(
        dice_.between(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last)));
  }
  std::string any_key() { return dice_.chance(1, 2) ? rack_key : zone_key; }

  void draw_apps() {
    out_.apps.resize(2);
    if (!has_terms_)
      return;
    for (auto& a : out_.apps) {
      if (dice_.chance(1, 4))
        a.apart = dice_.chance(3, 4) ? host_key : rack_key;
      if (dice_.chance(1, 6))
        a.near = any_key();
      if (dice_.chance(1, 3)) {
        a.even = any_key();
        a.skew = static_cast<int>(of(1, 2));
      }
    }
  }

  void draw_lots() {
    const auto groups = static_cast<std::size_t>(of(1, 3));
    for (std::size_t g = 0; g < groups; ++g)
      out_.keys.push_back(dice_.chance(1, 3) ? any_key() : "");
    const auto lots = of(2, is_small_ ? 4 : 6);
    for (std::int64_t i = 0; i < lots; ++i)
      out_.lots.push_back({static_cast<std::size_t>(dice_.below(groups)),
                           static_cast<int>(of(1, is_small_ ? 4 : 8)), of(1, 9), of(1, 12),
                           dice_.chance(1, 2) ? of(0, 4) : 0, dice_.chance(1, 5),
                           dice_.chance(1, 8), static_cast<std::size_t>(dice_.below(2))});
  }

  /// Room as if members had been thrown somewhere, and a little more or less of it.
  void draw_nodes() {
    const auto nodes = of(3, is_small_ ? 7 : 16);
    const auto racks = of(1, 3);
    const auto kinds = of(1, 4);
    for (std::int64_t i = 0; i < nodes; ++i)
      out_.nodes.push_back({"r" + std::to_string(dice_.below(static_cast<std::uint64_t>(racks))),
                            dice_.chance(1, 20) ? "" : "z" + std::to_string(dice_.below(2)), 0, 0,
                            0, of(2, 6), dice_.chance(1, 2)});
    for (const auto& l : out_.lots)
      for (int m = 0; m < l.members; ++m) {
        auto& n = out_.nodes[dice_.below(out_.nodes.size())];
        n.cpu += l.cpu;
        n.memory += l.memory;
        n.gpus += l.gpus;
        n.has_disk = n.has_disk || (l.wants_disk && dice_.chance(2, 3));
      }
    const auto slack = of(0, 3);
    for (auto& n : out_.nodes) {
      n.cpu += of(0, slack + 1);
      n.memory += of(0, slack + 3);
      n.gpus += dice_.chance(1, 4) ? 1 : 0;
    }
    if (dice_.chance(1, 2)) // equal nodes, in which symmetry hides
      for (std::size_t i = static_cast<std::size_t>(kinds); i < out_.nodes.size(); ++i) {
        const auto& like = out_.nodes[i % static_cast<std::size_t>(kinds)];
        auto& n = out_.nodes[i];
        n.cpu = like.cpu;
        n.memory = like.memory;
        n.gpus = like.gpus;
        n.pods = like.pods;
      }
  }

  void draw_minimum() {
    for (std::size_t g = 0; g < out_.keys.size(); ++g) {
      int members = 0;
      for (const auto& l : out_.lots)
        members += l.group == g ? l.members : 0;
      const auto missing = dice_.chance(1, 3) ? of(0, 2) : 0;
      out_.minimum.push_back(std::max(members - static_cast<int>(missing), 0));
    }
    // A group without members, or one that needs none, is not asked for.
    for (auto& m : out_.minimum)
      m = std::max(m, 1);
    for (std::size_t g = 0; g < out_.keys.size(); ++g)
      if (std::none_of(out_.lots.begin(), out_.lots.end(),
                       [&](const auto& l) { return l.group == g; }))
        out_.lots.push_back({g, 1, 1, 1, 0, false, false, 0});
  }

  base::random_stream dice_;
  bool is_small_;
  bool has_terms_;
  drawn_gang out_;
};

} // namespace

drawn_gang draw_gang(std::uint64_t seed, drawn_size size, bool has_terms) {
  return drawer{seed, size, has_terms}.draw();
}

// ---- for the engine ----

void build(const drawn_gang& in, cluster& c, gang_spec& what) {
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    const auto& n = in.nodes[i];
    node_words x{.name = node_name(i),
                 .rack = n.rack,
                 .zone = n.zone,
                 .cpu = n.cpu,
                 .memory_gib = n.memory,
                 .gpus = n.gpus,
                 .pods = n.pods};
    if (n.has_disk)
      x.labels = {{"disk", "fast"}};
    c.node(x);
  }
  for (std::size_t g = 0; g < in.keys.size(); ++g)
    what.groups.push_back(
        {"g" + std::to_string(g), static_cast<std::uint32_t>(in.minimum[g]), in.keys[g]});
  for (const auto& l : in.lots) {
    pod_words like{.cpu = l.cpu, .gpus = l.gpus, .memory_gib = l.memory};
    if (l.wants_disk)
      like.terms.selector = {{"disk", "fast"}};
    if (l.takes_port)
      like.ports.push_back({base::symbol{""}, base::symbol{"TCP"}, port});
    const auto name = std::string(1, static_cast<char>('x' + l.app));
    const auto& app = in.apps[l.app];
    auto ties = pod(name);
    if (!app.apart.empty())
      ties.apart(name, app.apart);
    if (!app.near.empty())
      ties.near(name, app.near);
    if (!app.even.empty())
      ties.spread(name, app.even, app.skew);
    const bool asks = !app.apart.empty() || !app.near.empty() || !app.even.empty();
    const auto kind = shape_of(like);
    for (int m = 0; m < l.members; ++m) {
      auto& added = what.members.emplace_back();
      added.name = "pod" + std::to_string(what.members.size() - 1);
      added.group = static_cast<std::uint32_t>(l.group);
      added.kind = kind;
      if (asks)
        added.ties = ties;
    }
  }
}

drawn_counts counts_of(const drawn_gang& in, cluster& c, const placement& found) {
  drawn_counts out(in.lots.size(), std::vector<int>(in.nodes.size(), 0));
  std::vector<std::size_t> lot_of;
  for (std::size_t l = 0; l < in.lots.size(); ++l)
    lot_of.insert(lot_of.end(), static_cast<std::size_t>(in.lots[l].members), l);
  for (const auto& s : found.seats)
    ++out[lot_of[s.member]][std::stoul(c.view.now().node(s.node).name.value.substr(1))];
  return out;
}

std::string words_of(const drawn_gang& in) {
  std::ostringstream out;
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    const auto& n = in.nodes[i];
    out << node_name(i) << " rack " << n.rack << " zone " << n.zone << " cpu " << n.cpu
        << " memory " << n.memory << " gpus " << n.gpus << " pods " << n.pods
        << (n.has_disk ? " disk" : "") << "\n";
  }
  for (std::size_t g = 0; g < in.keys.size(); ++g)
    out << "group " << g << " min " << in.minimum[g] << " in one " << in.keys[g] << "\n";
  for (const auto& l : in.lots) {
    const auto& a = in.apps[l.app];
    out << "group " << l.group << ": " << l.members << " of cpu " << l.cpu << " memory " << l.memory
        << " gpus " << l.gpus << (l.wants_disk ? " disk" : "") << (l.takes_port ? " port" : "")
        << " app " << l.app << " apart " << a.apart << " near " << a.near << " even " << a.even
        << "/" << a.skew << "\n";
  }
  return out.str();
}

// ---- the rules once more, for what was found ----

namespace {

class judge {
public:
  judge(const drawn_gang& in, const drawn_counts& at) : in_(in), at_(at) {}

  std::optional<std::string> broken() const {
    for (std::size_t i = 0; i < in_.nodes.size(); ++i)
      if (overfull(i))
        return node_name(i) + " has not so much room";
    for (std::size_t g = 0; g < in_.keys.size(); ++g)
      if (auto out = broken_group(g))
        return out;
    for (std::size_t a = 0; a < in_.apps.size(); ++a)
      if (auto out = broken_app(a))
        return out;
    return std::nullopt;
  }

private:
  bool overfull(std::size_t i) const {
    auto left = in_.nodes[i];
    int ports = 0;
    for (std::size_t l = 0; l < in_.lots.size(); ++l) {
      const auto n = at_[l][i];
      const auto& lot = in_.lots[l];
      if (n > 0 && !may_be_on(in_, lot, i))
        return true;
      left.cpu -= n * lot.cpu;
      left.memory -= n * lot.memory;
      left.gpus -= n * lot.gpus;
      left.pods -= n;
      ports += lot.takes_port ? n : 0;
    }
    return left.cpu < 0 || left.memory < 0 || left.gpus < 0 || left.pods < 0 || ports > 1;
  }

  std::optional<std::string> broken_group(std::size_t g) const {
    int placed = 0;
    std::map<std::string, int> values;
    for (std::size_t l = 0; l < in_.lots.size(); ++l)
      for (std::size_t i = 0; in_.lots[l].group == g && i < in_.nodes.size(); ++i)
        if (at_[l][i] > 0) {
          placed += at_[l][i];
          if (!in_.keys[g].empty())
            ++values[key_value(in_.nodes[i], in_.keys[g], i)];
        }
    if (placed < in_.minimum[g])
      return "group " + std::to_string(g) + " misses its minimum";
    if (values.size() > 1)
      return "group " + std::to_string(g) + " is in two domains";
    return std::nullopt;
  }

  int of_app(std::size_t a, const std::vector<std::size_t>& nodes) const {
    int out = 0;
    for (std::size_t l = 0; l < in_.lots.size(); ++l)
      for (auto i : nodes)
        out += in_.lots[l].app == a ? at_[l][i] : 0;
    return out;
  }

  std::optional<std::string> broken_app(std::size_t a) const {
    const auto& app = in_.apps[a];
    const auto name = "app " + std::to_string(a);
    for (const auto& [value, nodes] : domains_of(in_, app.apart))
      if (!app.apart.empty() && of_app(a, nodes) > 1)
        return name + " is not apart in " + value;
    int domains = 0;
    if (!app.near.empty())
      for (const auto& [value, nodes] : domains_of(in_, app.near))
        domains += of_app(a, nodes) > 0 ? 1 : 0;
    if (domains > 1)
      return name + " is not together";
    for (std::size_t l = 0; !app.even.empty() && l < in_.lots.size(); ++l)
      if (in_.lots[l].app == a && is_uneven(l))
        return name + " is uneven";
    return std::nullopt;
  }

  bool is_uneven(std::size_t l) const {
    const auto& app = in_.apps[in_.lots[l].app];
    const auto domains = domains_of(in_, app.even);
    for (const auto& [value, nodes] : domains) {
      const bool has_member =
          std::any_of(nodes.begin(), nodes.end(), [&](auto i) { return at_[l][i] > 0; });
      for (const auto& [other, others] : domains) {
        const bool is_eligible = std::any_of(others.begin(), others.end(), [&](auto i) {
          return in_.nodes[i].has_disk || !in_.lots[l].wants_disk;
        });
        // Pods on nodes that the selector forbids are not counted.
        if (has_member && is_eligible && counted(l, nodes) - counted(l, others) > app.skew)
          return true;
      }
    }
    return false;
  }

  int counted(std::size_t l, const std::vector<std::size_t>& nodes) const {
    std::vector<std::size_t> eligible;
    for (auto i : nodes)
      if (in_.nodes[i].has_disk || !in_.lots[l].wants_disk)
        eligible.push_back(i);
    return of_app(in_.lots[l].app, eligible);
  }

  const drawn_gang& in_;
  const drawn_counts& at_;
};

} // namespace

std::optional<std::string> broken_rule(const drawn_gang& in, const drawn_counts& at) {
  return judge{in, at}.broken();
}

// ---- the integer program ----

namespace {

/// In the format LP of CPLEX. x_l_i: members of lot l on node i.
class program {
public:
  explicit program(const drawn_gang& in) : in_(in) {}

  std::string text() {
    nodes();
    groups();
    for (std::size_t a = 0; a < in_.apps.size(); ++a)
      app(a);
    std::ostringstream out;
    out << "Minimize\n obj: 0 " << x(0, 0) << "\nSubject To\n" << rows_.str() << "Bounds\n";
    for (std::size_t l = 0; l < in_.lots.size(); ++l)
      for (std::size_t i = 0; i < in_.nodes.size(); ++i)
        out << " 0 <= " << x(l, i)
            << " <= " << (may_be_on(in_, in_.lots[l], i) ? in_.lots[l].members : 0) << "\n";
    out << "Generals\n";
    for (std::size_t l = 0; l < in_.lots.size(); ++l)
      for (std::size_t i = 0; i < in_.nodes.size(); ++i)
        out << " " << x(l, i) << "\n";
    if (!flags_.empty())
      out << "Binaries\n";
    for (const auto& f : flags_)
      out << " " << f << "\n";
    out << "End\n";
    return out.str();
  }

private:
  static std::string x(std::size_t l, std::size_t i) {
    return "x_" + std::to_string(l) + "_" + std::to_string(i);
  }
  std::string flag(const std::string& name) {
    flags_.push_back(name);
    return name;
  }
  void row(const std::string& terms, const std::string& rest) {
    if (!terms.empty())
      rows_ << " c" << ++number_ << ": " << terms << " " << rest << "\n";
  }
  static std::string times(std::int64_t n, const std::string& name) {
    return n == 0 ? "" : (n > 0 ? " + " : " - ") + std::to_string(std::abs(n)) + " " + name;
  }

  void nodes() {
    for (std::size_t i = 0; i < in_.nodes.size(); ++i) {
      const auto& n = in_.nodes[i];
      std::string cpu, memory, gpus, pods, ports;
      for (std::size_t l = 0; l < in_.lots.size(); ++l) {
        const auto& lot = in_.lots[l];
        cpu += times(lot.cpu, x(l, i));
        memory += times(lot.memory, x(l, i));
        gpus += times(lot.gpus, x(l, i));
        pods += times(1, x(l, i));
        ports += times(lot.takes_port ? 1 : 0, x(l, i));
      }
      row(cpu, "<= " + std::to_string(n.cpu));
      row(memory, "<= " + std::to_string(n.memory));
      row(gpus, "<= " + std::to_string(n.gpus));
      row(pods, "<= " + std::to_string(n.pods));
      row(ports, "<= 1");
    }
  }

  std::string sum(const std::vector<std::size_t>& lots, const std::vector<std::size_t>& nodes,
                  std::int64_t sign = 1) const {
    std::string out;
    for (auto l : lots)
      for (auto i : nodes)
        out += times(sign, x(l, i));
    return out;
  }
  std::vector<std::size_t> everywhere() const {
    std::vector<std::size_t> out(in_.nodes.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = i;
    return out;
  }

  void groups() {
    for (std::size_t l = 0; l < in_.lots.size(); ++l)
      row(sum({l}, everywhere()), "<= " + std::to_string(in_.lots[l].members));
    for (std::size_t g = 0; g < in_.keys.size(); ++g) {
      std::vector<std::size_t> lots;
      for (std::size_t l = 0; l < in_.lots.size(); ++l)
        if (in_.lots[l].group == g)
          lots.push_back(l);
      row(sum(lots, everywhere()), ">= " + std::to_string(in_.minimum[g]));
      if (!in_.keys[g].empty())
        together(lots, in_.keys[g], "g" + std::to_string(g));
    }
  }

  /// All members of the lots are in one domain.
  void together(const std::vector<std::size_t>& lots, const std::string& key,
                const std::string& name) {
    std::string one;
    for (const auto& [value, nodes] : domains_of(in_, key)) {
      const auto f = flag("d_" + name + "_" + value);
      one += times(1, f);
      std::int64_t most = 0;
      for (auto l : lots)
        most += in_.lots[l].members;
      row(sum(lots, nodes) + times(-most, f), "<= 0");
    }
    row(one, "<= 1");
  }

  void app(std::size_t a) {
    const auto& app = in_.apps[a];
    std::vector<std::size_t> lots;
    for (std::size_t l = 0; l < in_.lots.size(); ++l)
      if (in_.lots[l].app == a)
        lots.push_back(l);
    if (lots.empty())
      return;
    if (!app.apart.empty())
      for (const auto& [value, nodes] : domains_of(in_, app.apart))
        row(sum(lots, nodes), "<= 1");
    if (!app.near.empty())
      together(lots, app.near, "a" + std::to_string(a));
    if (!app.even.empty())
      for (auto l : lots)
        even(l, lots);
  }

  void even(std::size_t l, const std::vector<std::size_t>& lots) {
    const auto& app = in_.apps[in_.lots[l].app];
    std::int64_t all = 0;
    for (auto k : lots)
      all += in_.lots[k].members;
    std::map<std::string, std::vector<std::size_t>> domains;
    for (const auto& [value, nodes] : domains_of(in_, app.even))
      for (auto i : nodes)
        if (in_.nodes[i].has_disk || !in_.lots[l].wants_disk)
          domains[value].push_back(i);
    for (const auto& [value, nodes] : domains) {
      const auto f = flag("e_" + std::to_string(l) + "_" + value);
      row(sum({l}, nodes) + times(-in_.lots[l].members, f), "<= 0");
      for (const auto& [other, others] : domains)
        if (other != value) // if a member is here, then not further above than the skew
          row(sum(lots, nodes) + sum(lots, others, -1) + times(all, f),
              "<= " + std::to_string(app.skew + all));
    }
  }

  const drawn_gang& in_;
  std::ostringstream rows_;
  std::vector<std::string> flags_;
  int number_ = 0;
};

/// What a command prints.
std::string output_of(const std::string& command) {
  std::string out;
  if (auto* pipe = ::popen(command.c_str(), "r")) {
    char text[4096];
    while (std::fgets(text, sizeof text, pipe) != nullptr)
      out += text;
    ::pclose(pipe);
  }
  return out;
}

} // namespace

std::string program_of(const drawn_gang& in) {
  return program{in}.text();
}

bool has_solver() {
  static const bool has = !output_of("command -v cbc").empty();
  return has;
}

std::optional<bool> can_be_placed(const drawn_gang& in) {
  const auto file = std::filesystem::temp_directory_path()
                    / ("mixed_oracle_" + std::to_string(::getpid()) + ".lp");
  std::ofstream{file} << program_of(in);
  const auto said = output_of("cbc " + file.string() + " sec 60 solve 2>&1");
  std::filesystem::remove(file);
  if (said.find("Optimal solution found") != std::string::npos)
    return true;
  if (said.find("infeasible") != std::string::npos)
    return false;
  return std::nullopt;
}

} // namespace tutti::placement::engine::testing

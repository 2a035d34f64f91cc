// Follows the words through the parser's own description of verbs and flags.
#include "cli/completion.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/output.hpp"

namespace tutti::cli {

namespace {

using words = std::vector<std::string>;

constexpr const char* bash_script = R"sh(_tutti() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(tutti __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" \
    -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tutti tutti
)sh";

constexpr const char* zsh_script = R"sh(#compdef tutti
_tutti() {
  local -a found
  found=("${(@f)$(tutti __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "${found[1]}" ]] && compadd -- "${found[@]}" || _files
}
compdef _tutti tutti
)sh";

constexpr const char* fish_script = R"sh(function __tutti_complete
  set -l typed (commandline -opc) (commandline -ct)
  tutti __complete $typed[2..-1] 2>/dev/null
end
complete -c tutti -a '(__tutti_complete)'
)sh";

/// The values that a flag or noun takes, out of "FORMAT:{table,json}"; none if any will do.
words values_of(const CLI::Option& option) {
  const auto type = option.get_type_name();
  const auto from = type.find('{'), to = type.find('}', from);
  words out;
  if (from == type.npos || to == type.npos)
    return out;
  for (auto at = from + 1; at <= to;) {
    const auto end = std::min(type.find(',', at), to);
    out.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

const CLI::Option* flag_named(const CLI::App& verb, const std::string& word) {
  if (!word.starts_with('-'))
    return nullptr;
  for (const auto* option : verb.get_options())
    if (option->check_name(word))
      return option;
  return nullptr;
}

words flags_of(const CLI::App& verb) {
  words out;
  for (const auto* option : verb.get_options()) {
    for (const auto& name : option->get_snames())
      out.push_back("-" + name);
    for (const auto& name : option->get_lnames())
      out.push_back("--" + name);
  }
  return out;
}

words verbs_below(const CLI::App& verb) {
  words out;
  for (const auto* below : verb.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(below->get_name());
  return out;
}

/// Names of the gangs in the namespace that a `-n` among the words names.
words gang_names(const words& typed, const reader& from) {
  std::string space = "default";
  for (std::size_t i = 0; i + 1 < typed.size(); ++i)
    if (typed[i] == "-n" || typed[i] == "--namespace")
      space = typed[i + 1];
  const auto list = from("/api/gangs");
  const auto* items = list ? list->if_contains("items") : nullptr;
  words out;
  if (items == nullptr || !items->is_array())
    return out;
  for (const auto& x : items->get_array())
    if (x.is_object() && cell(x.get_object(), "namespace") == space)
      out.push_back(cell(x.get_object(), "name"));
  std::sort(out.begin(), out.end());
  return out;
}

/// What may stand at this place among the words that are no flags.
words nouns_of(const CLI::App& verb, std::size_t place, const words& typed, const reader& from) {
  std::size_t i = 0;
  for (const auto* option : verb.get_options()) {
    if (!option->nonpositional() && i++ == place) {
      const bool is_name = option->get_name() == "name";
      return is_name ? gang_names(typed, from) : values_of(*option);
    }
  }
  return {};
}

} // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& typed,
                                     const reader& from) {
  const auto* verb = &app;
  const CLI::Option* open = nullptr; // the flag whose value comes next
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    const auto& word = typed[i];
    const auto below = verbs_below(*verb);
    if (open != nullptr) {
      open = nullptr;
    } else if (const auto* flag = flag_named(*verb, word); flag != nullptr) {
      open = takes_value(*flag) ? flag : nullptr;
    } else if (std::find(below.begin(), below.end(), word) != below.end()) {
      verb = verb->get_subcommand(word);
    } else {
      ++place;
    }
  }
  const auto last = typed.empty() ? std::string{} : typed.back();
  words all;
  if (open != nullptr)
    all = values_of(*open);
  else if (last.starts_with('-'))
    all = flags_of(*verb);
  else if (all = verbs_below(*verb); all.empty())
    all = nouns_of(*verb, place, typed, from);
  std::erase_if(all, [&last](const auto& x) { return !x.starts_with(last); });
  return all;
}

base::result<std::string> completion_script(const std::string& shell) {
  if (shell == "bash")
    return std::string{bash_script};
  if (shell == "zsh")
    return std::string{zsh_script};
  if (shell == "fish")
    return std::string{fish_script};
  return base::error{base::code::bad_input, fmt::format("there is no completion for {}", shell),
                     "tutti completion bash | zsh | fish"};
}

} // namespace tutti::cli

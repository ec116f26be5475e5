// The command line's frame: subcommands, their options, and the handlers that they run.
//
// A file of commands declares the subcommands of one noun. Each subcommand has a struct of options
// and a handler, which runs after the whole line was parsed. Exit status: 0 done, 1 the operation
// failed (its Status is printed as one line on stderr), 2 the command line was wrong, 3 the command
// is recorded and waits for another actor's approval.
//
// CLI11 parses the line. It is included by cli.cpp alone, because it takes seconds to compile.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/lookup.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "program/system/named_file.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sluice::cli {

inline constexpr const char* kDefaultStore = "/var/lib/sluice";

/// A file that an option names, unless the text is empty or "-".
struct NamedFile {
    const std::string* path;
    FileUse use;
};

/// The settings that all subcommands share, and the handler of the one that was named.
struct Frame {
    std::string store = kDefaultStore;     ///< --store, else SLUICE_STORE.
    std::function<Status()> action;        ///< Set by the subcommand that was named.
    std::vector<NamedFile> files;          ///< The files of all subcommands.
    std::vector<const CLI::App*> keepers;  ///< Subcommand::keeps_user().
    std::string reason;                    ///< Subcommand::takes_reason(); may be empty.

    [[nodiscard]] store::StorePaths paths() const { return store::StorePaths(store); }
};

/// Makes a program of root the owner of the store, and holds the files that the command line names.
/// Every subcommand begins with it, unless it declares keeps_user().
[[nodiscard]] Status become_store_owner(const Frame& frame);

/// An option or positional of a subcommand. A handle, valid as long as the program runs.
class Option {
public:
    explicit Option(CLI::Option& option) noexcept : option_(&option) {}

    Option required() const;
    /// Without `other` this option is a usage error.
    Option needs(Option other) const;
    Option excludes(Option other) const;
    [[nodiscard]] bool is_given() const;

private:
    CLI::Option* option_;
};

/// A subcommand that runs a handler, or a group of subcommands (`account`). A handle, valid as long
/// as the program runs.
class Subcommand {
public:
    Subcommand(CLI::App& app, Frame& frame) noexcept : app_(&app), frame_(&frame) {}

    /// Adds a noun whose verbs are subcommands.
    [[nodiscard]] Subcommand add_group(const std::string& name, const std::string& help) const;
    /// Adds a verb. One with subcommands of its own runs unless the line names one of them.
    [[nodiscard]] Subcommand add_command(const std::string& name, const std::string& help,
                                         std::function<Status(const Frame&)> run) const;

    /// Adds the option or positional `name`; each of its values, which must be UTF-8, goes to
    /// `take`, whose error is a usage error. `type` names the value in the help of an option.
    Option add(const std::string& name, const std::string& type,
               std::function<Status(const std::string&)> take, const std::string& help) const;
    /// Adds an option or positional as add() does, whose value need not be UTF-8: a file's name.
    Option add_bytes(const std::string& name, const std::string& type,
                     std::function<Status(const std::string&)> take, const std::string& help) const;
    /// Adds an option or positional that may occur several times; each value goes to `take`. A
    /// positional takes all words that are left, an option one word each time.
    Option add_repeated(const std::string& name, const std::string& type,
                        std::function<Status(const std::string&)> take,
                        const std::string& help) const;
    Option add_flag(const std::string& name, std::function<void()> set,
                    const std::string& help) const;

    /// Keeps the rights of the user who started it, for a subcommand that opens no store, or that
    /// calls become_store_owner() itself.
    void keeps_user() const;
    /// Adds `--reason`, for a command that changes the registry: its log has it.
    void takes_reason() const;
    /// Names a file that the subcommand uses. `path` lives as long as the program runs.
    void uses_file(const std::string& path, FileUse use) const;

    /// Calls `missing` after the line was parsed; it names what is required and absent, or returns
    /// an empty text.
    void require(std::function<std::string()> missing) const;

private:
    CLI::App* app_;
    Frame* frame_;
};

/// Declares a subcommand that runs `run(frame, options)`.
/// @return the subcommand, and its options, for the caller to bind; they live as long as it does.
template <class Options>
[[nodiscard]] std::pair<Subcommand, Options&> add_command(
    Subcommand parent, const std::string& name, const std::string& help,
    Status (*run)(const Frame&, const Options&)) {
    auto options = std::make_shared<Options>();
    Options& bound = *options;
    return {parent.add_command(name, help,
                               [options = std::move(options), run](const Frame& frame) {
                                   return run(frame, *options);
                               }),
            bound};
}

/// Returns a function that stores a text in `target`.
template <class Text>
[[nodiscard]] auto stores(Text& target) {
    return [&target](const std::string& text) {
        target = text;
        return Status::success();
    };
}
/// Adds a text option or positional.
template <class Text>
Option add_text(Subcommand app, const std::string& name, const std::string& type, Text& target,
                const std::string& help) {
    return app.add(name, type, stores(target), help);
}
/// Adds a text option or positional that names a file.
Option add_file(Subcommand app, const std::string& name, const std::string& type,
                std::string& target, FileUse use, const std::string& help);
/// Adds a positional for all words that are left, or an option that may be repeated.
Option add_texts(Subcommand app, const std::string& name, const std::string& type,
                 std::vector<std::string>& target, const std::string& help);
Option add_flag(Subcommand app, const std::string& name, bool& target, const std::string& help);

/// Adds the option or positional `name`, parsed into `target` by `parse`, which returns a Result.
template <class Target, class Parse>
Option add_value(Subcommand app, const std::string& name, const std::string& type, Target& target,
                 Parse parse, const std::string& help) {
    return app.add(
        name, type,
        [&target, parse](const std::string& text) { return assign(target, parse(text)); }, help);
}
/// Adds an option or positional that may occur several times; appends each value that `parse`
/// returns.
template <class Target, class Parse>
Option add_values(Subcommand app, const std::string& name, const std::string& type,
                  std::vector<Target>& target, Parse parse, const std::string& help) {
    return app.add_repeated(
        name, type,
        [&target, parse](const std::string& text) {
            return parse(text).and_then([&target](auto value) {
                target.emplace_back(std::move(value));
                return Status::success();
            });
        },
        help);
}

/// The word at the command line for each value of an option.
template <class Value>
using Words = std::vector<std::pair<std::string_view, Value>>;
/// Joins words: `a|b|c`, or with `last` as "a, b or c".
[[nodiscard]] std::string joined_words(const std::vector<std::string_view>& words,
                                       std::string_view between, std::string_view last);
/// Adds an option that takes one of the words.
template <class Value, class Target>
Option add_word(Subcommand app, const std::string& name, Target& target, const Words<Value>& words,
                const std::string& help) {
    const auto known = mapped(words, [](const auto& one) { return one.first; });
    const auto parse = [words, known](std::string_view text) -> Result<Value> {
        const auto* const one = find_item(words, text, &std::pair<std::string_view, Value>::first);
        return one != nullptr ? Result<Value>(one->second)
                              : invalid("expected " + joined_words(known, ", ", " or "));
    };
    return add_value(app, name, joined_words(known, "|", "|"), target, parse, help);
}

/// Parses the line, runs the subcommand that it names, and prints errors.
/// @param declare  Adds the subcommands that begin with `first`, the line's first word, or all of
///                 them.
/// @return the exit status
[[nodiscard]] int run(int argc, const char* const* argv,
                      void (*declare)(Subcommand app, std::string_view first));

}  // namespace sluice::cli

#include "program/cli/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "program/cli/printable.hpp"
#include "program/cli/spelling.hpp"
#include "program/system/identity.hpp"

namespace sluice::cli {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitPending = 3;  // for another actor's approval

bool is_positional(const CLI::Option& option) {
    return option.get_positional() && !option.nonpositional();
}

std::string option_synopsis(const CLI::Option& option) {
    const bool names_value = !is_positional(option) && option.get_items_expected_max() != 0;
    const std::string text =
        option.get_name(is_positional(option)) + (names_value ? " " + option.get_type_name() : "");
    return option.get_required() ? " " + text : " [" + text + "]";
}

/// Returns true for an option that every command takes.
bool is_global(const CLI::App& app, const CLI::Option& option) {
    return app.get_parent() == nullptr || option.get_name() == "--help";
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
    return mapped(app.get_subcommands([](const CLI::App*) { return true; }),
                  [](const CLI::App* sub) { return sub->get_name(); });
}

std::string subcommand_names(const CLI::App& app) {
    return joined(subcommands_of(app), ", ");
}

/// `'payot' is not a command; did you mean 'payout'?`, and the commands that `app` has.
std::string unknown_command(const CLI::App& app, const std::string& word) {
    const std::optional<std::string> nearest = nearest_name(subcommands_of(app), word);
    return "'" + word + "' is not a command; " +
           (nearest ? "did you mean '" + *nearest + "'? E" : "e") +
           "xpected one of: " + subcommand_names(app);
}

/// Returns the usage of `app`, `shop create ID --account A`, from its options.
std::string synopsis(const CLI::App& app) {
    std::string line = app.get_name();
    for (const CLI::App* up = app.get_parent(); up != nullptr; up = up->get_parent()) {
        line = up->get_name() + " " + line;
    }
    for (const bool positional : {true, false}) {
        for (const CLI::Option* option : app.get_options()) {
            if (is_positional(*option) == positional && !is_global(app, *option)) {
                line += option_synopsis(*option);
            }
        }
    }
    return app.get_require_subcommand_min() == 0 ? line : line + " COMMAND ...";
}

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
        return "Usage: " + synopsis(*app) + "\n";
    }
    /// The usage line shows required options without brackets.
    std::string make_option_opts(const CLI::Option* option) const override {
        const std::string type = option->get_type_name();
        return type.empty() ? "" : " " + type;
    }
};

/// The innermost subcommand that the line names.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* current = &app;
    while (!current->get_subcommands().empty()) {
        current = current->get_subcommands().front();
    }
    return *current;
}

/// CLI11's sentence about the mistake, or a clearer one of ours.
std::string explain_mistake(const CLI::App& root, const CLI::App& inner,
                            const CLI::ParseError& mistake) {
    if (inner.get_require_subcommand_min() == 0) {
        return mistake.what();
    }
    const std::vector<std::string> extras = root.remaining(true);
    return extras.empty() ? "a command is missing; expected one of: " + subcommand_names(inner)
                          : unknown_command(inner, extras.front());
}

int report_mistake(const CLI::App& command, const std::string& mistake) {
    std::fprintf(stderr, "sluice: %s\nusage: %s\n", mistake.c_str(), synopsis(command).c_str());
    return kExitUsage;
}

/// Prints an error, line by line, without what a terminal obeys: it may hold the name of a file.
void print_error(std::string_view prefix, std::string_view message) {
    const std::string shown =
        std::string(prefix) + joined(split(message, '\n'), "\n", printable) + "\n";
    std::fputs(shown.c_str(), stderr);
}

int run_action(const CLI::App& command, const Frame& frame) {
    const bool keeps_user = std::ranges::count(frame.keepers, &command) != 0;
    Status status = keeps_user ? Status::success() : become_store_owner(frame);
    if (status && !keeps_user) {
        store::remove_leftovers(frame.paths());
    }
    status = status ? frame.action() : status;
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!status.ok() && status.error().code == ErrorCode::kPending) {
        print_error("", status.error().message);
        return kExitPending;
    }
    if (!status.ok()) {
        print_error("sluice: ", status.error().message);
        return kExitFailed;
    }
    if (!written) {
        std::fprintf(stderr, "sluice: the output could not be written completely\n");
        return kExitFailed;
    }
    return 0;
}

void declare_globals(CLI::App& app, Frame& frame) {
    app.option_defaults()->always_capture_default(false);
    app.formatter(std::make_shared<HelpFormatter>());
    app.set_version_flag("--version", "sluice " SLUICE_VERSION, "Print the version and exit");
    app.add_option(
           "--store", frame.store,
           "The store's directory (default: SLUICE_STORE, else " + std::string(kDefaultStore) + ")")
        ->envname("SLUICE_STORE")
        ->type_name("DIR")
        ->check([](const std::string& value) {
            return value.empty() ? std::string("--store: expected a directory") : std::string();
        });
}

/// `help`, whose words name a command.
struct Help {
    const CLI::App* command = nullptr;
    std::vector<std::string> words;
};

void declare_help(CLI::App& app, Help& help) {
    CLI::App& command = *app.add_subcommand("help", "Print the help of a command");
    command.add_option("COMMAND", help.words, "Words of the command, such as `payout close`")
        ->type_name("");
    help.command = &command;
}

/// Returns nullptr if there is none.
CLI::App* subcommand_of(CLI::App& app, const std::string& name) {
    const auto named =
        app.get_subcommands([&name](const CLI::App* sub) { return sub->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

int print_help(CLI::App& app, const Help& help) {
    CLI::App* at = &app;
    for (const std::string& word : help.words) {
        CLI::App* const named = subcommand_of(*at, word);
        if (named == nullptr) {
            return report_mistake(*at,
                                  subcommands_of(*at).empty()
                                      ? "'" + at->get_name() + "' has no command '" + word + "'"
                                      : unknown_command(*at, word));
        }
        at = named;
    }
    // App::help() would print that of `help`, which is the command that was parsed.
    std::fputs(at->get_formatter()->make_help(at, "", CLI::AppFormatMode::Normal).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : kExitFailed;
}

/// Returns true if the value of the option is the next word.
bool takes_next_word(const CLI::App& root, const CLI::App& command, const std::string& word) {
    const CLI::Option* option = command.get_option_no_throw(word);
    option = option != nullptr ? option : root.get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_max() != 0;
}

/// `hold list` needs none of what `hold` requires: relaxes the commands above the one that the
/// first words name, without options between them.
void relax_outer_commands(CLI::App& app, int argc, const char* const* argv) {
    CLI::App* at = &app;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.starts_with('-')) {
            i += takes_next_word(app, *at, word) ? 1 : 0;
            continue;
        }
        CLI::App* const named = subcommand_of(*at, word);
        if (named == nullptr) {
            return;
        }
        for (CLI::Option* option : at->get_options([](const CLI::Option*) { return true; })) {
            option->required(false);
        }
        at = named;
    }
}

int parse_and_run(CLI::App& app, Frame& frame, const Help& help, int argc,
                  const char* const* argv) {
    try {
        relax_outer_commands(app, argc, argv);
        app.parse(argc, argv);
        if (help.command->parsed()) {
            return print_help(app, help);
        }
    } catch (const CLI::Success& help_or_version) {
        return app.exit(help_or_version);
    } catch (const CLI::ParseError& mistake) {
        const CLI::App& inner = innermost(app);
        return report_mistake(inner, explain_mistake(app, inner, mistake));
    }
    return run_action(innermost(app), frame);
}

/// Returns a function that passes UTF-8 alone to `take`.
std::function<Status(const std::string&)> for_text(std::function<Status(const std::string&)> take) {
    return [take = std::move(take)](const std::string& text) {
        if (!is_utf8(text)) {
            return Status(invalid("expected UTF-8"));
        }
        note_missing_offset(text);
        return take(text);
    };
}

/// A value that `take` refuses is a usage error.
void take_word(const std::string& name, const std::function<Status(const std::string&)>& take,
               const std::string& word) {
    if (const Status taken = take(word); !taken.ok()) {
        throw CLI::ValidationError(name, taken.error().message);
    }
}

/// A positional's name says its type already.
std::string shown_type(const std::string& name, const std::string& type) {
    return name.front() == '-' ? type : "";
}

}  // namespace

std::string joined_words(const std::vector<std::string_view>& words, std::string_view between,
                         std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 == words.size() ? last : between;
        text += words[i];
    }
    return text;
}

Status become_store_owner(const Frame& frame) {
    if (!leaves_root_for(frame.store)) {
        return Status::success();
    }
    for (const NamedFile& file : frame.files) {
        const bool is_stdin = *file.path == "-" && file.use == FileUse::kInput;
        const bool names_file =
            !file.path->empty() && *file.path != "-" && file.path->find("://") == std::string::npos;
        if (is_stdin || names_file) {
            Status held = hold_file(is_stdin ? "/dev/stdin" : *file.path, file.use, frame.store);
            if (!held.ok()) {
                return held;
            }
        }
    }
    return become_owner_of(frame.store);
}

Option Option::required() const {
    option_->required();
    return *this;
}

Option Option::needs(Option other) const {
    option_->needs(other.option_);
    return *this;
}

Option Option::excludes(Option other) const {
    option_->excludes(other.option_);
    return *this;
}

bool Option::is_given() const {
    return !option_->empty();
}

Subcommand Subcommand::add_group(const std::string& name, const std::string& help) const {
    CLI::App& group = *app_->add_subcommand(name, help);
    group.fallthrough();
    group.require_subcommand(1);
    return {group, *frame_};
}

Subcommand Subcommand::add_command(const std::string& name, const std::string& help,
                                   std::function<Status(const Frame&)> run) const {
    CLI::App& command = *app_->add_subcommand(name, help);
    command.fallthrough();
    command.callback([frame = frame_, &command, run = std::move(run)] {
        if (command.get_subcommands().empty()) {
            frame->action = [frame, run] { return run(*frame); };
        }
    });
    return {command, *frame_};
}

Option Subcommand::add(const std::string& name, const std::string& type,
                       std::function<Status(const std::string&)> take,
                       const std::string& help) const {
    return add_bytes(name, type, for_text(std::move(take)), help);
}

Option Subcommand::add_bytes(const std::string& name, const std::string& type,
                             std::function<Status(const std::string&)> take,
                             const std::string& help) const {
    CLI::Option* const option = app_->add_option_function<std::string>(
        name,
        [name, take = std::move(take)](const std::string& text) { take_word(name, take, text); },
        help);
    option->type_name(shown_type(name, type));
    return Option(*option);
}

Option Subcommand::add_repeated(const std::string& name, const std::string& type,
                                std::function<Status(const std::string&)> take,
                                const std::string& help) const {
    CLI::Option* const option = app_->add_option_function<std::vector<std::string>>(
        name,
        [name, take = for_text(std::move(take))](const std::vector<std::string>& words) {
            for (const std::string& word : words) {
                take_word(name, take, word);
            }
        },
        help);
    option->type_name(shown_type(name, type));
    if (name.front() == '-') {
        option->allow_extra_args(false);
    }
    return Option(*option);
}

Option Subcommand::add_flag(const std::string& name, std::function<void()> set,
                            const std::string& help) const {
    return Option(*app_->add_flag_callback(name, std::move(set), help));
}

void Subcommand::keeps_user() const {
    frame_->keepers.push_back(app_);
}

void Subcommand::takes_reason() const {
    constexpr std::size_t kBytesMax = 1000;
    add(
        "--reason", "TEXT",
        [frame = frame_](const std::string& text) -> Status {
            if (text.size() > kBytesMax) {
                return invalid("expected up to 1000 bytes");
            }
            frame->reason = text;
            return Status::success();
        },
        "Reason, for `report changes`");
}

void Subcommand::uses_file(const std::string& path, FileUse use) const {
    frame_->files.push_back({&path, use});
}

void Subcommand::require(std::function<std::string()> missing) const {
    app_->parse_complete_callback([app = app_, missing = std::move(missing)] {
        if (const std::string named = app->get_subcommands().empty() ? missing() : "";
            !named.empty()) {
            throw CLI::RequiredError(named);
        }
    });
}

Option add_file(Subcommand app, const std::string& name, const std::string& type,
                std::string& target, FileUse use, const std::string& help) {
    app.uses_file(target, use);
    return app.add_bytes(name, type, stores(target), help);
}

Option add_texts(Subcommand app, const std::string& name, const std::string& type,
                 std::vector<std::string>& target, const std::string& help) {
    return add_values(
        app, name, type, target, [](const std::string& text) { return Result(text); }, help);
}

Option add_flag(Subcommand app, const std::string& name, bool& target, const std::string& help) {
    return app.add_flag(
        name, [&target] { target = true; }, help);
}

int run(int argc, const char* const* argv,
        void (*declare)(Subcommand app, std::string_view first)) {
    try {
        Frame frame;
        CLI::App app("Signed order events and product batches in, an exact commission ledger out.",
                     "sluice");
        declare_globals(app, frame);
        declare({app, frame}, argc > 1 ? argv[1] : "");
        Help help;
        declare_help(app, help);
        app.require_subcommand(1);
        if (argc < 2) {
            std::fputs(app.help().c_str(), stderr);
            return kExitUsage;
        }
        return parse_and_run(app, frame, help, argc, argv);
    } catch (const std::exception& error) {
        print_error("sluice: ", error.what());
        return kExitFailed;
    }
}

}  // namespace sluice::cli

#include "worker/cli/cli.hpp"

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

namespace sluice::cli {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitWaiting = 3;  // for another actor's approval

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

bool is_positional(const CLI::Option& option) {
    return option.get_positional() && !option.nonpositional();
}

std::string value_name(const CLI::Option& option) {
    return option.get_items_expected_max() == 0 ? "" : " " + option.get_type_name();
}

std::string option_synopsis(const CLI::Option& option) {
    if (is_positional(option)) {
        const std::string name = option.get_name(true);
        return option.get_required() ? " " + name : " [" + name + "]";
    }
    const std::string text = option.get_name() + value_name(option);
    return option.get_required() ? " " + text : " [" + text + "]";
}

bool is_global(const CLI::Option& option) {
    const std::string name = option.get_name();
    return name == "--help" || name == "--version" || name == "--store";
}

/// The innermost subcommand that the line names.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* current = &app;
    while (!current->get_subcommands().empty()) {
        current = current->get_subcommands().front();
    }
    return *current;
}

std::string subcommand_names(const CLI::App& app) {
    std::string names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        names += (names.empty() ? "" : ", ") + sub->get_name();
    }
    return names;
}

/// CLI11's sentence about the mistake, or a clearer one of ours.
std::string explain_mistake(const CLI::App& root, const CLI::App& inner,
                            const CLI::ParseError& mistake) {
    const std::string names = subcommand_names(inner);
    if (names.empty()) {
        return mistake.what();
    }
    const std::vector<std::string> extras = root.remaining(true);
    const std::string word =
        extras.empty() ? "a command is missing" : "'" + extras.front() + "' is not a command";
    return word + "; expected one of: " + names;
}

int report_mistake(const CLI::App& root, const CLI::ParseError& mistake) {
    const CLI::App& inner = innermost(root);
    std::fprintf(stderr, "sluice: %s\nusage: %s\n", explain_mistake(root, inner, mistake).c_str(),
                 synopsis(inner).c_str());
    return kExitUsage;
}

int run_action(const Frame& frame) {
    const Status status = frame.action();
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!status.ok() && status.error().code == ErrorCode::kWaiting) {
        std::fprintf(stderr, "%s\n", status.error().message.c_str());
        return kExitWaiting;
    }
    if (!status.ok()) {
        std::fprintf(stderr, "sluice: %s\n", status.error().message.c_str());
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

int parse_and_run(CLI::App& app, Frame& frame, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
        return app.exit(help_or_version);
    } catch (const CLI::ParseError& mistake) {
        return report_mistake(app, mistake);
    }
    return run_action(frame);
}

}  // namespace

std::string synopsis(const CLI::App& app) {
    std::string line = app.get_name();
    for (const CLI::App* up = app.get_parent(); up != nullptr; up = up->get_parent()) {
        line = up->get_name() + " " + line;
    }
    for (const bool positional : {true, false}) {
        for (const CLI::Option* option : app.get_options()) {
            if (is_positional(*option) == positional && !is_global(*option)) {
                line += option_synopsis(*option);
            }
        }
    }
    return subcommand_names(app).empty() ? line : line + " COMMAND ...";
}

CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& description) {
    CLI::App& group = *parent.add_subcommand(name, description);
    group.fallthrough();
    group.require_subcommand(1);
    return group;
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description) {
    CLI::App& command = *parent.add_subcommand(name, description);
    command.fallthrough();
    return command;
}

int run(int argc, const char* const* argv) {
    try {
        Frame frame;
        CLI::App app("Signed order events and product batches in, an exact commission ledger out.",
                     "sluice");
        declare_globals(app, frame);
        declare_commands(app, frame);
        app.require_subcommand(1);
        if (argc < 2) {
            std::fputs(app.help().c_str(), stderr);
            return kExitUsage;
        }
        return parse_and_run(app, frame, argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sluice: %s\n", error.what());
        return kExitFailed;
    }
}

}  // namespace sluice::cli

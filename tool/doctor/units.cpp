// Doctor: the units of systemd that serve this store.
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/values/texts.hpp"
#include "program/system/process.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

/// The units that the packages install, or that a person copies from share/sluice/systemd.
constexpr std::array<const char*, 5> kUnits{"sluice.service", "sluice-serve.service",
                                            "sluice-creators.service", "sluice-notify.service",
                                            "sluice-registry-sync.timer"};

using Properties = std::map<std::string, std::string, std::less<>>;

/// Asks systemd. Returns nothing if this machine does not run it.
Properties ask(const std::string& unit) {
    Properties properties;
    const auto shown = run_child({"systemctl", "show", "--no-pager", "--property",
                                  "LoadState,UnitFileState,ActiveState,ConditionResult,MainPID,"
                                  "NeedDaemonReload,ExecStart",
                                  unit});
    if (!shown.ok() || shown->status != 0) {
        return properties;
    }
    for (const std::string_view line : split(shown->output, '\n')) {
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos) {
            properties.emplace(line.substr(0, equals), line.substr(equals + 1));
        }
    }
    return properties;
}

/// Returns whether the unit's command names the store. A timer has none, and belongs to the only
/// store.
bool serves(const Properties& unit, const std::string& store) {
    const std::string& command = unit.at("ExecStart");
    return command.empty() || command.find("--store " + store + " ") != std::string::npos;
}

/// Returns whether the process runs a program that was replaced since, as by an upgrade.
bool runs_replaced_program(const std::string& pid) {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/" + pid + "/exe", error);
    return !error && program.string().ends_with(" (deleted)");
}

Finding judge(const std::string& name, const Properties& unit) {
    const std::string& state = unit.at("ActiveState");
    const bool enabled = unit.at("UnitFileState").starts_with("enabled");
    const bool active = state == "active" || state == "activating" || state == "reloading";
    if (unit.at("NeedDaemonReload") == "yes") {
        return {"units", Health::kProblem, name + ": its file changed, and systemd has the old one",
                "systemctl daemon-reload && systemctl try-restart " + name};
    }
    if (state == "failed") {
        return {"units", Health::kProblem, name + " failed",
                "journalctl -u " + name + " says why; then systemctl restart " + name};
    }
    if (enabled && !active && unit.at("ConditionResult") == "no") {
        return {"units", Health::kOk, name + " is enabled, and waits for its first use"};
    }
    if (enabled && !active) {
        return {"units", Health::kProblem, name + " is enabled and does not run",
                "systemctl start " + name};
    }
    if (active && !enabled) {
        return {"units", Health::kNote, name + " runs, and does not start with the machine",
                "systemctl enable " + name};
    }
    if (active && runs_replaced_program(unit.at("MainPID"))) {
        return {"units", Health::kProblem, name + " still runs the program of before an upgrade",
                "systemctl restart " + name};
    }
    return {"units", Health::kOk, name + (active ? " runs" : " is installed and not enabled")};
}

/// Asks for a unit, and returns what it has if it serves this store, with every property set.
Properties unit_of(const std::string& name, const store::StorePaths& paths) {
    Properties unit = ask(name);
    for (const char* const property :
         {"LoadState", "UnitFileState", "ActiveState", "ConditionResult", "MainPID",
          "NeedDaemonReload", "ExecStart"}) {
        unit.try_emplace(property);
    }
    const bool is_this = unit.at("LoadState") == "loaded" && serves(unit, paths.root.string());
    return is_this ? unit : Properties();
}

}  // namespace

std::string start_worker_command(const store::StorePaths& paths) {
    return unit_of("sluice.service", paths).empty() ? sluice_command(paths, "worker")
                                                    : "systemctl start sluice";
}

void check_units(const store::StorePaths& paths, Findings& findings) {
    for (const char* const name : kUnits) {
        if (const Properties unit = unit_of(name, paths); !unit.empty()) {
            findings.push_back(judge(name, unit));
        }
    }
}

}  // namespace sluice::cli

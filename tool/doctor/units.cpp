// Doctor: the units of systemd that serve this store.
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/texts.hpp"
#include "program/system/process.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

/// The units that the packages install, or that a person copies from share/sluice/systemd. The
/// worker's is the first.
constexpr std::array<const char*, 5> kUnits{"sluice.service", "sluice-serve.service",
                                            "sluice-creators.service", "sluice-notify.service",
                                            "sluice-registry-sync.timer"};

using Properties = std::map<std::string, std::string, std::less<>>;

constexpr std::array<const char*, 9> kProperties{
    "Id",          "LoadState",        "UnitFileState",
    "ActiveState", "ConditionResult",  "ConditionTimestampMonotonic",
    "MainPID",     "NeedDaemonReload", "ExecStart"};

/// Parses what `systemctl show` prints of units: lines `Property=value`, and between two units an
/// empty line. Every property of a unit is set.
std::vector<Properties> parse_units(std::string_view shown) {
    std::vector<Properties> units;
    bool is_new = true;
    for (const std::string_view line : split(shown, '\n')) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            is_new = true;
            continue;
        }
        if (std::exchange(is_new, false)) {
            units.emplace_back();
        }
        units.back().emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    for (Properties& unit : units) {
        for (const char* const property : kProperties) {
            unit.try_emplace(property);
        }
    }
    return units;
}

/// Asks systemd once for all of them, because each `systemctl` is a process. Returns nothing if
/// this machine does not run it.
std::vector<Properties> ask(std::span<const char* const> names) {
    std::vector<std::string> command{"systemctl", "show", "--no-pager", "--property",
                                     joined(kProperties, ",")};
    command.insert(command.end(), names.begin(), names.end());
    const auto shown = run_child(command);
    return shown.ok() && shown->status == 0 ? parse_units(shown->output)
                                            : std::vector<Properties>();
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
    // The result is "no", and the time 0, also for a unit that was enabled and never started.
    if (enabled && !active && unit.at("ConditionResult") == "no" &&
        unit.at("ConditionTimestampMonotonic") != "0") {
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

/// Returns those of the units that serve this store.
std::vector<Properties> units_of(std::span<const char* const> names,
                                 const store::StorePaths& paths) {
    std::vector<Properties> units = ask(names);
    std::erase_if(units, [&](const Properties& unit) {
        return unit.at("LoadState") != "loaded" || !serves(unit, paths.root.string());
    });
    return units;
}

}  // namespace

std::string start_worker_command(const store::StorePaths& paths) {
    return units_of(std::span(kUnits).first(1), paths).empty() ? sluice_command(paths, "worker")
                                                               : "systemctl start sluice";
}

void check_units(const store::StorePaths& paths, Findings& findings) {
    for (const Properties& unit : units_of(kUnits, paths)) {
        findings.push_back(judge(unit.at("Id"), unit));
    }
}

}  // namespace sluice::cli

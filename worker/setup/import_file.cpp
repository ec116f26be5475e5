#include "worker/setup/import_file.hpp"

#include "worker/cli/cli_values.hpp"
#include "worker/setup/program_apply.hpp"

namespace sluice::cli {

void add_import(Subcommand app, ImportOptions& target) {
    add_text(app, "FILE", "", target.file, "FILE.csv; all of it is taken, or nothing").required();
    add_reach(app, target.reach);
    add_dry_run(app, target.dry_run);
    add_command_options(app, target.submit, false);
    add_no_wait(app, target.submit.no_wait);
}

/// A rule that refuses a row says `line N: ...`; this puts the file's name in front of it.
Status submit_import(const Frame& frame, const ImportOptions& options, const Command& command) {
    Status done = submit_or_try(frame, command, options.submit, options.dry_run);
    constexpr std::string_view kLine = "line ";
    if (done.ok() || !std::string_view(done.error().message).starts_with(kLine)) {
        return done;
    }
    return Error{done.error().code, options.file + ":" + done.error().message.substr(kLine.size())};
}

Status take_time(const std::string& column, const std::string& text, std::optional<Timestamp>& at) {
    if (text.empty()) {
        return Status::success();
    }
    const auto parsed = parse_time(text);
    if (!parsed.ok()) {
        return Error{ErrorCode::kInvalid, column + ": " + parsed.error().message};
    }
    at = parsed.value();
    return Status::success();
}

Status take_text(const std::string& column, const std::string& text,
                 std::optional<std::string>& taken) {
    if (text.size() > kWireIdBytesMax) {
        return Error{ErrorCode::kInvalid, column + ": expected at most 1024 bytes"};
    }
    if (!text.empty()) {
        taken = text;
    }
    return Status::success();
}

}  // namespace sluice::cli

// sluice feed verify

#include <cstdio>
#include <string_view>

#include "core/exports/feed_check.hpp"
#include "core/json/document.hpp"
#include "core/protocol/signature.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "program/system/named_file.hpp"

namespace sluice::cli {
namespace {

struct VerifyCommand {
    std::string file;
    Format format = Format::kTable;
};

/// Checks a change, or the changes of an answer of /v1/changes.
Status check_line(std::string_view line, JsonDocument& json, exports::FeedCheck& check) {
    if (!json.parse(line)) {
        return conflict("not JSON: " + std::string(json.error()));
    }
    simdjson::dom::array changes;
    if (json.root()["changes"].get(changes) != simdjson::SUCCESS) {
        return check.add(json.root());
    }
    for (const simdjson::dom::element change : changes) {
        if (Status added = check.add(change); !added) {
            return added;
        }
    }
    return Status::success();
}

void print(const VerifyCommand& command, const exports::FeedCheck& check) {
    list_all(command.format, left("node") + right("first last changes masked cut") + left("hash"),
             check.chains(), [](const auto& one) -> Row {
                 const auto& [node, chain] = one;
                 return {node,         chain.first, chain.head.entries,     chain.changes,
                         chain.masked, chain.cut,   to_hex(chain.head.hash)};
             });
}

Status run_verify(const Frame& /*frame*/, const VerifyCommand& command) {
    auto opened = open_input(command.file);
    if (!opened.ok()) {
        return opened.error();
    }
    UniqueFile file(::fdopen(opened->get(), "re"));
    if (!file) {
        return Error{ErrorCode::kIo, command.file + ": cannot be read"};
    }
    static_cast<void>(opened->release());
    FileLines lines(file.get());
    JsonDocument json;
    exports::FeedCheck check;
    for (std::string_view line; lines.next(line);) {
        if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) {
            continue;
        }
        if (Status proved = check_line(line, json, check); !proved) {
            return Error{proved.error().code, command.file + ": line " +
                                                  std::to_string(lines.number()) + ": " +
                                                  proved.error().message};
        }
    }
    if (lines.failed()) {
        return Error{ErrorCode::kIo, command.file + ": cannot be read"};
    }
    print(command, check);
    return Status::success();
}

}  // namespace

void declare_feed(Subcommand app) {
    const Subcommand group = app.add_group("feed", "Prove changes that a program followed");
    auto [verify, command] =
        add_command(group, "verify", "Recompute the hash of every change of a file", run_verify);
    add_file(verify, "FILE", "FILE", command.file, FileUse::kInput,
             "Changes of /v1/changes as NDJSON: a change or an answer in each line")
        .required();
    add_format(verify, command.format);
}

}  // namespace sluice::cli

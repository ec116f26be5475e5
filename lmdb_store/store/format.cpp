#include "lmdb_store/store/format.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "sluice store\n";
constexpr std::size_t kFormatBytesMax = 4096;

Error damaged(const fs::path& path, const char* what) {
    return {ErrorCode::kCorrupt, "\"" + path.string() + "\" is damaged (" + what +
                                     "): restore it from a backup of this store"};
}

/// The format file is written last, so a folder that has the rest of a store is not complete.
/// `sluice init` takes a new or empty folder only.
Error no_format(const StorePaths& paths) {
    std::error_code ignored;
    const bool has_more = ::access(paths.registry.c_str(), F_OK) == 0;
    const bool is_new = !fs::exists(paths.root, ignored) || fs::is_empty(paths.root, ignored);
    return {
        ErrorCode::kNotFound,
        "\"" + paths.root.string() +
            (has_more ? "\" is not a complete store (no file \"format\"): if \"sluice init\" or "
                        "\"sluice restore\" was interrupted, move the folder away and run "
                        "that command again; else put the file back from a backup"
             : is_new ? "\" is not a store (no file \"format\"): create one with \"sluice init\""
                      : "\" is not a store (no file \"format\"): name another folder, or restore "
                        "this one from its backup")};
}

/// The numbers of the file, in its order.
constexpr std::array<std::pair<std::string_view, std::uint32_t StoreFormat::*>, 4> kNumbers{{
    {"format", &StoreFormat::format},
    {"min_reader", &StoreFormat::min_reader},
    {"min_writer", &StoreFormat::min_writer},
    {"max_accounts", &StoreFormat::max_accounts},
}};

bool parse_number(std::string_view text, std::uint32_t& number) noexcept {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end;
}

/// Parses a `name value` line. Ignores unknown names, which a newer release wrote; min_reader says
/// whether they matter.
bool read_line(std::string_view line, StoreFormat& format) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) {
        return false;
    }
    const std::string_view name = line.substr(0, space);
    const std::string_view value = line.substr(space + 1);
    if (name == "uuid") {
        format.uuid = value;
        return value.size() == 36;
    }
    const auto known =
        std::ranges::find_if(kNumbers, [&](const auto& number) { return number.first == name; });
    return known == kNumbers.end() || parse_number(value, format.*known->second);
}

std::optional<StoreFormat> parse_format(std::string_view text) {
    if (text.substr(0, kFirstLine.size()) != kFirstLine || text.back() != '\n') {
        return std::nullopt;
    }
    text.remove_prefix(kFirstLine.size());
    StoreFormat format{"", 0, 0, 0, 0};
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (!read_line(text.substr(0, end), format)) {
            return std::nullopt;
        }
        text.remove_prefix(end + 1);
    }
    const bool complete =
        !format.uuid.empty() && std::ranges::all_of(kNumbers, [&](const auto& number) {
            return format.*number.second != 0;
        });
    return complete ? std::optional(format) : std::nullopt;
}

std::string print_format(const StoreFormat& format) {
    std::string text = std::string(kFirstLine) + "uuid " + format.uuid + "\n";
    for (const auto& [name, number] : kNumbers) {
        text += std::string(name) + " " + std::to_string(format.*number) + "\n";
    }
    return text;
}

}  // namespace

StorePaths::StorePaths(fs::path store_root)
    : root(std::move(store_root)),
      format(root / "format"),
      master_key(root / "master.key"),
      command_key(root / "command.key"),
      registry(root / "registry"),
      queue(root / "queue"),
      bulk(queue / "bulk"),
      control(queue / "control"),
      ledger(root / "ledger"),
      archive(root / "archive"),
      exports(root / "exports"),
      snapshots(root / "snapshots"),
      lanes(queue / "lanes"),
      lane_cells(lanes / "cells"),
      links(root / "links"),
      worker_lock(root / "worker.lock") {}

Result<StoreFormat> read_store_format(const StorePaths& paths) {
    Result<std::string> text = read_plain_file(paths.format, kFormatBytesMax);
    if (!text) {
        if (text.error().code == ErrorCode::kNotFound) {
            return no_format(paths);
        }
        return text.error();
    }
    if (text->empty()) {
        return damaged(paths.format, "empty");
    }
    std::optional<StoreFormat> format = parse_format(*text);
    if (!format) {
        return damaged(paths.format, "not what sluice wrote");
    }
    if (format->min_reader > kStoreFormat) {
        return unsupported("\"" + paths.root.string() + "\" has format " +
                           std::to_string(format->format) + ", this release reads up to " +
                           std::to_string(kStoreFormat) +
                           ": use a newer release of sluice, because a downgrade to this one is no "
                           "longer possible");
    }
    if (format->format < kStoreFormat) {
        return Error{
            ErrorCode::kUnsupported,
            "\"" + paths.root.string() + "\" has format " + std::to_string(format->format) +
                ", which only a pre-release of sluice read: move it away, and create a new "
                "store with \"sluice init\""};
    }
    return *std::move(format);
}

Status write_store_format(const StorePaths& paths, const StoreFormat& format,
                          const FileOwner& new_owner) {
    FileOwner owner = new_owner;
    struct stat info {};
    if (::stat(paths.format.c_str(), &info) == 0) {
        owner = {info.st_uid, info.st_gid, info.st_mode & 07777U};
    } else if (errno != ENOENT) {
        return system_error(errno, "inspect", paths.format);
    }
    return replace_file(paths.format, print_format(format), owner);
}

Status check_writable_format(const StoreFormat& format) {
    if (format.min_writer > kStoreFormat) {
        return unsupported("the store has format " + std::to_string(format.format) +
                           ", which this release can read but not write: use a newer release of "
                           "sluice, because a downgrade to this one is no longer possible");
    }
    return Status::success();
}

Status set_max_accounts(const StorePaths& paths, std::uint32_t max_accounts) {
    Result<StoreFormat> format = read_store_format(paths);
    if (Status ok = format ? check_writable_format(*format) : Status(format.error()); !ok) {
        return ok;
    }
    if (max_accounts > kAccountsMaxLimit) {
        return invalid("--max-accounts may be " + std::to_string(kAccountsMaxLimit) + " at most");
    }
    if (max_accounts < format->max_accounts) {
        return invalid("max_accounts is " + std::to_string(format->max_accounts) +
                       " and can only be raised: accounts keep their places");
    }
    format->max_accounts = max_accounts;
    return write_store_format(paths, *format);
}

}  // namespace sluice::store

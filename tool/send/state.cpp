#include "tool/send/state.hpp"

#include <unistd.h>

#include "core/values/assert.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kStateBytesMax = 64u << 20;

Digest256 line_digest(const SendRecord& record) {
    return sha256(std::to_string(record.line) + ":" + record.text);
}

Digest256 chained(const Digest256& chain, const Digest256& next) {
    return sha256(to_hex(chain) + to_hex(next));
}

/// Reads members of the stored object; `ok` turns false at the first that is absent or wrong.
struct StoredState {
    simdjson::dom::element object;
    bool ok = true;

    template <class Value>
    Value member(const char* name) {
        Value value{};
        ok = object[name].get(value) == simdjson::SUCCESS && ok;
        return value;
    }
    std::string text(const char* name) { return std::string(member<std::string_view>(name)); }
    Digest256 digest(std::string_view hex) {
        const auto parsed = parse_hex_digest(hex, HexCase::kLowerOnly);
        ok = parsed.has_value() && ok;
        return parsed.value_or(Digest256{});
    }
    std::uint64_t line(std::string_view digits) {
        const auto number = parse_digits(digits);
        ok = number.has_value() && ok;
        return number.value_or(0);
    }
};

}  // namespace

Result<SendState> SendState::load(const std::string& path, const SendTarget& target) {
    SendState fresh;
    fresh.path_ = path;
    fresh.target_ = target;
    fresh.run_id_ = random_hex(16);
    if (::access(path.c_str(), F_OK) != 0) {
        return fresh;
    }
    auto text = read_file(path, kStateBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    SendState state;
    state.path_ = path;
    if (JsonDocument json; !json.parse(*text) || !state.read(json.root())) {
        return Error{ErrorCode::kCorrupt,
                     path + ": not a state file of this program; remove it to start over"};
    }
    if (state.target_ == target) {
        return state;
    }
    if (state.is_new()) {
        return fresh;
    }
    return conflict(path +
                    ": an unfinished run to another address, shop or "
                    "topic; finish it, or remove this file to start over");
}

bool SendState::read(simdjson::dom::element object) {
    StoredState stored{object};
    target_ = {stored.text("url"), stored.text("shop"), stored.text("topic")};
    run_id_ = stored.text("run");
    upto_ = stored.member<std::uint64_t>("upto");
    chain_ = stored.digest(stored.member<std::string_view>("digest"));
    simdjson::dom::object beyond;
    stored.ok = object["beyond"].get(beyond) == simdjson::SUCCESS && stored.ok;
    if (!stored.ok) {
        return false;
    }
    for (const auto [line, digest] : beyond) {
        std::string_view hex;
        stored.ok = digest.get(hex) == simdjson::SUCCESS && stored.ok;
        beyond_.emplace(stored.line(line), stored.digest(hex));
    }
    return stored.ok;
}

Status SendState::verify(RecordFile& file) const {
    const std::uint64_t last = beyond_.empty() ? upto_ : beyond_.rbegin()->first;
    const Error changed{ErrorCode::kConflict,
                        path_ +
                            ": lines that were sent have changed since; remove this file to "
                            "start over"};
    Digest256 chain{};
    std::size_t found = 0;
    std::uint64_t line = 0;
    SendRecord record;
    while (line < last) {
        auto got = file.next(record);
        if (!got.ok()) {
            return got.error();
        }
        if (!got.value()) {
            return changed;
        }
        line = record.line;
        const Digest256 digest = line_digest(record);
        if (line <= upto_) {
            chain = chained(chain, digest);
        } else if (const auto known = beyond_.find(line); known != beyond_.end()) {
            found += known->second == digest ? 1u : 0u;
        }
    }
    return chain == chain_ && found == beyond_.size() ? Status::success() : Status(changed);
}

bool SendState::visit(const SendRecord& record) {
    if (record.line <= upto_) {
        return true;
    }
    const bool settled = beyond_.erase(record.line) == 1;
    visited_[record.line] = {line_digest(record), settled};
    advance();
    return settled;
}

void SendState::settle(std::uint64_t line) {
    const auto found = visited_.find(line);
    SLUICE_ASSERT(found != visited_.end());
    found->second.settled = true;
    advance();
}

void SendState::advance() {
    while (!visited_.empty() && visited_.begin()->second.settled) {
        chain_ = chained(chain_, visited_.begin()->second.digest);
        upto_ = visited_.begin()->first;
        visited_.erase(visited_.begin());
    }
}

Status SendState::save() const {
    Json beyond = Json::object();
    for (const auto& [line, digest] : beyond_) {
        beyond[std::to_string(line)] = to_hex(digest);
    }
    for (const auto& [line, visited] : visited_) {
        if (visited.settled) {
            beyond[std::to_string(line)] = to_hex(visited.digest);
        }
    }
    const Json state{{"url", target_.url},
                     {"shop", target_.shop},
                     {"topic", target_.topic},
                     {"run", run_id_},
                     {"upto", upto_},
                     {"digest", to_hex(chain_)},
                     {"beyond", std::move(beyond)}};
    return replace_file(path_, state.compact() + "\n");
}

void SendState::remove() const noexcept {
    ::unlink(path_.c_str());
}

}  // namespace sluice::cli

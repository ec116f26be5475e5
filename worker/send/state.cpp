#include "worker/send/state.hpp"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/values/assert.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kStateBytesMax = 64u << 20;

Digest256 line_digest(const SendRecord& record) {
    return sha256(std::to_string(record.line) + ":" + record.text);
}

Digest256 chained(const Digest256& chain, const Digest256& next) {
    return sha256(to_hex(chain) + to_hex(next));
}

Digest256 digest_of(const json& hex) {
    const auto digest = parse_hex_digest(hex.get_ref<const std::string&>(), HexCase::kLowerOnly);
    return digest.value();
}

std::string random_run_id() {
    std::array<std::uint8_t, 16> bytes{};
    fill_random(bytes);
    return to_hex(bytes);
}

}  // namespace

Result<SendState> SendState::load(const std::string& path, const SendTarget& target) {
    SendState fresh;
    fresh.path_ = path;
    fresh.target_ = target;
    fresh.run_id_ = random_run_id();
    if (::access(path.c_str(), F_OK) != 0) {
        return fresh;
    }
    auto text = read_file(path, kStateBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    SendState state;
    state.path_ = path;
    try {
        const json stored = json::parse(text.value());
        state.target_ = {stored.at("url"), stored.at("shop"), stored.at("topic")};
        state.run_id_ = stored.at("run");
        state.upto_ = stored.at("upto");
        state.chain_ = digest_of(stored.at("digest"));
        for (const auto& [line, digest] : stored.at("beyond").items()) {
            state.beyond_.emplace(std::stoull(line), digest_of(digest));
        }
    } catch (const std::exception&) {
        return Error{ErrorCode::kCorrupt,
                     path + ": not a state file of this program; remove it to start over"};
    }
    if (state.target_ == target) {
        return state;
    }
    if (state.is_new()) {
        return fresh;
    }
    return Error{ErrorCode::kConflict, path +
                                           ": an unfinished run to another address, shop or "
                                           "topic; finish it, or remove this file to start over"};
}

Status SendState::verify(RecordSource& file) const {
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
    json beyond = json::object();
    for (const auto& [line, digest] : beyond_) {
        beyond[std::to_string(line)] = to_hex(digest);
    }
    for (const auto& [line, visited] : visited_) {
        if (visited.settled) {
            beyond[std::to_string(line)] = to_hex(visited.digest);
        }
    }
    const json state = {{"url", target_.url},
                        {"shop", target_.shop},
                        {"topic", target_.topic},
                        {"run", run_id_},
                        {"upto", upto_},
                        {"digest", to_hex(chain_)},
                        {"beyond", std::move(beyond)}};
    return replace_file(path_, state.dump() + "\n");
}

void SendState::remove() const noexcept {
    ::unlink(path_.c_str());
}

}  // namespace sluice::cli

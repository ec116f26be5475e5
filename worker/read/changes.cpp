// The change feed (FE1 to FE6).
#include "core/reports/changes.hpp"

#include <algorithm>
#include <cstdlib>

#include "worker/read/cursor.hpp"
#include "worker/read/lists.hpp"
#include "worker/read/masks.hpp"

namespace sluice::serve {
namespace {

using reports::ChainPlace;
using reports::FeedPlace;
using reports::Json;

/// A cursor's key has three texts for each node: its UUID, the change number, and the first bytes
/// of that change's hash in hexadecimal.
constexpr std::size_t kTexts = 3;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string hex_of(const ChainPlace& place) {
    std::string hex;
    for (const std::uint8_t byte : place.hash) {
        hex += kHexDigits[byte >> 4U];
        hex += kHexDigits[byte & 15U];
    }
    return hex;
}

std::string key_of(const FeedPlace& place) {
    std::vector<std::string> texts;
    for (const auto& [node, at] : place) {
        texts.insert(texts.end(), {node, std::to_string(at.change), hex_of(at)});
    }
    return join_key(texts);
}

/// Requires: key_of() made the key, which the cursor's digest proves.
FeedPlace place_of(const std::string& key) {
    FeedPlace place;
    std::vector<std::string> texts = split_key(key).value_or(std::vector<std::string>());
    for (std::size_t i = 0; i + kTexts <= texts.size(); i += kTexts) {
        ChainPlace& at = place[texts[i]];
        at.change = std::strtoull(texts[i + 1].c_str(), nullptr, 10);
        for (std::size_t byte = 0; byte < at.hash.size(); ++byte) {
            const std::string digits = texts[i + 2].substr(2 * byte, 2);
            at.hash[byte] = static_cast<std::uint8_t>(std::strtoul(digits.c_str(), nullptr, 16));
        }
    }
    return place;
}

}  // namespace

Answer list_changes(Read& read) {
    constexpr std::size_t kBytes = kAnswerBytesMax / 2;  // sizes of JSON are estimates
    const reports::Changes found = reports::changes_after(
        read.ledger, read.grant.account, read.after ? place_of(*read.after) : FeedPlace{},
        read.limit(), kBytes);
    if (found.diverged) {
        refuse("cursor_diverged", "begin again without `after`");
    }
    reports::ChangeRows rows(read.ledger, read.grant.account, masked_payee);
    Answer answer;
    answer.body = "{\"changes\":[";
    for (const reports::Change& change : found.changes) {
        answer.body += &change == found.changes.data() ? "" : ",";
        answer.body += rows.json(change).compact();
    }
    answer.body += "],\"next\":" + reports::json_quoted(read.cursor_of(key_of(found.next))) +
                   ",\"more\":" + (found.more ? "true" : "false") + "}";
    if (found.changes.empty()) {
        answer.waits_behind = found.entries;
    }
    return answer;
}

}  // namespace sluice::serve

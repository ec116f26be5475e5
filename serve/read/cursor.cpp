#include "serve/read/cursor.hpp"

#include <simdjson.h>

#include "core/protocol/signature.hpp"
#include "core/values/base64.hpp"
#include "program/cli/cli_values.hpp"

namespace sluice::serve {
namespace {

using lists::ChainPlace;
using lists::FeedPlace;

constexpr std::size_t kDigestBytes = 8;
std::string digest_of(std::string_view query, std::string_view key) {
    const Digest256 digest = sha256("sluice cursor " + std::to_string(query.size()) + ":" +
                                    std::string(query) + std::string(key));
    return {reinterpret_cast<const char*>(digest.data()), kDigestBytes};
}

/// Returns whether all bytes are of texts that a ledger may hold.
bool is_text(std::string_view key) {
    return simdjson::validate_utf8(key) && key.find('\0') == std::string_view::npos;
}

/// Returns the `query` of make_cursor() for /v1/changes of an account.
std::string feed_query(AccountNumber account) {
    return "changes?account=" + std::to_string(account.value);
}

/// Texts of a node in a key.
constexpr std::size_t kTextsOfPlace = 3;

}  // namespace

std::string make_cursor(std::string_view query, std::string_view key) {
    return to_base64url(digest_of(query, key) + std::string(key));
}

std::optional<std::string> open_cursor(std::string_view query, std::string_view cursor) {
    const auto bytes = from_base64url(cursor);
    if (!bytes || bytes->size() < kDigestBytes) {
        return std::nullopt;
    }
    std::string key = bytes->substr(kDigestBytes);
    const bool is_ours = digest_of(query, key) == bytes->substr(0, kDigestBytes);
    return is_ours && is_text(key) ? std::optional(std::move(key)) : std::nullopt;
}

std::string join_key(const std::vector<std::string>& parts) {
    std::string key;
    for (const std::string& part : parts) {
        key += std::to_string(part.size()) + ":" + part;
    }
    return key;
}

std::optional<std::vector<std::string>> split_key(std::string_view key) {
    std::vector<std::string> found;
    while (!key.empty()) {
        std::size_t size = 0, at = 0;
        for (; at < key.size() && key[at] >= '0' && key[at] <= '9' && size <= key.size(); ++at) {
            size = size * 10 + static_cast<std::size_t>(key[at] - '0');
        }
        if (at == 0 || at >= key.size() || key[at] != ':' || key.size() - at - 1 < size) {
            return std::nullopt;
        }
        if (!is_text(key.substr(at + 1, size))) {
            return std::nullopt;
        }
        found.emplace_back(key.substr(at + 1, size));
        key.remove_prefix(at + 1 + size);
    }
    return found;
}

std::optional<std::vector<std::string>> split_key(std::string_view key, std::size_t parts) {
    auto found = split_key(key);
    return found && found->size() == parts ? std::move(found) : std::nullopt;
}

std::string feed_key(const FeedPlace& place) {
    std::vector<std::string> texts;
    for (const auto& [node, at] : place) {
        texts.insert(texts.end(), {node, std::to_string(at.change), to_hex(at.hash)});
    }
    return join_key(texts);
}

std::optional<FeedPlace> feed_place(const std::string& key) {
    const auto texts = split_key(key);
    if (!texts || texts->size() % kTextsOfPlace != 0) {
        return std::nullopt;
    }
    FeedPlace place;
    for (std::size_t i = 0; i < texts->size(); i += kTextsOfPlace) {
        ChainPlace& at = place[(*texts)[i]];
        const auto change = cli::parse_digits((*texts)[i + 1]);
        if (!change || !read_hex((*texts)[i + 2], at.hash, HexCase::kLowerOnly)) {
            return std::nullopt;
        }
        at.change = *change;
    }
    return place;
}

std::string feed_cursor(AccountNumber account, const FeedPlace& place) {
    return make_cursor(feed_query(account), feed_key(place));
}

std::optional<FeedPlace> open_feed_cursor(AccountNumber account, std::string_view cursor) {
    const auto key = open_cursor(feed_query(account), cursor);
    return key ? feed_place(*key) : std::nullopt;
}

}  // namespace sluice::serve

// Commands of people: everything that changes the ledger and is neither an order nor a product.
//
// A command travels through the queue like an event: its topic names it, its body is the JSON that
// encode_request() writes, its actor (who ran it) is in the record's metadata, as are the account
// and the shop that it names. Decoding is strict: these bodies are written by this program only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/commands/imports.hpp"
#include "core/commands/money.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/result.hpp"

namespace sluice {

using Command =
    std::variant<ProgramApply, CreatorImport, CreatorRemove, ClickImport, PayoutClose, Adjust,
                 DeadReplay, Forget, PayoutMove, Approve, Withdraw, Hold, Release, Reject,
                 Attribute, Detach, Credit, Reverse, AnomalyAck, OrderReset, PeriodClose,
                 CreatorSet, CreatorRename, OpeningImport, WriteOff>;

/// A command with what every command has (rule K1).
struct Request {
    std::string key;     ///< Up to 128 id characters; empty means no key.
    std::string reason;  ///< Up to 1000 bytes; some commands require one.
    Command command;
    /// Digest that the key compares, if the body was edited after it was sent (see Pseudonyms).
    std::optional<Digest256> content{};
};
inline constexpr std::size_t kReasonBytesMax = 1000;

[[nodiscard]] Topic topic_of(const Command& command) noexcept;
/// Returns the digest of the request that a key names: SHA-256 of topic, account, shop and the
/// request without its key; or the request's `content`.
[[nodiscard]] Digest256 content_of(const Request& request, Topic topic, AccountNumber account,
                                   ShopNumber shop);
/// JSON, one line.
[[nodiscard]] std::string encode_request(const Request& request);
/// Returns kInvalid for a body that encode_request() does not write for this topic. Requires:
/// is_command(topic).
/// @param pseudonyms  kRead for an input that was edited after it was stored.
[[nodiscard]] Result<Request> decode_request(Topic topic, std::string_view body,
                                             Pseudonyms pseudonyms = Pseudonyms::kRefused);

}  // namespace sluice

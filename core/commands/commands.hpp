// Commands of people: everything that changes the ledger and is neither an order nor a product.
//
// A command travels through the queue like an event: its topic names it, its body is the JSON that
// encode_request() writes, its actor (who ran it) is in the record's metadata, as are the account
// and the shop that it names. Decoding is strict: these bodies are written by this program only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/commands/imports.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/name_table.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

// ---- Money, and which creator gets it (A3, H1 to H3, O5, P1 to P6, S2) --------------------------

/// Closes payouts of the account in the record's metadata.
struct PayoutClose {
    Timestamp until;                    ///< Not after the command's time of receipt.
    std::vector<ProgramId> programs{};  ///< Empty means all of the account.
    std::vector<CreatorId> creators{};  ///< Empty means all.
    std::vector<CreatorId> excluded{};
    bool ignore_minimum = false;
    std::string expect{};  ///< Digest of a preview, hexadecimal; empty means none.
};

enum class PayoutVerb : std::uint8_t {
    kSent = 1,
    kSettle = 2,
    kVoid = 3,
    kFailed = 4,
    kReturned = 5,
    kRepoint = 6,  ///< To the payee that the creator has now.
};
template <>
inline constexpr NameTable<PayoutVerb, 6> kNamesOf<PayoutVerb>{{
    {PayoutVerb::kSent, "sent"},
    {PayoutVerb::kSettle, "settle"},
    {PayoutVerb::kVoid, "void"},
    {PayoutVerb::kFailed, "failed"},
    {PayoutVerb::kReturned, "returned"},
    {PayoutVerb::kRepoint, "repoint"},
}};

/// Moves payouts of the account in the record's metadata, all or none.
struct PayoutMove {
    PayoutVerb verb = PayoutVerb::kSent;
    std::vector<std::string> ids;  ///< Payouts, or payout runs for all their payouts.
    std::string bank_ref{};
    std::optional<Timestamp> paid_at{};
    std::string message{};  ///< kSent: id of the exported message, or empty.
    std::string sha256{};   ///< SHA-256 of its bytes, hexadecimal.
    std::string payees{};   ///< SHA-256 of the file of bank accounts; with `message`.
    /// payouts_digest() of the payouts that move, hexadecimal. Set with `message`; else empty means
    /// whichever can.
    std::string expect{};
};

struct Approve {
    std::string id;           ///< A payout, a payout run, or a pending command.
    std::string expect{};     ///< ApprovalSubject::digest, hexadecimal; empty: none.
    std::string signature{};  ///< `ssh-keygen`'s, for approval_statement(); may be empty.
    /// SHA-256 of the file of bank accounts, hexadecimal, for payouts; may be empty.
    std::string payees{};
};
struct Withdraw {
    std::string id;
};

/// The order (its shop is in the record's metadata), or a creator of the account.
struct HoldTarget {
    std::optional<OrderId> order;
    CreatorId creator;  ///< Empty if `order` is set.
    ProgramId program;  ///< Empty means all.
};
struct Hold {
    HoldTarget target;
};
enum class ReleaseOf : std::uint8_t { kWhatThereIs = 0, kHold = 1, kReject = 2 };
struct Release {
    HoldTarget target;
    ReleaseOf of = ReleaseOf::kWhatThereIs;
};
struct Reject {
    OrderId order;
};

/// Orders of the account that carry a discount code. The writer of the command finds them.
struct CodeOrders {
    struct One {
        ShopNumber shop;
        OrderId order;
    };
    std::string code;
    std::vector<One> orders;
    /// Time of the sale that the writer searched, [from, until). The key of a command compares it
    /// in place of the orders, which are others once it is applied (K1).
    std::optional<Timestamp> from{}, until{};
};
inline constexpr std::size_t kCodeOrdersMax = 10'000;

/// Attributes an order, or those of `orders`.
struct Attribute {
    OrderId order;
    CreatorId creator;
    ProgramId program;
    bool replace = false;
    std::optional<CodeOrders> orders{};
};
/// Detaches an order, every order that the command `cause` attributed, or those of `orders` that
/// the code attributed.
struct Detach {
    std::optional<OrderId> order;
    std::string cause;
    bool retry = false;
    std::optional<CodeOrders> orders{};
};

/// The shop and its account are in the record's metadata, as for every command on an order.
struct Adjust {
    OrderId order;
    Decimal amount;  ///< Signed, not 0, no more digits than the order's currency has.
};
/// A commission without a position. An order that it names must not be stored yet.
struct Credit {
    CreatorId creator;
    ProgramId program;
    Money amount;
    std::optional<OrderId> order{};
    std::optional<Timestamp> sale_at{};  ///< Default: receipt.
};
/// Balances that an earlier system owed at an instant. Orders of the programs from before it earn
/// nothing. All or nothing; `line` is the row's line in the file.
struct OpeningImport {
    struct Row {
        std::uint32_t line = 0;
        CreatorId creator;
        ProgramId program;
        Money amount;  ///< Signed, not 0.
    };
    Timestamp at;
    std::vector<Row> rows;
};
/// Gives up what a creator owes: an amount up to the negative balance.
struct WriteOff {
    CreatorId creator;
    ProgramId program;
    std::optional<Money>
        amount{};  ///< Above 0; nullopt means the whole balance when it is applied.
    std::optional<Currency> currency{};  ///< Names the whole balance, if there are several.
};
struct Reverse {
    /// Command id of an adjust, credit or write-off, an opening balance or an import of them.
    std::string id;
};

struct AnomalyAck {
    OrderId order;
    std::string kind;
};
struct OrderReset {
    OrderId order;
    std::optional<Timestamp> version;
};
struct PeriodClose {
    Timestamp until;
    bool allow_late = false;
};

/// Inputs that the queue should have and has not are lost, and the worker continues after them
/// (controls K14). Its own number is `first`, and it stands for all of them.
struct AcceptGap {
    SequenceNumber first, last;
    /// Another actor, who asked for it: needed if a policy has approvals. Nothing can wait in the
    /// queue meanwhile.
    std::string asked_by{};
};
/// The last number that a queue may reach. Ledgers store numbers with a sign.
inline constexpr std::uint64_t kSequenceMax = (std::uint64_t{1} << 62) - 1;

// ---- All commands -------------------------------------------------------------------------------

using Command = std::variant<ProgramApply, CreatorImport, CreatorRemove, ClickImport, PayoutClose,
                             Adjust, DeadReplay, Forget, PayoutMove, Approve, Withdraw, Hold,
                             Release, Reject, Attribute, Detach, Credit, Reverse, AnomalyAck,
                             OrderReset, PeriodClose, CreatorSet, CreatorRename, OpeningImport,
                             WriteOff, AcceptGap, DeadDiscard, LinkSet>;

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
/// Returns the words of a command as people type them: `program apply`.
[[nodiscard]] std::string command_words(Topic topic);
/// Returns the digest of the request that a key names: SHA-256 of topic, account, shop and the
/// request without its key; or the request's `content`.
[[nodiscard]] Digest256 content_of(const Request& request, Topic topic, AccountNumber account,
                                   ShopNumber shop);
/// JSON, one line.
[[nodiscard]] std::string encode_request(const Request& request);
/// Returns kInvalid for a request that cannot be read again: a text of it is not UTF-8.
[[nodiscard]] Status check_request(const Request& request);
/// Returns kInvalid for a body that encode_request() does not write for this topic. Requires:
/// is_command(topic).
/// @param pseudonyms  kRead for an input that was edited after it was stored.
[[nodiscard]] Result<Request> decode_request(Topic topic, std::string_view body,
                                             Pseudonyms pseudonyms = Pseudonyms::kRefused);

}  // namespace sluice

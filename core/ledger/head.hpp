// Rows that say how far the ledger is: head, chains, pending work, commands, dead letters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/ledger/batch.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The outcome of an input. Each one is in exactly one class.
enum class InputClass : std::uint8_t {
    kApplied = 1,
    kStale = 2,
    kDuplicate = 3,
    kCatalog = 4,
    kCommand = 5,
    kDead = 6,
    kClicks = 7,
};

/// Inputs by class since init, and anomalies by kind (rows, not counts).
struct Totals {
    std::uint64_t applied = 0;
    std::uint64_t stale = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t catalog = 0;
    std::uint64_t commands = 0;
    std::uint64_t dead = 0;
    std::uint64_t orders = 0;
    std::uint64_t journal_entries = 0;
    std::uint64_t clicks = 0;
    // Rows of these inputs, each in one class, and rows that were deleted.
    std::uint64_t clicks_stored = 0, clicks_known = 0, clicks_without_link = 0, clicks_expired = 0;
    std::array<std::uint64_t, kAnomalyKinds> anomalies{};
    friend bool operator==(const Totals&, const Totals&) = default;
};

/// One per node (queue UUID). Changes with every input, in the same transaction.
struct LedgerHead {
    std::string node;            ///< UUID of the queue whose inputs these are.
    std::uint32_t number = 0;    ///< In the ledger's rows, from 1. 0 if it has none yet.
    SequenceNumber applied_seq;  ///< The checkpoint.
    Timestamp last_received;     ///< Receipt of the last applied input (S2).
    /// Chain over the digests of all inputs (core/protocol/input_digest.hpp). Zeros before the
    /// first.
    Digest256 inputs_sha256{};
    std::uint64_t next_entry = 1;
    std::uint64_t next_work = 1;
    /// Moves with every change of a program or an AccountRow, by whichever node: all share it.
    std::uint64_t programs_revision = 0;
    Totals totals;
};

/// Head of a journal chain: one per account and node.
struct ChainHead {
    Digest256 hash{};  ///< Zero before the first entry.
    std::uint64_t entries = 0;
    std::uint64_t last_group = 0;  ///< First entry of the last group, or 0.
};

/// A chain head with its key.
struct NodeChain {
    std::string node;
    AccountNumber account;
    ChainHead head;
};

/// Work that an input left to be done before the next one is applied, in slices and in the order of
/// `number`.
enum class WorkKind : std::uint8_t {
    kTryKey = 1,     ///< Orders that wait for `key` are tried again (A2).
    kCollect = 2,    ///< Keys with a click or code: their waiting orders become WorkOrder rows.
    kTryOrders = 3,  ///< WorkOrder rows of this number are tried, in their order.
    kDetach = 4,     ///< `detach --cause`: the attributed orders of `subject` are detached.
    kRetry = 5,      ///< `detach --retry`: they are detached, and then tried under A1.
    kForget = 6,     ///< WorkOrder rows: their ids become the pseudonyms of the forget `subject`.
    kTiers = 7,      ///< Orders of a creator's month get the tier of its volume (M4).
};
struct Work {
    std::uint64_t number = 0;
    WorkKind kind = WorkKind::kTryKey;
    WaitKey key;          ///< The key of kTryKey, or the key that kCollect has reached.
    std::string subject;  ///< kDetach, kRetry: command id of the cause.
    ProgramId program;    ///< kTiers, as the two that follow.
    CreatorId creator;
    std::uint32_t month = 0;  ///< 202601.
    /// The last order that was done, in the order of the rows it goes through; all or none.
    std::optional<Timestamp> after_ordered;
    std::optional<ShopNumber> after_shop;
    std::optional<OrderId> after_order;
    SequenceNumber cause;
    Topic cause_topic = Topic::kClickImport;
    std::string command_id, actor, reason;  ///< The same of the input that left the work.
    Timestamp received_at;
};

/// An order that a program apply is going to try: by the time of the sale, not by digests.
struct WorkOrder {
    std::uint64_t work = 0;
    Timestamp ordered_at;
    AccountNumber account;
    ShopNumber shop;
    OrderId order_id;
};

/// An input that could not be applied.
struct DeadLetter {
    SequenceNumber seq;
    std::optional<Topic> topic{};  ///< No value if the record itself is unreadable.
    AccountNumber account{};
    ShopNumber shop{};
    std::string account_id{}, shop_id{};
    Timestamp received_at{};
    std::string reason{};
    std::uint32_t attempts = 1;
    std::string record{};     ///< As it came from the queue.
    std::string bulk_body{};  ///< The body, if it was stored outside the queue.
    /// SHA-256 of the body as it was sent, once a forgotten customer's data was taken out of it.
    std::optional<Digest256> body_sha256{};
    OrderId order_id{};  ///< Set if a platform's order could not be translated.
};

/// A letter of a platform's order that could not be translated. A state of the order that is not
/// older ends the letter.
struct DeadOrder {
    OrderKey order{};
    SequenceNumber seq{};                ///< The letter's.
    std::optional<Timestamp> version{};  ///< As the letter's body states it.
};

}  // namespace sluice

// Rows that say how far the ledger is: head, chains, pending work, commands, dead letters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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
    std::array<std::uint64_t, kAnomalyKinds> anomalies{};
    friend bool operator==(const Totals&, const Totals&) = default;
};

/// One per node (queue UUID). Changes with every input, in the same transaction.
struct LedgerHead {
    std::string node;            ///< UUID of the queue whose inputs these are.
    SequenceNumber applied_seq;  ///< The checkpoint.
    std::uint64_t next_entry = 1;
    std::uint64_t next_work = 1;
    /// Moves with every change of any program, by whichever node: all nodes share it.
    std::uint64_t programs_revision = 0;
    Totals totals;
};

/// Head of a journal chain: one per account and node.
struct ChainHead {
    Digest256 hash{};  ///< Zero before the first entry.
    std::uint64_t entries = 0;
};

/// Attribution to be tried again, before the next input is applied. Done in order of `number`.
struct Work {
    std::uint64_t number = 0;
    bool whole_account = false;  ///< A program changed: every key that has a touch or a code.
    WaitKey key;                 ///< The key to work on; for whole_account, the one it has got to.
    /// Orders up to this one, in the order of waiting orders, are done; both or neither.
    std::optional<ShopNumber> after_shop;
    std::optional<OrderId> after_order;
    SequenceNumber cause;
    Topic cause_topic = Topic::kTouchImport;
    Timestamp received_at;
};

/// A person's command and its result. Kept: it is the audit trail.
struct CommandRow {
    SequenceNumber seq;
    Topic topic = Topic::kProgramApply;
    std::string actor;
    Timestamp received_at;
    bool ok = false;
    std::string result;  ///< One line for the person who ran it; no customer data.
};

/// An input that could not be applied.
struct DeadLetter {
    SequenceNumber seq;
    std::optional<Topic> topic;  ///< Nothing: the record itself is unreadable.
    AccountNumber account;
    ShopNumber shop;
    std::string account_id, shop_id;
    Timestamp received_at;
    std::string reason;
    std::uint32_t attempts = 1;
    std::string record;     ///< As it came from the queue.
    std::string bulk_body;  ///< The body, if it lay beside the queue.
    /// SHA-256 of the body as it was sent, once a forgotten customer's data was taken out of it.
    std::optional<Digest256> body_sha256;
};

}  // namespace sluice

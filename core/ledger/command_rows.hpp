// Command rows: commands and their results, idempotency keys, pending approvals (rules K1, H3, A3).
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

enum class CommandOutcome : std::uint8_t {
    kDone = 1,
    kRefused = 2,
    kNothing = 3,   ///< No change: it was so already.
    kRepeated = 4,  ///< Its key was used before with the same content.
    kPending = 5,   ///< Pending: another actor must approve it.
};

/// A person's command and its result. Kept: it is the audit trail.
struct CommandRow {
    SequenceNumber seq;
    Topic topic = Topic::kProgramApply;
    std::string command_id{};
    std::string actor{};
    Timestamp received_at{};
    CommandOutcome outcome = CommandOutcome::kDone;
    std::string result{};         ///< One line for the person who ran it; no customer data.
    std::string first_command{};  ///< Its key was used before: the command whose result this is.
};

/// The seal of a command that the queue had, whatever became of it. It names the command whose
/// result the row of its number is (controls K14).
struct UsedSeal {
    Digest256 mac{};
    SequenceNumber seq;  ///< The input that had it.
};

/// The signature by which an approver with a key approved something (controls K5).
struct SignedApproval {
    AccountNumber account;
    std::string command_id;  ///< The approval's own id.
    std::string subject{};   ///< The approved command, payout or payout run.
    std::string approver{}, ssh_key{};
    std::string statement{}, signature{};  ///< As they were signed; armored.
};

/// An idempotency key that was used. Valid per account, for ever.
struct CommandKey {
    AccountNumber account;
    std::string key;
    Digest256 content{};  ///< SHA-256 of topic, shop and body.
    std::string command_id;
    CommandOutcome outcome = CommandOutcome::kDone;
    std::string result;
};

/// A posting of money by hand. `reverse` reads it. Also the position of an amount without an order:
/// of a credit, an opening balance or a write-off.
struct MoneyCommand {
    std::string command_id;  ///< Or posting_id(), for a row of an import.
    AccountNumber account{};
    Topic topic = Topic::kAdjust;  ///< kAdjust, kCredit, kReverse, kOpeningImport, kWriteOff.
    ShopNumber shop{};             ///< 0 for a credit that names no order.
    ShopId shop_id{};
    OrderId order_id{};
    ProgramId program{};
    CreatorId creator{};
    Currency currency{};
    Decimal amount{};
    std::string reversed_by{};  ///< Command id, or empty if it is not reversed.
    std::string reverses{};     ///< kReverse: the command that it reversed.
    // An amount without an order:
    Timestamp sale_at{};
    Decimal accrued{}, allocated{};
    Timestamp last_posted{};
    std::uint64_t first_entry = 0;
    std::uint32_t active_items = 0;  ///< Items in active payouts. With one the credit is cleared.

    [[nodiscard]] bool is_credit() const noexcept {
        return topic == Topic::kCredit || topic == Topic::kOpeningImport ||
               topic == Topic::kWriteOff;
    }
};

/// A balance of an earlier system that stands: one for each creator, program and currency. Orders
/// of the program from before `at` earn nothing.
struct OpeningBalance {
    AccountNumber account;
    ProgramId program;
    CreatorId creator;
    Currency currency;
    Timestamp at;
    std::string command_id;  ///< Its MoneyCommand.
};

/// Which credits name an order: key only.
struct CreditOfOrder {
    AccountNumber account;
    ShopId shop_id;  ///< The shop may be unknown to the ledger yet.
    OrderId order_id;
    std::string command_id;
};

enum class ApprovalState : std::uint8_t { kPending = 1, kApproved = 2, kWithdrawn = 3 };

/// A command that needs, or needed, another actor.
struct PendingApproval {
    AccountNumber account{};
    std::string command_id{};
    Topic topic = Topic::kAdjust;
    ShopNumber shop{};
    ShopId shop_id{};
    std::string body{};  ///< As in the queue. Empty after a forget of a creator that it named.
    std::string actor{}, reason{};
    Timestamp received_at{};
    std::optional<Currency> currency{};
    Decimal amount{};
    ProgramId program{};  ///< The live position that an `adjust` was about.
    CreatorId creator{};
    ApprovalState state = ApprovalState::kPending;
    std::string ended_by{};
    std::optional<Timestamp> ended_at{};
    std::string node{};       ///< UUID in the memo entry PENDING, which proves the command,
    std::uint64_t entry = 0;  ///< and its number.
};

/// An order that a command attributed: key only, for `detach --cause`.
struct AttributedOrder {
    std::string command_id;
    AccountNumber account;
    ShopNumber shop;
    OrderId order_id;
};

}  // namespace sluice

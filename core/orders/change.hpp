// Change: the steps that all commands on an order or an account share.
#pragma once

#include <string>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/anomaly.hpp"
#include "core/orders/context.hpp"
#include "core/orders/post.hpp"
#include "core/orders/program_cache.hpp"
#include "core/orders/volume.hpp"
#include "core/rules/account.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// The result of a command: done, nothing to do, or pending.
struct Reply {
    CommandOutcome outcome = CommandOutcome::kDone;
    std::string text;
};
[[nodiscard]] inline Reply done(std::string text) {
    return {CommandOutcome::kDone, std::move(text)};
}
[[nodiscard]] inline Reply nothing(std::string text) {
    return {CommandOutcome::kNothing, std::move(text)};
}
[[nodiscard]] inline Error refused(std::string text) {
    return {ErrorCode::kConflict, std::move(text)};
}

/// Runs a command of one type. Returns an Error if it refuses, and has then changed nothing.
template <class Type>
using Verb = Result<Reply>(const Type& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn);

/// An order that a command changes; keeps the indexes up to date.
class OrderChange {
public:
    OrderChange(LedgerTxn& txn, ProgramCache& programs, const Source& source)
        : txn_(txn), programs_(programs), source_(source) {}

    /// Returns false if there is no such order.
    [[nodiscard]] bool load(const OrderKey& key);
    /// Loads an order for work over many. Returns false also for a damaged order, which such work
    /// passes over and `sluice doctor` reports.
    [[nodiscard]] bool load_unless_damaged(const OrderKey& key);
    /// Loads the order of a person's command. Refuses a command without a reason, or an unknown
    /// order.
    [[nodiscard]] Status load(const CommandContext& context, const OrderId& order);

    [[nodiscard]] OrderState& state() noexcept { return state_; }
    [[nodiscard]] const AccountSettings& settings();
    /// Posts to the ledger account `owed` of a position, then memo entries, and adds the group to
    /// the order.
    void post(Position& position, std::vector<JournalEntry> postings,
              std::vector<JournalEntry> memos = {});
    /// Posts a memo entry on the order that names no creator.
    void post_memo(JournalReason reason, std::string_view line = {});
    /// Judges anomalies, writes the order and its indexes.
    void finish();

private:
    LedgerTxn& txn_;
    ProgramCache& programs_;
    const Source& source_;
    OrderState state_;
    IndexedBefore before_;
    VolumeBefore volume_;
};

/// Refuses a reason that is empty or longer than 1000 bytes.
[[nodiscard]] Status check_reason(const CommandContext& context);

/// Returns the account's program, or kNotFound.
[[nodiscard]] Result<ProgramRow> program_of_account(LedgerReader& ledger,
                                                    const CommandContext& context,
                                                    const ProgramId& program);

/// Changes the account's row, or makes it. Invalidates caches.
template <class Change>
void change_account(LedgerTxn& txn, AccountNumber account, const AccountId& account_id,
                    Change change) {
    AccountRow row;
    row.account = account;
    if (!txn.load(row)) {
        row = AccountRow{};
        row.account = account;
        row.account_id = account_id;
    }
    change(row);
    txn.put(row);
    ++txn.mutable_head().programs_revision;
}

/// Posts a memo entry of a command that is about no order. Returns its number.
std::uint64_t post_memo(LedgerTxn& txn, const CommandContext& context, AccountNumber account,
                        JournalReason reason, std::string_view line = {},
                        const CreatorId& creator = {}, const ProgramId& program = {});

/// "1 order", "2 orders".
[[nodiscard]] std::string counted(std::size_t count, const char* one, const char* many);

}  // namespace sluice

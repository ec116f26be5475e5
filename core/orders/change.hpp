// Change: what every command does around what it changes: an order, an account.
#pragma once

#include <optional>
#include <string>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/anomaly.hpp"
#include "core/orders/context.hpp"
#include "core/orders/post.hpp"
#include "core/orders/program_cache.hpp"
#include "core/orders/volume.hpp"
#include "core/rules/creator_names.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// What a command has to say: it did it, it was so already, it waits.
struct Reply {
    CommandOutcome outcome = CommandOutcome::kDone;
    std::string text;
};
[[nodiscard]] inline Reply nothing(std::string text) {
    return {CommandOutcome::kNothing, std::move(text)};
}
[[nodiscard]] inline Error refused(std::string text) {
    return {ErrorCode::kConflict, std::move(text)};
}

/// An order that a command changes: the indexes follow.
class OrderChange {
public:
    OrderChange(LedgerTxn& txn, ProgramCache& programs, const Source& source)
        : txn_(txn), programs_(programs), source_(source) {}

    /// False: there is no such order.
    [[nodiscard]] bool load(const OrderKey& key);
    /// Of work that goes on without a damaged order: doctor shows it, nothing of it is changed.
    [[nodiscard]] bool load_unless_damaged(const OrderKey& key);
    /// Of a person's command. Refused: it gives no reason, or there is no order O in shop S.
    [[nodiscard]] Status load(const CommandContext& context, const OrderId& order);

    [[nodiscard]] OrderState& state() noexcept { return state_; }
    [[nodiscard]] const AccountSettings& settings();
    /// Transfers into `owed` of a position, then marks; noted in the order.
    /// @return the number of the first entry; 0: nothing was written.
    std::uint64_t post(Position& position, std::vector<JournalEntry> transfers,
                       std::vector<JournalEntry> marks = {});
    /// A mark on the order that names no creator.
    void post_mark(JournalReason reason, std::string_view line = {});
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

/// `reason` of 1 to 1000 bytes, or what is wrong.
[[nodiscard]] Status check_reason(const CommandContext& context);

/// The account's program, or a refusal that names both.
[[nodiscard]] Result<ProgramRow> program_of_account(LedgerReader& ledger,
                                                    const CommandContext& context,
                                                    const ProgramId& program);

/// Changes the account's row, which is made if there is none; caches see it.
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

/// "1 touch", "2 touches": what a person reads.
[[nodiscard]] std::string counted(std::size_t count, const char* one, const char* many);

}  // namespace sluice

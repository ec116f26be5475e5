// OrderChange: the steps that commands on an order share.
#pragma once

#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/anomaly.hpp"
#include "core/orders/context.hpp"
#include "core/orders/post.hpp"
#include "core/orders/program_cache.hpp"
#include "core/orders/volume.hpp"
#include "core/rules/account.hpp"
#include "core/values/result.hpp"

namespace sluice {

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

}  // namespace sluice

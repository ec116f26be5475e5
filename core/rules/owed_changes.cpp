#include "core/rules/owed_changes.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/rules/order_book.hpp"
#include "core/rules/pricing.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

using LineSet = std::unordered_set<std::string_view>;

LineSet set_of(const std::vector<LineItemId>& lines) {
    LineSet set;
    for (const LineItemId& line : lines) {
        set.insert(line.view());
    }
    return set;
}

void sort_transfers(std::vector<JournalEntry>& transfers) {
    if (transfers.size() > 1) {
        std::sort(
            transfers.begin(), transfers.end(), [](const JournalEntry& a, const JournalEntry& b) {
                return std::pair(a.line.view(), a.currency) < std::pair(b.line.view(), b.currency);
            });
    }
}

class Changes {
public:
    Changes(const OrderState& state, const PostingCause& cause)
        : state_(state),
          position_(*state.position()),
          cause_(cause),
          refunds_changed_(set_of(cause.refunds_changed)),
          matched_(position_.dues.size()) {}

    std::vector<JournalEntry> find() {
        if (state_.earns()) {
            reach_targets();
        }
        for (std::size_t i = 0; i < position_.dues.size(); ++i) {
            const LineDue& due = position_.dues[i];
            if (!matched_[i] && !due.line.empty()) {
                add(due.line, due.currency, -due.due);
            }
        }
        sort_transfers(transfers_);
        return std::move(transfers_);
    }

private:
    static constexpr std::size_t kMarksExpected = 1;  ///< Memo entries that the caller appends.

    void reach_targets() {
        transfers_.reserve(state_.lines.size() + kMarksExpected);
        const StandingRefunds refunds(state_.refunds);
        const std::vector<Decimal> targets = line_commissions(state_, position_, refunds);
        for (std::size_t i = 0; i < state_.lines.size(); ++i) {
            const OrderLine& line = state_.lines[i];
            if (line.present) {
                add(line.id, state_.currency, targets[i] - due_of(line.id, i));
            }
        }
    }

    /// Returns the accrued amount of a line in the order's currency, and marks its row as matched.
    Decimal due_of(const LineItemId& line, std::size_t likely) {
        const std::vector<LineDue>& dues = position_.dues;
        if (likely < dues.size() && is_row(dues[likely], line)) {
            matched_[likely] = true;
            return dues[likely].due;
        }
        if (by_line_.empty()) {
            for (std::size_t i = 0; i < dues.size(); ++i) {
                if (dues[i].currency == state_.currency) {
                    by_line_.emplace(dues[i].line.view(), i);
                }
            }
        }
        const auto found = by_line_.find(line.view());
        if (found == by_line_.end()) {
            return zero_amount(state_.currency);
        }
        matched_[found->second] = true;
        return dues[found->second].due;
    }

    [[nodiscard]] bool is_row(const LineDue& due, const LineItemId& line) const {
        return due.currency == state_.currency && due.line == line;
    }

    void add(const LineItemId& line, Currency currency, const Decimal& amount) {
        if (!amount.is_zero()) {
            transfers_.push_back({line, currency, amount, reason(line), 0});
        }
    }

    [[nodiscard]] JournalReason reason(const LineItemId& line) {
        if (cause_.all) {
            return *cause_.all;
        }
        if (is_new(line)) {
            return JournalReason::kAccrual;
        }
        if (cause_.cancellation_changed) {
            return JournalReason::kCancellation;
        }
        return refunds_changed_.contains(line.view()) ? JournalReason::kRefund
                                                      : JournalReason::kUpdate;
    }

    [[nodiscard]] bool is_new(const LineItemId& line) {
        const std::vector<FrozenLine>& frozen = position_.frozen;
        for (std::size_t i = new_lines_counted_ + cause_.frozen_before; i < frozen.size(); ++i) {
            new_lines_.insert(frozen[i].line.view());
            ++new_lines_counted_;
        }
        return new_lines_.contains(line.view());
    }

    const OrderState& state_;
    const Position& position_;
    const PostingCause& cause_;
    LineSet refunds_changed_, new_lines_;
    std::size_t new_lines_counted_ = 0;
    std::vector<bool> matched_;
    std::unordered_map<std::string_view, std::size_t> by_line_;
    std::vector<JournalEntry> transfers_;
};

/// Enters a position's first postings: each makes a row.
void enter_first(Position& position, const std::vector<JournalEntry>& transfers,
                 std::uint64_t first_entry) {
    position.dues.reserve(transfers.size());
    for (const JournalEntry& transfer : transfers) {
        const Decimal zero = zero_amount(transfer.currency);
        position.dues.push_back(
            {transfer.line, transfer.currency, zero + transfer.amount, zero, first_entry++});
    }
}

}  // namespace

std::vector<JournalEntry> owed_changes(const OrderState& state, const PostingCause& cause) {
    SLUICE_ASSERT(state.position() != nullptr);
    return Changes(state, cause).find();
}

std::vector<JournalEntry> take_back(const Position& position, JournalReason reason) {
    std::vector<JournalEntry> transfers;
    for (const LineDue& due : position.dues) {
        if (!due.line.empty() && !due.due.is_zero()) {
            transfers.push_back({due.line, due.currency, -due.due, reason, 0});
        }
    }
    sort_transfers(transfers);
    return transfers;
}

void enter(Position& position, std::vector<JournalEntry>& transfers, const Booking& booking) {
    if (position.dues.empty()) {  // mostly
        enter_first(position, transfers, booking.first_entry);
        position.last_booked = transfers.empty() ? position.last_booked : booking.accounting_date;
        return;
    }
    std::map<std::pair<std::string_view, Currency>, std::size_t> rows;
    std::map<std::string_view, std::uint64_t> firsts;
    position.dues.reserve(position.dues.size() + transfers.size());  // views stay valid
    for (std::size_t i = 0; i < position.dues.size(); ++i) {
        const LineDue& due = position.dues[i];
        rows.try_emplace({due.line.view(), due.currency}, i);
        firsts.try_emplace(due.line.view(), due.first_entry);
    }
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        JournalEntry& transfer = transfers[i];
        const std::uint64_t number = booking.first_entry + i;
        // Numbers are unique within a node: another node's first entry may have the same number.
        const auto [first, is_first] = firsts.try_emplace(transfer.line.view(), number);
        transfer.refers_to = booking.late && !is_first ? first->second : 0;
        const auto row = rows.find({transfer.line.view(), transfer.currency});
        if (row != rows.end()) {
            LineDue& due = position.dues[row->second];
            due.due += transfer.amount;
            continue;
        }
        const Decimal zero = zero_amount(transfer.currency);
        position.dues.push_back(
            {transfer.line, transfer.currency, zero + transfer.amount, zero, number});
        rows.try_emplace({transfer.line.view(), transfer.currency}, position.dues.size() - 1);
    }
    if (!transfers.empty()) {
        position.last_booked = std::max(position.last_booked, booking.accounting_date);
    }
}

}  // namespace sluice

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

void sort_postings(std::vector<JournalEntry>& postings) {
    if (postings.size() > 1) {
        std::ranges::sort(postings, [](const JournalEntry& a, const JournalEntry& b) {
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
          matched_(position_.accruals.size()) {}

    std::vector<JournalEntry> find() {
        if (state_.earns()) {
            reach_targets();
        }
        for (std::size_t i = 0; i < position_.accruals.size(); ++i) {
            const LineAccrual& accrual = position_.accruals[i];
            if (!matched_[i] && !accrual.line.empty()) {
                add(accrual.line, accrual.currency, -accrual.accrued);
            }
        }
        sort_postings(postings_);
        return std::move(postings_);
    }

private:
    static constexpr std::size_t kMemosExpected = 1;  ///< Memo entries that the caller appends.

    void reach_targets() {
        postings_.reserve(state_.lines.size() + kMemosExpected);
        const EffectiveRefunds refunds(state_.refunds);
        const std::vector<Decimal> targets = line_commissions(state_, position_, refunds);
        for (std::size_t i = 0; i < state_.lines.size(); ++i) {
            const OrderLine& line = state_.lines[i];
            if (line.present) {
                add(line.id, state_.currency, targets[i] - accrued_of(line.id, i));
            }
        }
    }

    /// Returns the accrued amount of a line in the order's currency, and marks its row as matched.
    Decimal accrued_of(const LineItemId& line, std::size_t likely) {
        const std::vector<LineAccrual>& accruals = position_.accruals;
        if (likely < accruals.size() && is_row(accruals[likely], line)) {
            matched_[likely] = true;
            return accruals[likely].accrued;
        }
        if (by_line_.empty()) {
            for (std::size_t i = 0; i < accruals.size(); ++i) {
                if (accruals[i].currency == state_.currency) {
                    by_line_.emplace(accruals[i].line.view(), i);
                }
            }
        }
        const auto found = by_line_.find(line.view());
        if (found == by_line_.end()) {
            return zero_amount(state_.currency);
        }
        matched_[found->second] = true;
        return accruals[found->second].accrued;
    }

    [[nodiscard]] bool is_row(const LineAccrual& accrual, const LineItemId& line) const {
        return accrual.currency == state_.currency && accrual.line == line;
    }

    void add(const LineItemId& line, Currency currency, const Decimal& amount) {
        if (!amount.is_zero()) {
            postings_.push_back({line, currency, amount, reason(line), 0});
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
    std::vector<JournalEntry> postings_;
};

/// Adds a position's first postings to its accruals. Each posting makes a row.
void enter_first(Position& position, const std::vector<JournalEntry>& postings,
                 std::uint64_t first_entry) {
    position.accruals.reserve(postings.size());
    for (const JournalEntry& posting : postings) {
        const Decimal zero = zero_amount(posting.currency);
        position.accruals.push_back(
            {posting.line, posting.currency, zero + posting.amount, zero, first_entry++});
    }
}

}  // namespace

std::vector<JournalEntry> owed_changes(const OrderState& state, const PostingCause& cause) {
    SLUICE_ASSERT(state.position() != nullptr);
    return Changes(state, cause).find();
}

std::vector<JournalEntry> take_back(const Position& position, JournalReason reason) {
    std::vector<JournalEntry> postings;
    for (const LineAccrual& accrual : position.accruals) {
        if (!accrual.line.empty() && !accrual.accrued.is_zero()) {
            postings.push_back({accrual.line, accrual.currency, -accrual.accrued, reason, 0});
        }
    }
    sort_postings(postings);
    return postings;
}

void enter(Position& position, std::vector<JournalEntry>& postings, const PostingContext& context) {
    if (position.accruals.empty()) {  // mostly
        enter_first(position, postings, context.first_entry);
        position.last_posted = postings.empty() ? position.last_posted : context.accounting_date;
        return;
    }
    std::map<std::pair<std::string_view, Currency>, std::size_t> rows;
    std::map<std::string_view, std::uint64_t> firsts;
    position.accruals.reserve(position.accruals.size() + postings.size());  // views stay valid
    for (std::size_t i = 0; i < position.accruals.size(); ++i) {
        const LineAccrual& accrual = position.accruals[i];
        rows.try_emplace({accrual.line.view(), accrual.currency}, i);
        firsts.try_emplace(accrual.line.view(), accrual.first_entry);
    }
    for (std::size_t i = 0; i < postings.size(); ++i) {
        JournalEntry& posting = postings[i];
        const std::uint64_t number = context.first_entry + i;
        // Numbers are unique within a node: another node's first entry may have the same number.
        const auto [first, is_first] = firsts.try_emplace(posting.line.view(), number);
        posting.refers_to = context.late && !is_first ? first->second : 0;
        const auto row = rows.find({posting.line.view(), posting.currency});
        if (row != rows.end()) {
            LineAccrual& accrual = position.accruals[row->second];
            accrual.accrued += posting.amount;
            continue;
        }
        const Decimal zero = zero_amount(posting.currency);
        position.accruals.push_back(
            {posting.line, posting.currency, zero + posting.amount, zero, number});
        rows.try_emplace({posting.line.view(), posting.currency}, position.accruals.size() - 1);
    }
    if (!postings.empty()) {
        position.last_posted = std::max(position.last_posted, context.accounting_date);
    }
}

}  // namespace sluice

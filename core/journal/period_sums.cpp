#include "core/journal/period_sums.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

using Key = std::pair<ProgramId, Currency>;

/// One row while its creator's entries are read.
struct Sums {
    PeriodSum row;
    std::map<JournalReason, Decimal> reasons;
    std::string bytes;  ///< Canonical bytes of the entries, to be digested.
};

std::string reasons_text(const std::map<JournalReason, Decimal>& reasons) {
    return joined(reasons, " ", [](const auto& sum) {
        return std::string(to_string(sum.first)) + "=" + sum.second.to_string();
    });
}

/// The rows of one creator after another.
class PeriodBook {
public:
    PeriodBook(LedgerReader& ledger, AccountNumber account, Timestamp until,
               const Visitor<PeriodSum>& visit)
        : ledger_(ledger), account_(account), until_(until), visit_(visit) {}

    /// Reads the closing sums of the period before, in the order of the key.
    void open_with(const std::optional<Timestamp>& from) {
        if (!from) {
            return;
        }
        PeriodSum first;
        first.account = account_;
        first.until = *from;
        ledger_.scan(first, {2, 2}, [this](const PeriodSum& row) { before_.push_back(row); });
    }

    void add_group(const JournalGroup& group) {
        if (group.creator.empty()) {
            return;
        }
        if (group.creator != creator_) {
            finish_creator();
            pass_before(&group.creator);
            creator_ = group.creator;
            take_before();
        }
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            if (!is_memo(group.entries[i].reason)) {
                add_entry(group, i);
            }
        }
    }

    void finish() {
        finish_creator();
        pass_before(nullptr);
    }

private:
    void add_entry(const JournalGroup& group, std::size_t index) {
        const JournalEntry& entry = group.entries[index];
        Sums& sums = sums_of(group.program, entry.currency);
        const AccountSums change = change_by(entry);
        sums.row.closing_owed += change.owed;
        sums.row.closing_in_payout += change.in_payout;
        sums.row.closing_paid += change.paid;
        add_to(sums.reasons, entry.reason, {entry.currency, entry.amount});
        ++sums.row.entries;
        sums.bytes += canonical_bytes(group, index);
    }

    Sums& sums_of(const ProgramId& program, Currency currency) {
        const auto [found, added] = sums_.try_emplace({program, currency});
        if (added) {
            const Decimal zero = zero_amount(currency);
            PeriodSum& row = found->second.row;
            row.account = account_;
            row.until = until_;
            row.creator = creator_;
            row.program = program;
            row.currency = currency;
            row.opening_owed = row.opening_in_payout = row.opening_paid = zero;
            row.closing_owed = row.closing_in_payout = row.closing_paid = zero;
        }
        return found->second;
    }

    void open(const PeriodSum& before) {
        PeriodSum& row = sums_of(before.program, before.currency).row;
        row.opening_owed = row.closing_owed = before.closing_owed;
        row.opening_in_payout = row.closing_in_payout = before.closing_in_payout;
        row.opening_paid = row.closing_paid = before.closing_paid;
    }

    /// Carries over creators before `next`, which have no entries in this period; nullptr means
    /// all.
    void pass_before(const CreatorId* next) {
        while (at_ < before_.size() && (next == nullptr || before_[at_].creator < *next)) {
            creator_ = before_[at_].creator;
            take_before();
            finish_creator();
        }
    }

    void take_before() {
        for (; at_ < before_.size() && before_[at_].creator == creator_; ++at_) {
            open(before_[at_]);
        }
    }

    void finish_creator() {
        for (auto& [key, sums] : sums_) {
            sums.row.reasons = reasons_text(sums.reasons);
            sums.row.digest = sha256(sums.bytes);
            visit_(sums.row);
        }
        sums_.clear();
    }

    LedgerReader& ledger_;
    AccountNumber account_;
    Timestamp until_;
    const Visitor<PeriodSum>& visit_;
    std::vector<PeriodSum> before_;
    std::size_t at_ = 0;
    CreatorId creator_;
    std::map<Key, Sums> sums_;
};

}  // namespace

void period_sums(LedgerReader& ledger, AccountNumber account, const std::optional<Timestamp>& from,
                 Timestamp until, const Visitor<PeriodSum>& visit) {
    PeriodBook book(ledger, account, until, visit);
    book.open_with(from);
    ledger.scan_account_journal(account, from.value_or(kFirstInstant), until,
                                [&book](const JournalGroup& group) { book.add_group(group); });
    book.finish();
}

Status check_period_end(Timestamp end, Timestamp received_at, const AccountId& account,
                        const std::optional<Timestamp>& closed_until) {
    const std::string until = end.to_string();
    if (!until.ends_with("-01T00:00:00Z")) {
        return invalid("--until " + until + " is not the first instant of a month (UTC)");
    }
    if (end > received_at) {
        return invalid("--until " + until + " lies in the future");
    }
    if (closed_until && end <= *closed_until) {
        return conflict("--until " + until + " is not after " + closed_until->to_string() +
                        ", until which account " + account.str() + " is closed");
    }
    return {};
}

std::vector<LedgerHead> late_nodes(LedgerReader& ledger, Timestamp until, Timestamp received_at) {
    const std::string own = ledger.head().node;
    std::vector<LedgerHead> late;
    ledger.scan_heads([&](const LedgerHead& head) {
        const Timestamp received =
            head.node == own ? std::max(head.last_received, received_at) : head.last_received;
        if (received < until) {
            late.push_back(head);
        }
    });
    return late;
}

}  // namespace sluice

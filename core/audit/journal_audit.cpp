#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "core/audit/parts.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"

namespace sluice {
namespace {

std::string entry_name(const std::string& node, std::uint64_t entry) {
    return "table journal, node " + node + ", entry " + std::to_string(entry);
}

std::string balance_name(const BalanceKey& key) {
    return "table balances, account " + std::to_string(key.account.value) + ", program " +
           key.program.str() + ", creator " + key.creator.str() + ", currency " +
           std::string(key.currency.code());
}

class JournalAudit {
public:
    JournalAudit(LedgerReader& ledger, Findings& findings) : ledger_(ledger), findings_(findings) {}

    JournalFacts run() {
        ledger_.scan_heads([this](const LedgerHead& head) { numbers_[head.node] = head.number; });
        ledger_.scan_journal(1, [this](const JournalGroup& group) {
            follow(group);
            for (const JournalEntry& entry : group.entries) {
                count(group, entry);
                sums_by_date_.count(group, entry);
            }
            note(group);
            return findings_.wanted();
        });
        if (findings_.wanted()) {
            check_ends();
            check_balances();
            sums_by_date_.check(ledger_, findings_);
        }
        return std::move(facts_);
    }

private:
    /// Checks that entry numbers are dense per node, and that hashes chain per account and node.
    void follow(const JournalGroup& group) {
        std::uint64_t& next = next_.try_emplace(group.node, 1).first->second;
        if (group.first_entry != next) {
            findings_.add('a', entry_name(group.node, group.first_entry),
                          "expected entry " + std::to_string(next));
        }
        next = group.first_entry + group.entries.size();
        ChainHead& chain = chains_[{group.account, group.node}];
        const std::uint64_t before = chain.last_group;
        if (!verify_seal(group, chain)) {
            findings_.add('a', entry_name(group.node, group.first_entry),
                          "hash chain broken: this entry or an earlier one was altered");
            chain.hash = group.hash;  // later entries are checked on their own
        }
        check_listed(group, before);
    }

    /// Checks the row from which a reader of the chain begins.
    void check_listed(const JournalGroup& group, std::uint64_t before) {
        if (!is_listed(group.first_entry, before)) {
            return;
        }
        ChainGroup row{group.account, numbers_[group.node], group.last_change, 0};
        if (!ledger_.load(row) || row.first_entry != group.first_entry) {
            findings_.add('a', entry_name(group.node, group.first_entry),
                          "table chain_groups does not list it under its change " +
                              std::to_string(group.last_change));
        }
    }

    void count(const JournalGroup& group, const JournalEntry& entry) {
        if (is_memo(entry.reason)) {
            return;
        }
        sums_[{group.account, group.program, group.creator, entry.currency}] += change_by(entry);
        if (entry.amount.is_zero()) {
            findings_.add('a', entry_name(group.node, group.first_entry), "its amount is 0");
        }
    }

    /// Gathers facts for the other parts.
    void note(const JournalGroup& group) {
        if (!group.payout_id.empty()) {
            note_payout(group);
        } else if (const std::string credit = credit_of(group); !credit.empty()) {
            CreditEntries& entries = facts_.credits[credit];
            for (const JournalEntry& entry : group.entries) {
                const Decimal owed = change_in(entry, LedgerAccount::kOwed);
                entries.accrued += owed;
                entries.posted += is_credit(entry.reason) ? owed : Decimal();
            }
        } else if (group.shop.value != 0) {
            ++facts_.order_groups;
        }
    }

    void note_payout(const JournalGroup& group) {
        PayoutEntries& payout = facts_.payouts[group.payout_id];
        for (const JournalEntry& entry : group.entries) {
            payout.left += change_in(entry, LedgerAccount::kPayout);
            payout.reasons |= bit_of(entry.reason);
            if (entry.reason == JournalReason::kPayout) {
                payout.posted[group.program] += entry.amount;
            }
            note_payee(group, entry, payout);
            note_digest(group, entry, payout);
            note_mover(group, entry.reason, payout);
        }
    }

    static void note_payee(const JournalGroup& group, const JournalEntry& entry,
                           PayoutEntries& payout) {
        if (is_memo(entry.reason)) {
            return;
        }
        const std::string payee = payee_text(group.account, group.creator, entry.currency);
        if (payout.pays.find(payee) == std::string::npos) {
            payout.pays += (payout.pays.empty() ? "" : "; ") + payee;
        }
    }

    /// The memo entries `DIGEST STATE` (CLOSED) and `DIGEST[ REPOINT]`. Those of several nodes come
    /// in any order, so each names its repoint.
    static void note_digest(const JournalGroup& group, const JournalEntry& entry,
                            PayoutEntries& payout) {
        const std::string& text = entry.line.str();
        const std::size_t space = text.find(' ');
        const std::string digest = text.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : text.substr(space + 1);
        std::uint32_t repoint = 0;
        std::from_chars(rest.data(), rest.data() + rest.size(), repoint);
        if (entry.reason == JournalReason::kMemoClosed) {
            payout.digests[0] = digest;
            payout.first_state = rest;
        } else if (entry.reason == JournalReason::kMemoRepointed) {
            payout.digests[repoint] = digest;
            payout.repoints = std::max(payout.repoints, repoint);
        } else if (entry.reason == JournalReason::kMemoApproved) {
            payout.approvals[repoint] = {group.actor, group.recorded_at};
            payout.approved[repoint] = digest;
        }
    }

    static void note_mover(const JournalGroup& group, JournalReason reason, PayoutEntries& payout) {
        const PayoutMover mover{group.actor, group.recorded_at};
        switch (reason) {
            case JournalReason::kMemoClosed:
                payout.closed_by = mover;
                break;
            case JournalReason::kMemoSent:
                payout.sent_by = mover;
                ++payout.sendings;
                break;
            case JournalReason::kSettle:  // a returned payout was settled before, maybe on another
                                          // node
                if ((payout.reasons & bit_of(JournalReason::kReturned)) == 0) {
                    payout.ended_by = mover;
                }
                break;
            case JournalReason::kVoid:
            case JournalReason::kFailed:
            case JournalReason::kReturned:
                payout.ended_by = mover;
                break;
            default:
                break;
        }
    }

    /// Returns the command id of the credit that the group posts or reverses; else an empty string.
    std::string credit_of(const JournalGroup& group) {
        const JournalReason reason = group.entries.front().reason;
        if (is_credit(reason)) {
            return group.command_id;
        }
        if (reason != JournalReason::kReversal) {
            return {};
        }
        MoneyCommand reversal{.command_id = group.command_id};
        MoneyCommand reversed{.command_id =
                                  ledger_.load(reversal) ? reversal.reverses : std::string()};
        return ledger_.load(reversed) && reversed.is_credit() ? reversed.command_id : std::string();
    }

    void check_ends() {
        ledger_.scan_heads([this](const LedgerHead& head) {
            const auto found = next_.find(head.node);
            findings_.compare('a', "table heads, node " + head.node, "its next entry",
                              head.next_entry, "the entries that are there",
                              found == next_.end() ? std::uint64_t{1} : found->second);
        });
        ledger_.scan_chains([this](const NodeChain& stored) {
            const auto found = chains_.find({stored.account, stored.node});
            if (found == chains_.end() || found->second.hash != stored.head.hash ||
                found->second.entries != stored.head.entries ||
                found->second.last_group != stored.head.last_group) {
                findings_.add('a',
                              "table chains, account " + std::to_string(stored.account.value) +
                                  ", node " + stored.node,
                              "it ends at entry " + std::to_string(stored.head.entries) +
                                  " of its account, the journal elsewhere");
            }
            chains_.erase({stored.account, stored.node});
        });
        for (const auto& [key, chain] : chains_) {
            findings_.add('a', "table journal, account " + std::to_string(key.first.value),
                          "its chain on node " + key.second + " has no head");
        }
    }

    void check_balances() {
        ledger_.scan_balances([this](const Balance& row) {
            const std::string name = balance_name(row.key);
            const AccountSums& sum = sums_[row.key];
            findings_.compare('b', name, "owed", row.owed, "its postings", sum.owed);
            findings_.compare('b', name, "in_payout", row.in_payout, "its postings", sum.in_payout);
            findings_.compare('b', name, "paid", row.paid, "its postings", sum.paid);
            sums_.erase(row.key);
        });
        for (const auto& [key, sum] : sums_) {
            if (!sum.is_zero()) {
                findings_.add('b', balance_name(key), "the row is missing, though it has postings");
            }
        }
    }

    LedgerReader& ledger_;
    Findings& findings_;
    std::map<std::string, std::uint32_t> numbers_;  ///< LedgerHead::number of each node.
    JournalFacts facts_;
    std::map<std::string, std::uint64_t> next_;  ///< Entry number, by node.
    std::map<std::pair<AccountNumber, std::string>, ChainHead> chains_;
    std::map<BalanceKey, AccountSums> sums_;
    SumAudit sums_by_date_;
};

}  // namespace

std::string payee_text(AccountNumber account, const CreatorId& creator, const Currency& currency) {
    return "account " + std::to_string(account.value) + ", " + creator.str() + " in " +
           std::string(currency.code());
}

std::uint32_t bit_of(JournalReason reason) noexcept {
    switch (reason) {
        case JournalReason::kMemoSent:
            return 2;
        case JournalReason::kSettle:
            return 4;
        case JournalReason::kVoid:
            return 8;
        case JournalReason::kFailed:
            return 16;
        case JournalReason::kReturned:
            return 32;
        default:
            return 0;
    }
}

JournalFacts audit_journal(LedgerReader& ledger, Findings& findings) {
    return JournalAudit(ledger, findings).run();
}

}  // namespace sluice

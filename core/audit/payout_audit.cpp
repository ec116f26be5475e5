#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/approvals/subject.hpp"
#include "core/audit/parts.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/payouts/items.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

using Sums = std::map<ProgramId, Decimal>;

std::string text_of(const Sums& sums) {
    return sums.empty() ? "nothing" : joined(sums, ", ", [](const auto& sum) {
        return sum.first.str() + " " + sum.second.to_string();
    });
}

/// Drops programs whose sum is 0: they have no posting.
Sums without_zeros(Sums sums) {
    std::erase_if(sums, [](const auto& entry) { return entry.second.is_zero(); });
    return sums;
}

/// Returns the state that follows from memo entries and postings.
PayoutState state_of(const PayoutEntries& entries) {
    for (const auto& [reason, state] : {std::pair{JournalReason::kReturned, PayoutState::kReturned},
                                        std::pair{JournalReason::kFailed, PayoutState::kFailed},
                                        std::pair{JournalReason::kVoid, PayoutState::kVoid},
                                        std::pair{JournalReason::kSettle, PayoutState::kPaid},
                                        std::pair{JournalReason::kMemoSent, PayoutState::kSent}}) {
        if ((entries.reasons & bit_of(reason)) != 0) {
            return state;
        }
    }
    if (entries.approvals.contains(entries.repoints)) {
        return PayoutState::kApproved;
    }
    return entries.repoints == 0
               ? parse_name<PayoutState>(entries.first_state).value_or(PayoutState::kClosed)
               : PayoutState::kClosed;
}

std::string text_of(const std::optional<PayoutMover>& mover) {
    return mover ? "by " + mover->actor + " at " + mover->at.to_string() : "nothing";
}

std::string text_of(const std::string& actor, const std::optional<Timestamp>& at) {
    return at ? text_of(PayoutMover{actor, *at}) : actor.empty() ? "nothing" : "by " + actor;
}

class PayoutAudit {
public:
    PayoutAudit(LedgerReader& ledger, const JournalFacts& facts, Findings& findings)
        : ledger_(ledger), facts_(facts), findings_(findings) {}

    ItemFacts run() {
        std::set<std::string> seen;
        ledger_.scan_payouts([&](const Payout& payout) {
            seen.insert(payout.payout_id);
            check(payout);
            return findings_.wanted();
        });
        for (const auto& [id, entries] : facts_.payouts) {
            if (!seen.contains(id) && findings_.wanted()) {
                findings_.add('c', "table payouts, payout_id " + id,
                              "the row is missing, though the journal has entries");
            }
        }
        return std::move(item_facts_);
    }

private:
    void check(const Payout& payout) {
        const std::string name = row_name(payout);
        static const PayoutEntries kNone;
        const PayoutEntries* const found = find_value(facts_.payouts, payout.payout_id);
        const PayoutEntries& entries = found == nullptr ? kNone : *found;
        check_items(payout, name, entries);
        check_movers(payout, name, entries);
        findings_.compare('c', name, "its state", std::string(to_string(payout.state)),
                          "its memo entries and postings",
                          std::string(to_string(state_of(entries))));
        const bool over = payout.state > PayoutState::kSent;
        findings_.compare('c', name, "amount in payout",
                          over ? zero_amount(payout.currency) : payout.amount, "its postings",
                          entries.left);
    }

    /// A payout that names another creator would pay the wrong one. A payout that names another
    /// closer could be approved by the actor who closed it.
    void check_movers(const Payout& payout, const std::string& name, const PayoutEntries& entries) {
        const auto compare = [&](const char* what, const std::string& actor,
                                 const std::optional<Timestamp>& at, const std::string& expected) {
            findings_.compare('c', name, what, text_of(actor, at), "its memo entries and postings",
                              expected);
        };
        findings_.compare('c', name, "whom it pays",
                          payee_text(payout.account, payout.creator, payout.currency),
                          "its postings", entries.pays);
        compare("its closing", payout.closed_by, payout.closed_at, text_of(entries.closed_by));
        const PayoutMover* const approval = find_value(entries.approvals, entries.repoints);
        compare("its approval", payout.approved_by, payout.approved_at,
                approval == nullptr ? "nothing" : text_of(*approval));
        compare("its sending", payout.sent_by, payout.sent_at, text_of(entries.sent_by));
        if (entries.sendings > 1) {
            findings_.add('c', name,
                          "it was sent " + std::to_string(entries.sendings) +
                              " times: the journal has as many memo entries SENT");
        }
        compare("its end", payout.ended_by, payout.ended_at, text_of(entries.ended_by));
    }

    void note_credit(const Payout& payout, const PayoutItem& item) {
        if (item.kind == ItemKind::kCredit) {
            CreditItems& credit =
                item_facts_.credits[{item.program, item.shop_id, item.order_id, item.line}];
            ++credit.count;
            credit.allocated += is_active(payout.state) ? item.amount : Decimal();
            credit.largest = std::max(credit.largest, item.amount.absolute());
        }
    }

    void check_items(const Payout& payout, const std::string& name, const PayoutEntries& entries) {
        const std::vector<PayoutItem> items =
            ledger_.rows(PayoutItem{.payout_id = payout.payout_id}, {1, 1});
        Sums by_program;
        Decimal sum = zero_amount(payout.currency);
        ItemsDigest items_digest;
        for (const PayoutItem& item : items) {
            items_digest.add(item, payout.currency);
            by_program[item.program] += item.amount;
            sum += item.amount;
            note_credit(payout, item);
        }
        item_facts_.count += items.size();
        const auto compare = [&](const char* what, const auto& stored, const char* source,
                                 const auto& expected) {
            findings_.compare('c', name, what, stored, source, expected);
        };
        compare("its amount", payout.amount, "its items", sum);
        compare("its number of items", payout.items_count, "the items",
                std::uint64_t{items.size()});
        compare("its number of orders", payout.orders_count, "the items", orders_of(items));
        compare("by program it", text_of(without_zeros(by_program)), "its PAYOUT postings",
                text_of(without_zeros(entries.posted)));
        compare("by program it", text_of(by_program), "its parts", text_of(parts_of(payout)));
        const Digest256 digest = items_digest.digest();
        compare("its digest", to_hex(payout.items_digest), "its items", to_hex(digest));
        const std::string digest_text = value_or(entries.digests, entries.repoints);
        compare(entries.repoints == 0 ? "the digest in its memo entry CLOSED"
                                      : "the digest in its memo entry REPOINTED",
                digest_text, "its items and its payee",
                to_hex(payout_digest(digest, payout.payee)));
        if (const auto approved = value_or(entries.approved, entries.repoints); !approved.empty()) {
            compare("the digest in its memo entry APPROVED", approved, "the payout that was closed",
                    digest_text);
        }
    }

    Sums parts_of(const Payout& payout) {
        const PayoutPart first{.payout_id = payout.payout_id};
        Sums parts;
        ledger_.scan(first, {1, 1},
                     [&parts](const PayoutPart& part) { parts[part.program] += part.amount; });
        return parts;
    }

    LedgerReader& ledger_;
    const JournalFacts& facts_;
    Findings& findings_;
    ItemFacts item_facts_;
};

}  // namespace

ItemFacts audit_payouts(LedgerReader& ledger, const JournalFacts& facts, Findings& findings) {
    return PayoutAudit(ledger, facts, findings).run();
}

}  // namespace sluice

#include "core/apply/changes.hpp"

#include <algorithm>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/programs/differences.hpp"
#include "core/programs/program.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

bool is_by_hand(JournalReason reason) noexcept {
    return reason == JournalReason::kManual || reason == JournalReason::kReversal ||
           is_credit(reason);
}

void add(MovedMoney& sums, const MovedMoney::key_type& key, const Decimal& amount) {
    const Decimal zero = zero_amount(std::get<Currency>(key));
    MovedSum& moved = sums.try_emplace(key, MovedSum{zero, zero}).first->second;
    moved.net += amount;
    moved.size += amount.absolute();
}

MovedMoney::key_type key_of(const JournalGroup& group, Currency currency) {
    return {group.program, group.creator, currency};
}

/// Visits what a group moves to or from what creators are owed, without payouts.
template <class Visit>
void visit_owed(const JournalGroup& group, const Visit& visit) {
    for (const JournalEntry& entry : group.entries) {
        if (is_memo(entry.reason) || !group.payout_id.empty()) {
            continue;
        }
        visit(entry, change_in(entry, LedgerAccount::kOwed));
    }
}

void add_by_hand(const Overlay& after, ChangeSet& changes) {
    for (const JournalGroup& group : after.posted()) {
        AccountChanges& account = changes[group.account];
        visit_owed(group, [&](const JournalEntry& entry, const Decimal& amount) {
            if (is_by_hand(entry.reason)) {
                add(account.by_hand, key_of(group, entry.currency), amount);
            }
        });
    }
}

std::string digest_text(const std::string& text) {
    return text.empty() ? "none" : to_hex(sha256(text));
}

std::string payee_text(const std::string& payee) {
    return payee.empty() ? "none" : to_hex(payee_digest(payee));
}

// ---- Payees -------------------------------------------------------------------------------------

void add_profiles(const Overlay& after, LedgerReader& before, ChangeSet& changes) {
    after.visit_put<CreatorRow>([&](const CreatorRow& row) {
        CreatorRow stored{row.account, row.creator, {}, {}, {}};
        const bool known = before.load(stored);
        AccountChanges& account = changes[row.account];
        const std::string was = known ? stored.payee : std::string();
        if (was != row.payee) {
            account.paid_otherwise.insert(row.creator);
            const std::string text = "payee of " + row.creator.str() + ": " + payee_text(was) +
                                     " -> " + payee_text(row.payee);
            (known ? account.payees : account.others).insert(text);
        }
    });
}

bool is_longer(const CodeRow& row, const CodeRow& stored) {
    return row.creator != stored.creator ||
           (stored.valid_until && (!row.valid_until || *row.valid_until > *stored.valid_until));
}

/// A code that another creator of the account has or had is a payee change for what it earns from
/// then on, unless both are paid as one.
void add_codes(Overlay& after, LedgerReader& before, ChangeSet& changes) {
    after.visit_put<CodeRow>([&](const CodeRow& row) {
        CodeRow stored = row;
        if (before.load(stored) && stored.creator == row.creator &&
            stored.valid_until == row.valid_until) {
            return;
        }
        AccountChanges& account = changes[row.account];
        account.others.insert("code " + row.code + " of " + row.program.str() + ": " +
                              row.creator.str());
        CodeRow known = row;
        if (before.load(known) && !is_longer(row, known)) {
            return;
        }
        for (const CodeRow& owner : before.code_owners(row.account, row.digest)) {
            const Digest256 theirs = payee_of(after, row.account, owner.creator);
            if (owner.creator != row.creator &&
                (theirs == Digest256{} || theirs != payee_of(after, row.account, row.creator))) {
                account.payees.insert("code " + row.code + " of " + row.program.str() + ": " +
                                      owner.creator.str() + " -> " + row.creator.str());
            }
        }
    });
}

// ---- Rates --------------------------------------------------------------------------------------

bool has_rule(const std::optional<ProgramRow>& program, const auto& matches) {
    return program && std::ranges::any_of(program->program.rules, matches);
}

/// A group is a rate if a rule of the program names it.
void add_groups(Overlay& after, LedgerReader& before, ChangeSet& changes) {
    after.visit_put<Membership>([&](const Membership& row) {
        const std::optional<Membership> stored =
            before.membership(row.account, row.program, row.creator);
        const std::string was = stored && !stored->removed ? stored->group : std::string();
        AccountChanges& account = changes[row.account];
        const std::string who = row.creator.str() + " in " + row.program.str();
        account.others.insert(who + (row.removed ? ": removed" : ": member"));
        if (row.removed || was == row.group) {
            return;
        }
        const auto names_it = [&](const Rule& rule) {
            return !rule.group.empty() && (rule.group == row.group || rule.group == was);
        };
        const std::string text = "group of " + who + ": " + was + " -> " + row.group;
        (has_rule(after.program(row.program), names_it) ? account.rates : account.others)
            .insert(text);
    });
}

/// A rule may name the new id of a creator.
void add_names(Overlay& after, ChangeSet& changes) {
    after.visit_put<CreatorAlias>([&](const CreatorAlias& row) {
        AccountChanges& account = changes[row.account];
        const std::string text = row.creator.str() + " is called " + row.alias.str();
        account.others.insert(text);
        for (const ProgramRow& program : after.programs(row.account)) {
            if (has_rule(program,
                         [&row](const Rule& rule) { return rule.creator == row.alias.view(); })) {
                account.rates.insert(text + " in " + program.program.id.str());
            }
        }
    });
}

void add_programs(Overlay& after, LedgerReader& before, ChangeSet& changes) {
    std::vector<ProgramId> put;
    after.visit_put<ProgramHead>([&put](const ProgramHead& row) { put.push_back(row.program); });
    for (const ProgramId& id : put) {
        const std::optional<ProgramRow> was = before.program(id), is = after.program(id);
        if (!is) {
            continue;
        }
        AccountChanges& account = changes[is->program.account];
        account.id = is->program.account_id;
        const std::string text = "program " + id.str() + ": " +
                                 digest_text(was ? encode_program(was->program) : "") + " -> " +
                                 digest_text(encode_program(is->program)) +
                                 (is->opening_at ? " from " + is->opening_at->to_string() : "");
        const bool same = was && was->program == is->program;
        const bool raises = !same && raises_earnings(was ? &was->program : nullptr, is->program);
        (raises ? account.rates : account.others).insert(text);
    }
}

void add_settings(const Overlay& after, LedgerReader& before, ChangeSet& changes) {
    after.visit_put<AccountRow>([&](const AccountRow& row) {
        AccountRow stored{.account = row.account};
        const std::string was = before.load(stored) ? stored.policy : std::string();
        if (was != row.policy) {
            AccountChanges& account = changes[row.account];
            account.id = row.account_id;
            account.policies.insert("policy: " + digest_text(was) + " -> " +
                                    digest_text(row.policy));
        }
    });
    after.visit_put<Period>([&](const Period& row) {
        changes[row.account].periods.insert("closed until " + row.until.to_string());
    });
    // Inputs that are received late change the sums while the close waits.
    std::map<AccountNumber, RunningSha256> sums;
    after.visit_put<PeriodSum>([&](const PeriodSum& row) {
        RunningSha256& digest = sums[row.account];
        digest.add(row.creator.str() + " " + row.program.str() + " " +
                   std::string(row.currency.code()) + " " + row.closing_owed.to_string() + " " +
                   row.closing_in_payout.to_string() + " " + row.closing_paid.to_string() + "\n");
        digest.add(view_of(row.digest));
    });
    for (auto& [account, digest] : sums) {
        changes[account].periods.insert("sums: " + to_hex(digest.digest()));
    }
    after.visit_put<Click>([&](const Click& row) {
        changes[row.account].others.insert("click on " + row.program.str() + " of " +
                                           row.creator.str());
    });
}

void add_lines(const char* name, const MovedMoney& moved, std::string& text) {
    for (const auto& [key, money] : moved) {
        const auto& [program, creator, currency] = key;
        text += std::string(name) + " " + program.str() + " " + creator.str() + " " +
                to_string(Money{currency, money.net}) + " of " + money.size.to_string() + "\n";
    }
}

}  // namespace

std::map<AccountNumber, MovedMoney> commission_of(const Overlay& after) {
    using OfOrder = std::tuple<AccountNumber, ShopNumber, OrderId, MovedMoney::key_type>;
    std::map<OfOrder, Decimal> orders;
    for (const JournalGroup& group : after.posted()) {
        visit_owed(group, [&](const JournalEntry& entry, const Decimal& amount) {
            if (!is_by_hand(entry.reason)) {
                add_to(orders,
                       {group.account, group.shop, group.order_id, key_of(group, entry.currency)},
                       {entry.currency, amount});
            }
        });
    }
    std::map<AccountNumber, MovedMoney> moved;
    for (const auto& [order, amount] : orders) {
        if (!amount.is_zero()) {
            add(moved[std::get<AccountNumber>(order)], std::get<MovedMoney::key_type>(order),
                amount);
        }
    }
    return moved;
}

ChangeSet changes_of(Overlay& after, LedgerReader& before) {
    ChangeSet changes;
    add_by_hand(after, changes);
    for (auto& [account, moved] : commission_of(after)) {
        changes[account].commission = std::move(moved);
    }
    add_profiles(after, before, changes);
    add_codes(after, before, changes);
    add_groups(after, before, changes);
    add_names(after, changes);
    add_programs(after, before, changes);
    add_settings(after, before, changes);
    return changes;
}

std::vector<LimitAmount> limit_amounts(const MovedMoney& moved, AccountNumber account,
                                       LedgerReader& profiles) {
    std::map<std::pair<CreatorId, Currency>, Decimal> sums;
    for (const auto& [key, money] : moved) {
        const auto& [program, creator, currency] = key;
        add_to(sums, {creator, currency}, {currency, money.size});
    }
    return mapped(sums, [&](const auto& sum) {
        const auto& [creator, currency] = sum.first;
        return LimitAmount{creator, payee_of(profiles, account, creator), {currency, sum.second}};
    });
}

Digest256 digest_of(const ChangeSet& changes) {
    std::string text;
    for (const auto& [account, changed] : changes) {
        text += "account " + std::to_string(account.value) + "\n";
        add_lines("by hand", changed.by_hand, text);
        add_lines("commission", changed.commission, text);
        for (const auto* lines : {&changed.payees, &changed.rates, &changed.policies,
                                  &changed.periods, &changed.others}) {
            for (const std::string& line : *lines) {
                text += line + "\n";
            }
        }
    }
    return sha256(text);
}

}  // namespace sluice

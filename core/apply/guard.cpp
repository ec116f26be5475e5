#include "core/apply/guard.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/apply/changes.hpp"
#include "core/apply/dry_run.hpp"
#include "core/approvals/approval.hpp"
#include "core/approvals/limits.hpp"
#include "core/approvals/subject.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/account.hpp"

namespace sluice {
namespace {

struct Judged {
    AccountSettings settings;
    Timestamp at;  ///< Accounting date of the command.
    std::optional<LimitSums> moved;
};
using JudgedAccounts = std::map<AccountNumber, Judged>;

/// Returns whether the policy can stop the command. A file of programs may change the policy
/// itself.
bool can_stop(const Command& command, const Policy& policy) {
    return std::holds_alternative<ProgramApply>(command)
               ? policy.has_approvals()
               : policy.approve_adjust_above || policy.approve_attribution_above ||
                     policy.approve_payee_change || policy.approve_rates ||
                     policy.approve_period_close;
}

/// Returns the first of the amounts that are too much, in words, or an empty text. A payee that a
/// creator has from now on gets what counts for the creator already.
std::string excess(const std::optional<std::vector<Money>>& above, const MovedMoney& moved,
                   const std::set<CreatorId>& paid_otherwise, AccountNumber account,
                   const LimitSums& sums, LedgerReader& profiles) {
    std::vector<LimitAmount> amounts = limit_amounts(moved, account, profiles);
    for (const CreatorId& creator : paid_otherwise) {
        for (const Currency currency : sums.currencies()) {
            amounts.push_back(
                {creator, payee_of(profiles, account, creator), {currency, zero_amount(currency)}});
        }
    }
    const std::vector<std::string> words = sums.excesses(above, amounts);
    const auto found =
        std::ranges::find_if(words, [](const std::string& one) { return !one.empty(); });
    return found == words.end() ? std::string() : *found;
}

/// Returns why another actor must approve the changes of one account: settings of its policy.
std::vector<std::string> reasons(AccountNumber account, const Judged& judged,
                                 const AccountChanges& changes, LedgerReader& before,
                                 LedgerReader& after) {
    const Policy& policy = judged.settings.policy;
    std::vector<std::string> why;
    const auto note = [&why](bool asks, const std::set<std::string>& changed, const char* name) {
        if (asks && !changed.empty()) {
            why.emplace_back(name);
        }
    };
    note(policy.has_approvals(), changes.policies, "a policy with approvals");
    note(policy.approve_rates, changes.rates, "approve_rates");
    note(policy.approve_payee_change, changes.payees, "approve_payee_change");
    note(policy.approve_period_close, changes.periods, "approve_period_close");
    const auto compare = [&](const auto& above, const MovedMoney& moved, LimitKind kind,
                             const char* name) {
        if (!above || (moved.empty() && changes.paid_otherwise.empty())) {
            return;
        }
        const LimitSums sums(before, account, kind, judged.at, after);
        const std::string words =
            excess(above, moved, changes.paid_otherwise, account, sums, after);
        if (!words.empty()) {
            why.push_back(std::string(name) + ", " + words);
        }
    };
    compare(policy.approve_adjust_above, changes.by_hand, LimitKind::kAdjust,
            "approve_adjust_above");
    compare(policy.approve_attribution_above, changes.commission, LimitKind::kAttribution,
            "approve_attribution_above");
    return why;
}

/// Returns whether the commission that was moved so far needs no approval. Policies without a limit
/// of moved commission need no trial of the work.
bool may_move_more(Overlay& after, JudgedAccounts& accounts, LedgerReader& before) {
    const bool has_limit = std::ranges::any_of(accounts, [](const auto& one) {
        return one.second.settings.policy.approve_attribution_above.has_value();
    });
    if (!has_limit) {
        return false;
    }
    for (const auto& [account, moved] : commission_of(after)) {
        const auto judged = accounts.find(account);
        if (judged == accounts.end() || !judged->second.settings.policy.approve_attribution_above) {
            continue;
        }
        std::optional<LimitSums>& sums = judged->second.moved;
        if (!sums) {
            sums.emplace(before, account, LimitKind::kAttribution, judged->second.at, after);
        }
        if (!excess(judged->second.settings.policy.approve_attribution_above, moved, {}, account,
                    *sums, after)
                 .empty()) {
            return false;
        }
    }
    return true;
}

/// Returns the amount that the command posts by hand, if it is one; files show their rows instead.
PendingSubject subject_of(const Command& command, AccountNumber account,
                          const AccountChanges& changes, LedgerTxn& txn) {
    MoneyCommand reversed;
    const auto* reverse = std::get_if<Reverse>(&command);
    if (changes.by_hand.size() != 1 || std::holds_alternative<OpeningImport>(command) ||
        (reverse != nullptr && !load_posting(txn, account, reverse->id, reversed))) {
        return {};
    }
    const auto& [key, money] = *changes.by_hand.begin();
    const auto& [program, creator, currency] = key;
    return {Money{currency, money.net}, program, creator};
}

/// The result of a trial.
struct Verdict {
    ChangeSet changes;
    std::vector<std::string> why;
    AccountNumber asks;  ///< The account whose policy asks.
    std::map<AccountNumber, std::vector<LimitAmount>> moved;
};

Result<Verdict> judge(const Command& command, const CommandContext& context,
                      JudgedAccounts& accounts, LedgerTxn& txn) {
    Verdict verdict;
    const Result<Reply> tried = try_command(
        command, context, txn,
        {[&](Overlay& after) { return may_move_more(after, accounts, txn); },
         [&](Overlay& after, LedgerReader& before) {
             verdict.changes = changes_of(after, before);
             for (const auto& [account, judged] : accounts) {
                 const auto changed = verdict.changes.find(account);
                 if (changed == verdict.changes.end()) {
                     continue;
                 }
                 for (std::string& why : reasons(account, judged, changed->second, before, after)) {
                     verdict.why.push_back(std::move(why));
                     verdict.asks = account;
                 }
                 if (judged.settings.policy.approve_attribution_above) {
                     verdict.moved[account] =
                         limit_amounts(changed->second.commission, account, after);
                 }
             }
         }});
    return tried ? Result<Verdict>(std::move(verdict)) : Result<Verdict>(tried.error());
}

AccountId account_id_of(AccountNumber account, const CommandContext& context, LedgerTxn& txn) {
    if (account == context.account) {
        return context.account_id;
    }
    AccountRow row{.account = account};
    if (txn.load(row)) {
        return row.account_id;
    }
    const std::vector<ProgramRow> programs = txn.programs(account);
    return programs.empty() ? AccountId() : programs.front().program.account_id;
}

Result<Reply> wait(const Command& command, const CommandContext& context, const Verdict& verdict,
                   LedgerTxn& txn) {
    if (verdict.changes.size() > 1) {
        NamedAccounts named;
        for (const auto& [account, changed] : verdict.changes) {
            named.emplace(account,
                          changed.id.empty() ? account_id_of(account, context, txn) : changed.id);
        }
        return refused("the command changes more than one account (" + names_of(named) +
                       "), and a change needs an approval: expected one account in a file");
    }
    CommandContext named = context;
    named.account = verdict.asks;
    const AccountChanges& changes = verdict.changes.at(verdict.asks);
    Reply reply = wait_for_approval(named, subject_of(command, verdict.asks, changes, txn), txn);
    for (std::size_t i = 0; i < verdict.why.size(); ++i) {
        reply.text += (i == 0 ? ": " : "; ") + verdict.why[i];
    }
    return reply;
}

Result<Reply> run_judged(const Command& command, const CommandContext& context,
                         const std::set<AccountNumber>& accounts,
                         const std::function<Result<Reply>()>& run, LedgerTxn& txn) {
    JudgedAccounts judged;
    for (const AccountNumber account : accounts) {
        AccountSettings settings = account_settings(txn, account);
        if (can_stop(command, settings.policy)) {
            const Timestamp at =
                accounting_date(context.source.received_at, settings.row.closed_until);
            judged.try_emplace(account, Judged{std::move(settings), at, std::nullopt});
        }
    }
    if (judged.empty()) {
        return run();
    }
    const Result<Verdict> verdict = judge(command, context, judged, txn);
    if (!verdict) {
        return run();  // it is refused, in its own words
    }
    if (!verdict->why.empty()) {
        return wait(command, context, *verdict, txn);
    }
    Result<Reply> reply = run();
    for (const auto& [account, moved] : verdict->moved) {
        for (const LimitAmount& amount : moved) {
            count_use({.account = account,
                       .kind = LimitKind::kAttribution,
                       .at = judged.at(account).at,
                       .id = context.source.command_id,
                       .creator = amount.creator,
                       .currency = amount.money.currency,
                       .amount = amount.money.amount},
                      txn);
        }
    }
    return reply;
}

ShownEffect effect_now(const PendingApproval& row, const Command& command,
                       const CommandContext& approval, LedgerTxn& txn) {
    return shown_effect(
        effect_of(row, command, approval.account_id, approval.source.received_at, txn));
}

}  // namespace

const Guards& guards() {
    static const Guards all{run_judged, effect_now};
    return all;
}

}  // namespace sluice

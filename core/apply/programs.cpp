#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/programs/differences.hpp"
#include "core/programs/program.hpp"

namespace sluice {
namespace {

// ---- Checks -------------------------------------------------------------------------------------

/// Returns the policy that will apply once the command is applied.
Policy policy_after(const ProgramApply& command, AccountNumber account, LedgerTxn& txn) {
    for (const Policy& policy : command.policies) {
        if (policy.account == account) {
            return policy;
        }
    }
    return account_settings(txn, account).policy;
}

Status check_rates(const Program& program, const Policy& policy) {
    std::vector<std::pair<std::string, Rate>> rates{{"default_rate", program.default_rate}};
    for (const Tier& tier : program.default_tiers) {
        rates.emplace_back("default_tiers", tier.rate);
    }
    for (std::size_t i = 0; i < program.rules.size(); ++i) {
        const std::string rule = "rule " + std::to_string(i + 1) + ": ";
        rates.emplace_back(rule + "rate", program.rules[i].rate);
        for (const Tier& tier : program.rules[i].tiers) {
            rates.emplace_back(rule + "tiers", tier.rate);
        }
    }
    for (std::size_t i = 0; i < program.rules.size(); ++i) {
        const Rate& factor = program.rules[i].rate;
        for (std::size_t j = 0; factor.kind == RateKind::kMultiplier && j < rates.size(); ++j) {
            const Rate product = multiplied(rates[j].second, factor);
            if (product.kind == RateKind::kPercent && product.value > policy.max_rate) {
                return invalid("program " + program.id.str() + ": rule " + std::to_string(i + 1) +
                               ": rate " + to_string(factor) + " of " + rates[j].first + " " +
                               to_string(rates[j].second) + " is above max_rate, " +
                               policy.max_rate.to_string() + "%");
            }
        }
    }
    for (const auto& [where, rate] : rates) {
        if (rate.kind == RateKind::kPercent && rate.value > policy.max_rate) {
            return invalid("program " + program.id.str() + ": " + where + " " + to_string(rate) +
                           " is above max_rate, " + policy.max_rate.to_string() + "%");
        }
    }
    return {};
}

Status check_program(const Program& program, const ProgramApply& command, LedgerTxn& txn) {
    if (Status valid = validate(program); !valid) {
        return invalid("program " + program.id.str() + ": " + valid.error().message);
    }
    const std::optional<ProgramRow> stored = txn.program(program.id);
    if (stored && stored->program.account != program.account) {
        return conflict("program " + program.id.str() + " belongs to account " +
                        stored->program.account_id.str());
    }
    const std::optional<Timestamp> starts = program.starts_at ? program.starts_at
                                            : stored ? std::optional(stored->first_effective_from)
                                                     : std::nullopt;
    if (program.ends_at && starts && *program.ends_at <= *starts) {
        return invalid("program " + program.id.str() + ": ends_at " + program.ends_at->to_string() +
                       " is not after starts_at " + starts->to_string());
    }
    return check_rates(program, policy_after(command, program.account, txn));
}

Status check(const ProgramApply& command, LedgerTxn& txn) {
    std::set<std::string_view> seen;
    for (const Program& program : command.programs) {
        if (!seen.insert(program.id.view()).second) {
            return conflict("program " + program.id.str() + " is in the file twice");
        }
        if (Status fits = check_program(program, command, txn); !fits) {
            return fits;
        }
    }
    std::set<AccountNumber> accounts;
    for (const Policy& policy : command.policies) {
        if (!accounts.insert(policy.account).second) {
            return conflict("account " + policy.account_id.str() + " has two policies in the file");
        }
    }
    return {};
}

// ---- Policies -----------------------------------------------------------------------------------

/// Names the programs in force, other than those of the file, that have a rate above the policy's
/// `max_rate`. They stay as they are until they are applied again.
std::string rates_above(const Policy& policy, const ProgramApply& command, LedgerTxn& txn) {
    std::string text;
    for (const ProgramRow& row : txn.programs(policy.account)) {
        const bool in_file = std::ranges::any_of(command.programs, [&row](const Program& program) {
            return program.id == row.program.id;
        });
        const Status fits = in_file ? Status() : check_rates(row.program, policy);
        text += fits ? "" : "; " + fits.error().message + ", and stays in force";
    }
    return text;
}

std::vector<Policy> changed_policies(const ProgramApply& command, LedgerTxn& txn) {
    std::vector<Policy> changed;
    for (const Policy& policy : command.policies) {
        if (account_settings(txn, policy.account).row.policy != encode_policy(policy)) {
            changed.push_back(policy);
        }
    }
    return changed;
}

void store_policy(const Policy& policy, const CommandContext& context, LedgerTxn& txn) {
    change_account(txn, policy.account, policy.account_id, [&](AccountRow& row) {
        row.policy = encode_policy(policy);
        row.policy_by = context.actor();
        ++row.policy_version;
    });
    post_memo(txn, context, policy.account, JournalReason::kMemoPolicyChanged);
}

/// The policy's changes, old and new; without a policy the defaults apply.
std::string policy_text(const Policy& policy, LedgerTxn& txn) {
    const AccountSettings settings = account_settings(txn, policy.account);
    return "; policy of " + policy.account_id.str() + ": " +
           differences_text(encode_policy(settings.policy), encode_policy(policy));
}

// ---- Programs -----------------------------------------------------------------------------------

std::string program_text(const Program& program, LedgerTxn& txn) {
    const std::optional<ProgramRow> stored = txn.program(program.id);
    return "; program " + program.id.str() + ": " +
           (stored ? differences_text(encode_program(stored->program), encode_program(program))
                   : "new");
}

using ShopDates = std::map<std::string, Timestamp>;

ShopDates stored_shops(const ProgramId& program, LedgerTxn& txn) {
    ShopDates dates;
    txn.scan(ProgramShop{program, {}, {}}, {1, 1},
             [&dates](const ProgramShop& row) { dates.emplace(row.shop, row.effective_from); });
    return dates;
}

/// Each shop has the effective_from of the apply that added it. An apply that sets `starts_at`
/// reaches back to that instant (A2).
ShopDates shops_after(const Program& program, const ShopDates& before, Timestamp effective_from,
                      bool opens) {
    ShopDates after;
    const auto every = before.find(std::string(kEveryShop));
    std::vector<std::string> shops = program.shops;
    if (shops.empty()) {
        shops.emplace_back(kEveryShop);
    }
    for (const std::string& shop : shops) {
        const auto own = before.find(shop);
        after[shop] = own != before.end()     ? own->second
                      : every != before.end() ? every->second
                                              : effective_from;
    }
    if (program.shops.empty()) {  // shops that the program named before keep their effective_from
        for (const auto& [shop, old] : before) {
            after.try_emplace(shop, old);
        }
    }
    for (auto& [shop, old] : after) {
        old = opens ? std::min(old, *program.starts_at) : old;
    }
    return after;
}

void store_shops(const ProgramId& program, const ShopDates& before, const ShopDates& after,
                 LedgerTxn& txn) {
    for (const auto& [shop, effective_from] : before) {
        if (!after.contains(shop)) {
            txn.erase(ProgramShop{program, shop, effective_from});
        }
    }
    for (const auto& [shop, effective_from] : after) {
        txn.put(ProgramShop{program, shop, effective_from});
    }
}

/// Returns whether the program is new or differs from the stored one.
bool store_program(const Program& program, const ProgramApply& command,
                   const CommandContext& context, LedgerTxn& txn) {
    const std::optional<ProgramRow> stored = txn.program(program.id);
    if (stored && stored->program == program) {
        return false;
    }
    const Timestamp effective_from =
        command.effective_from.value_or(program.default_effective_from(context.source.received_at));
    const bool opens =
        program.starts_at && (!stored || stored->program.starts_at != program.starts_at);
    const ShopDates before = stored_shops(program.id, txn);
    store_shops(program.id, before, shops_after(program, before, effective_from, opens), txn);
    if (program.has_tiers() && !(stored && stored->program.has_tiers())) {
        count_volumes(program, txn);
    }
    if (program.rates_by_month() != (stored && stored->program.rates_by_month())) {
        list_tier_orders(program, txn);
    }
    txn.put_program({program, stored ? stored->version + 1 : 1, context.source.seq,
                     context.source.received_at,
                     stored ? stored->first_effective_from : effective_from,
                     stored ? stored->opening_at : std::nullopt});
    ++txn.mutable_head().programs_revision;
    return true;
}

bool asks_for_customer(AccountNumber account, LedgerTxn& txn) {
    const std::vector<ProgramRow> rows = txn.programs(account);
    return std::ranges::any_of(
        rows, [](const ProgramRow& row) { return row.program.asks_for_customer(); });
}

}  // namespace

Result<Reply> apply_programs(const ProgramApply& command, const CommandContext& context,
                             ProgramCache& /*programs*/, LedgerTxn& txn) {
    if (Status fits = check(command, txn); !fits) {
        return fits.error();
    }
    const std::vector<Policy> policies = changed_policies(command, txn);
    std::string details;
    for (const Policy& policy : policies) {
        details += policy_text(policy, txn) + rates_above(policy, command, txn);
        store_policy(policy, context, txn);
    }
    std::size_t changed = 0;
    std::set<AccountNumber> accounts, asked;
    for (const Program& program : command.programs) {
        if (asks_for_customer(program.account, txn)) {
            asked.insert(program.account);
        }
    }
    for (const Program& program : command.programs) {
        const std::string difference = program_text(program, txn);
        if (store_program(program, command, context, txn)) {
            ++changed;
            details += difference;
        }
        accounts.insert(program.account);
    }
    for (const AccountNumber account : accounts) {
        if (asks_for_customer(account, txn) && !asked.contains(account)) {
            index_customers(account, txn);
        }
        leave_account_work(account, context, txn);
    }
    if (changed == 0 && policies.empty()) {
        return done("no change: the ledger has what the file states");
    }
    return done(counted(command.programs.size(), "program", "programs") + " applied, " +
                std::to_string(changed) + " changed" + details);
}

}  // namespace sluice

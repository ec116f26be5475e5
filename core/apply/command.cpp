#include "core/apply/command.hpp"

#include <tuple>
#include <utility>
#include <variant>

#include "core/approvals/approval.hpp"
#include "core/forget/search.hpp"
#include "core/forget/task.hpp"
#include "core/payouts/payouts.hpp"

namespace sluice {
namespace {

std::set<AccountNumber> accounts_of(const Command& command, const CommandContext& context,
                                    LedgerReader& ledger);

/// The function of each command; the type of the command finds it.
constexpr auto kVerbs = std::make_tuple(
    adjust, credit, import_openings, write_off, reverse_posting, attribute_order, detach_orders,
    set_hold, release_hold, reject_order, ack_anomaly, reset_order, apply_programs, import_creators,
    remove_creator, import_clicks, set_creator, rename_creator, close_period, forget_person,
    accept_gap, discard_dead, set_links, withdraw, close_payouts, move_payouts);

/// Runs one command, or makes it wait for another actor.
struct Runner {
    const CommandContext& context;
    const Replay& replay;
    const Guards* guards;
    ProgramCache& programs;
    LedgerTxn& txn;

    template <class OfVerb>
    Result<Reply> operator()(const OfVerb& command) const {
        const auto run = [&] {
            return std::get<Verb<OfVerb>*>(kVerbs)(command, context, programs, txn);
        };
        if constexpr (guard_of<OfVerb>() == GuardKind::kJudged) {
            if (guards != nullptr && !context.approved) {
                return guards->run_judged(command, context, accounts_of(command, context, txn), run,
                                          txn);
            }
        }
        return run();
    }
    Result<Reply> operator()(const DeadReplay& command) const { return replay(command); }
    Result<Reply> operator()(const Approve& command) const {
        const auto run = [this](const Command& waiting, const CommandContext& approved) {
            return std::visit(Runner{approved, replay, guards, programs, txn}, waiting);
        };
        const auto effect = [this](const PendingApproval& row, const Command& waiting) {
            return guards != nullptr ? guards->effect(row, waiting, context, txn) : ShownEffect{};
        };
        if (std::optional<PendingApproval> waiting = find_pending(command.id, context, txn)) {
            return approve_pending(command, *std::move(waiting), context, run, effect, programs,
                                   txn);
        }
        return approve_payouts(command, context, programs, txn);
    }
};

/// Returns the accounts that the command changes: its key counts in each of them.
std::set<AccountNumber> accounts_of(const Command& command, const CommandContext& context,
                                    LedgerReader& ledger) {
    std::set<AccountNumber> accounts;
    ProgramsByName programs(ledger);
    const auto add_rows = [&](const auto& rows) {
        for (const auto& row : rows) {
            if (const ProgramRow* program = programs.find(row.program)) {
                accounts.insert(program->program.account);
            }
        }
    };
    if (const auto* apply = std::get_if<ProgramApply>(&command)) {
        for (const Program& program : apply->programs) {
            accounts.insert(program.account);
        }
        for (const Policy& policy : apply->policies) {
            accounts.insert(policy.account);
        }
    } else if (const auto* creators = std::get_if<CreatorImport>(&command)) {
        add_rows(creators->rows);
    } else if (const auto* clicks = std::get_if<ClickImport>(&command)) {
        add_rows(clicks->rows);
    } else if (const auto* removed = std::get_if<CreatorRemove>(&command)) {
        add_rows(std::span(removed, 1));
    }
    if (accounts.empty()) {
        accounts.insert(context.account);
    }
    return accounts;
}

CommandRow row_of(const CommandContext& context) {
    return CommandRow{.seq = context.source.seq,
                      .topic = context.source.topic,
                      .command_id = context.source.command_id,
                      .actor = context.source.actor,
                      .received_at = context.source.received_at};
}

/// Returns whether a FORGET has the content of an earlier one with its key. The content includes R,
/// which each command draws, and is erased with the person's ids once the first FORGET is done.
/// From then on the contents count as equal if there is nothing left to forget.
bool is_same_forget(const Request& request, const CommandKey& key, const CommandContext& context,
                    LedgerTxn& txn) {
    const auto* forget = std::get_if<Forget>(&request.command);
    if (forget == nullptr || key.result != kForgotten) {
        return false;
    }
    if (forget->done) {  // in a rebuild: as it was decided
        return !forget->done->refused;
    }
    if (const std::optional<ForgetJob> job = load_task(txn, key.command_id)) {
        Request first = request;
        std::get<Forget>(first.command).secret = job->secret;
        return content_of(first, context.source.topic, context.account, context.shop) ==
               key.content;
    }
    const ForgetWhom whom = forget_subject(*forget, context.account, context.shop);
    if (context.forget_found == nullptr) {
        throw ForgetNotSearched{context.source.seq, whom};
    }
    return !finds_anything(whom, *context.forget_found, txn);
}

/// Returns the answer for a key that was used before, or nullopt if the key is new.
std::optional<CommandRow> answer_for_key(const std::set<AccountNumber>& accounts,
                                         const Request& request, const Digest256& content,
                                         const CommandContext& context, LedgerTxn& txn) {
    for (const AccountNumber account : accounts) {
        CommandKey key;
        key.account = account;
        key.key = context.key;
        if (!txn.load(key)) {
            continue;
        }
        CommandRow row = row_of(context);
        if (key.content != content && !is_same_forget(request, key, context, txn)) {
            return refused_row(context, "key " + context.key + " was used by " + key.command_id +
                                            " with other content; nothing was done");
        }
        row.outcome = CommandOutcome::kRepeated;
        row.result = key.result;
        row.first_command = key.command_id;
        if (key.outcome == CommandOutcome::kPending) {
            report_approval(accounts, row, txn);
        }
        return row;
    }
    return std::nullopt;
}

}  // namespace

std::string names_of(const NamedAccounts& accounts) {
    constexpr std::size_t kNamesMax = 10;
    std::string text;
    std::size_t named = 0;
    for (const auto& [number, id] : accounts) {
        if (named++ == kNamesMax) {
            return text + " and " + std::to_string(accounts.size() - kNamesMax) + " more";
        }
        text += (text.empty() ? "" : ", ") + id.str();
    }
    return text;
}

CommandRow refused_row(const CommandContext& context, std::string why) {
    CommandRow row = row_of(context);
    row.outcome = CommandOutcome::kRefused;
    row.result = std::move(why);
    return row;
}

CommandRow apply_command(const Request& request, const CommandContext& context,
                         const Replay& replay, const Guards* guards, ProgramCache& programs,
                         LedgerTxn& txn) {
    std::set<AccountNumber> accounts;
    Digest256 content{};
    if (!context.key.empty()) {
        accounts = accounts_of(request.command, context, txn);
        content = content_of(request, context.source.topic, context.account, context.shop);
        if (std::optional<CommandRow> known =
                answer_for_key(accounts, request, content, context, txn)) {
            txn.put(*known);
            return *std::move(known);
        }
    }
    const Result<Reply> reply =
        std::visit(Runner{context, replay, guards, programs, txn}, request.command);
    CommandRow row = row_of(context);
    row.outcome = reply ? reply->outcome : CommandOutcome::kRefused;
    row.result = reply ? reply->text : reply.error().message;
    txn.put(row);
    if (row.outcome != CommandOutcome::kRefused) {
        for (const AccountNumber account : accounts) {
            txn.put(
                CommandKey{account, context.key, content, row.command_id, row.outcome, row.result});
        }
    }
    return row;
}

}  // namespace sluice

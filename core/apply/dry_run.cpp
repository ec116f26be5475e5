#include "core/apply/dry_run.hpp"

#include <utility>

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/overlay.hpp"
#include "core/orders/order.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

constexpr std::size_t kStepsAtOnce = 1024;

/// Doubles the steps between two questions, because each answer reads everything done so far.
void finish_work(ProgramCache& programs, Overlay& txn,
                 const std::function<bool(Overlay&)>& continues) {
    OrderApplier orders(programs);
    std::size_t steps = kStepsAtOnce;
    while (continues(txn) && do_work(orders, txn, steps)) {
        steps *= 2;
    }
}

std::vector<DryRunRow> rows_of(LedgerReader& before, const Overlay& after) {
    Differences differences;
    OrderState stored;
    for (const auto& [key, order] : after.changed_orders()) {
        differences.add(before.load_order(key, stored) ? &stored : nullptr, &order);
    }
    return differences.rows();
}

/// Returns a row for what is posted without an order, such as a credit.
std::vector<DryRunRow> rows_without_orders(const ChangeSet& changes) {
    std::vector<DryRunRow> rows;
    for (const auto& [account, changed] : changes) {
        for (const auto& [key, moved] : changed.by_hand) {
            const auto& [program, creator, currency] = key;
            rows.push_back(
                {program, creator, currency, 0, zero_amount(currency), moved.net, moved.net});
        }
    }
    return rows;
}

/// Returns the creator of the order and the program, or two empty ids.
std::pair<ProgramId, CreatorId> creator_and_program(const OrderState* order) {
    const Position* const live = order != nullptr ? order->position() : nullptr;
    return live != nullptr ? std::pair(live->attribution.program, live->attribution.creator)
                           : std::pair<ProgramId, CreatorId>();
}

}  // namespace

Differences::Shares Differences::shares_of(const OrderState* order) {
    Shares shares;
    if (order == nullptr) {
        return shares;
    }
    const Position* const live = order->position();
    const auto share_of = [&shares, live](const Position& position,
                                          const Currency& currency) -> Share& {
        const Attribution& to = position.attribution;
        Share& share = shares.try_emplace({to.program, to.creator, currency}).first->second;
        share.is_owner = share.is_owner || &position == live;
        return share;
    };
    for (const Position& position : order->positions) {
        for (const LineAccrual& accrual : position.accruals) {
            share_of(position, accrual.currency).accrued += accrual.accrued;
        }
        if (position.accruals.empty()) {  // such as those of a rate of 0 %
            share_of(position, order->currency).accrued += zero_amount(order->currency);
        }
    }
    return shares;
}

void Differences::add(const OrderState* before, const OrderState* after) {
    const Shares then = shares_of(before), now = shares_of(after);
    const bool keeps_owner = creator_and_program(before) == creator_and_program(after);
    Shares keys = then;
    keys.insert(now.begin(), now.end());
    for (const auto& [key, either] : keys) {
        const Decimal zero = zero_amount(std::get<Currency>(key));
        const auto [was, owned] = then.contains(key) ? then.at(key) : Share{zero};
        const auto [is, owns] = now.contains(key) ? now.at(key) : Share{zero};
        if (was == is && (keeps_owner || owned == owns)) {
            continue;
        }
        DryRunRow& row = value_at(rows_, key,
                                  DryRunRow{std::get<ProgramId>(key), std::get<CreatorId>(key),
                                            std::get<Currency>(key), 0, zero, zero, zero});
        ++row.orders;
        row.before += was;
        row.after += is;
        row.difference = row.after - row.before;
    }
}

std::vector<DryRunRow> Differences::rows() const {
    return mapped(rows_, [](const auto& entry) { return entry.second; });
}

Result<Reply> try_command(const Command& command, CommandContext context, LedgerReader& ledger,
                          const Trial& trial) {
    ProgramCache programs;
    Overlay before(ledger);
    finish_work(programs, before, [](Overlay&) { return true; });
    LedgerReader& start = before;
    Overlay after(start);
    context.source.topic = topic_of(command);
    context.source.seq = SequenceNumber{ledger.head().applied_seq.value + 1};
    if (context.source.command_id.empty()) {
        context.source.command_id =
            command_id(ledger.head().node, context.source.seq, context.source.received_at);
    }
    context.approved = true;
    const Replay no_replay = [](const DeadReplay&) -> Result<Reply> {
        return unsupported("a replay of dead letters has no dry run");
    };
    const Request request{{}, context.source.note, command};
    const CommandRow row = apply_command(request, context, no_replay, nullptr, programs, after);
    if (row.outcome == CommandOutcome::kRefused) {
        return invalid(row.result);
    }
    finish_work(programs, after, trial.continues);
    trial.compare(after, before);
    return Reply{row.outcome, row.result};
}

Result<DryRun> dry_run(const Command& command, const CommandContext& context,
                       LedgerReader& ledger) {
    DryRun run;
    const Result<Reply> reply = try_command(command, context, ledger,
                                            {[](Overlay&) { return true; },
                                             [&run](Overlay& after, LedgerReader& before) {
                                                 const ChangeSet changes =
                                                     changes_of(after, before);
                                                 run.rows = rows_of(before, after);
                                                 if (run.rows.empty()) {
                                                     run.rows = rows_without_orders(changes);
                                                 }
                                                 run.digest = digest_of(changes);
                                             }});
    if (!reply) {
        return reply.error();
    }
    run.text = reply->text;
    return run;
}

// ---- Approvals ----------------------------------------------------------------------------------

Result<DryRun> effect_of(const PendingApproval& row, const Command& command,
                         const AccountId& account_id, Timestamp now, LedgerReader& ledger) {
    CommandContext context;
    context.source.received_at = now;
    context.source.command_id = row.command_id;  // that of the postings after an approval
    context.source.note = row.reason;
    context.source.actor = row.actor;
    context.account = row.account;
    context.account_id = account_id;
    context.shop = row.shop;
    context.shop_id = row.shop_id;
    return dry_run(command, context, ledger);
}

/// A refusal is one state, whatever its words.
ShownEffect shown_effect(const Result<DryRun>& effect) {
    return effect ? ShownEffect{effect->digest, false, effect->rows} : ShownEffect{{}, true};
}

Result<ShownApproval> shown_approval(LedgerReader& ledger, AccountNumber account,
                                     const AccountId& account_id, const std::string& id,
                                     Timestamp now, const std::string& payees) {
    Result<ApprovalSubject> subject = approval_subject(ledger, account, account_id, id);
    if (!subject) {
        return subject.error();
    }
    ShownApproval shown{*std::move(subject)};
    if (!shown.subject.command) {
        shown.subject.digest = digest_with_payees(shown.subject.digest, payees);
    }
    if (!shown.subject.command || !shown.subject.waits()) {
        return shown;
    }
    const PendingApproval& row = *shown.subject.command;
    if (const Result<Request> request = decode_request(row.topic, row.body)) {
        shown.effect.emplace(effect_of(row, request->command, account_id, now, ledger));
        add_effect(shown.subject, shown_effect(*shown.effect));
    }
    return shown;
}

}  // namespace sluice

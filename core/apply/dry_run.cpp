#include "core/apply/dry_run.hpp"

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/overlay.hpp"
#include "core/orders/order.hpp"

namespace sluice {
namespace {

constexpr std::size_t kStepsAtOnce = 1024;

void finish_work(ProgramCache& programs, LedgerTxn& txn) {
    OrderApplier orders(programs);
    while (do_work(orders, txn, kStepsAtOnce)) {
    }
}

std::vector<DryRunRow> changes(LedgerReader& before, const Overlay& after) {
    Differences differences;
    OrderState stored;
    for (const auto& [key, order] : after.changed_orders()) {
        differences.add(before.load_order(key, stored) ? &stored : nullptr, &order);
    }
    return differences.rows();
}

}  // namespace

Differences::Accruals Differences::accruals_of(const OrderState* order) {
    Accruals accruals;
    if (order == nullptr) {
        return accruals;
    }
    for (const Position& position : order->positions) {
        for (const LineAccrual& accrual : position.accruals) {
            accruals[{position.attribution.program, position.attribution.creator,
                      accrual.currency}] += accrual.accrued;
        }
    }
    return accruals;
}

void Differences::add(const OrderState* before, const OrderState* after) {
    const Accruals then = accruals_of(before), now = accruals_of(after);
    Accruals keys = then;
    keys.insert(now.begin(), now.end());
    for (const auto& [key, either] : keys) {
        const Decimal zero = zero_amount(std::get<Currency>(key));
        const Decimal was = then.contains(key) ? then.at(key) : zero;
        const Decimal is = now.contains(key) ? now.at(key) : zero;
        if (was == is) {
            continue;
        }
        DryRunRow& row =
            rows_
                .try_emplace(key, DryRunRow{std::get<ProgramId>(key), std::get<CreatorId>(key),
                                            std::get<Currency>(key), 0, zero, zero, zero})
                .first->second;
        ++row.orders;
        row.before += was;
        row.after += is;
        row.difference = row.after - row.before;
    }
}

std::vector<DryRunRow> Differences::rows() const {
    std::vector<DryRunRow> list;
    for (const auto& [key, row] : rows_) {
        list.push_back(row);
    }
    return list;
}

Result<DryRun> dry_run(const Command& command, CommandContext context, LedgerReader& ledger) {
    ProgramCache programs;
    Overlay before(ledger);
    finish_work(programs, before);
    LedgerReader& start = before;
    Overlay trial(start);
    context.source.topic = topic_of(command);
    context.source.seq = SequenceNumber{ledger.head().applied_seq.value + 1};
    if (context.source.command_id.empty()) {
        context.source.command_id =
            command_id(ledger.head().node, context.source.seq, context.source.received_at);
    }
    context.approved = true;
    const Replay no_replay = [](const DeadReplay&) -> Result<Reply> {
        return Error{ErrorCode::kUnsupported, "a replay of dead letters has no dry run"};
    };
    const Request request{{}, context.source.note, command};
    const CommandRow row = apply_command(request, context, no_replay, programs, trial);
    if (row.outcome == CommandOutcome::kRefused) {
        return Error{ErrorCode::kInvalid, row.result};
    }
    finish_work(programs, trial);
    return DryRun{row.result, changes(before, trial)};
}

}  // namespace sluice

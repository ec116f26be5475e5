#include "core/forget/rows.hpp"

#include <algorithm>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/forget/search.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

std::vector<ForgetDone> parts_done(const std::string& command_id, LedgerTxn& txn) {
    std::vector<ForgetDone> parts;
    txn.scan(ForgetDone{command_id, {}}, {1, 1}, [&parts](const ForgetDone& row) {
        parts.push_back(row);
        return true;
    });
    return parts;
}

}  // namespace

void forget_clicks(const ForgetJob& job, const ForgetNames& names, LedgerTxn& txn) {
    for (const Digest256& device : job.found.devices) {
        std::vector<Click> clicks;
        Click first;
        first.account = job.whom.account;
        first.anon = device;
        txn.scan(first, {2, 2}, [&clicks](const Click& click) {
            clicks.push_back(click);
            return true;
        });
        for (const Click& click : clicks) {
            Click moved = click;
            moved.anon = *names.device(device);
            txn.erase(click);
            txn.put(moved);
        }
    }
}

void forget_letters(const ForgetJob& job, LedgerTxn& txn) {
    std::vector<SequenceNumber> letters;
    txn.scan_dead([&](const DeadLetter& letter) {
        if (job.is_before(txn.head().node, letter.seq, letter.received_at)) {
            letters.push_back(letter.seq);
        }
        return true;
    });
    ForgetEdit edit(job, txn);
    for (const SequenceNumber seq : letters) {
        std::optional<DeadLetter> letter = txn.dead_letter(seq);
        auto edited = letter ? edit.edit({letter->record, letter->bulk_body, letter->body_sha256})
                             : std::nullopt;
        if (edited) {
            letter->record = std::move(edited->record);
            letter->body_sha256 = edited->body_sha256;
            letter->bulk_body.clear();
            txn.put(*letter);
        }
    }
}

void forget_ids(const OrderKey& key, const ForgetNames& names, const ForgetWhom& whom,
                LedgerTxn& txn) {
    OrderState state;
    if (!skip_damaged([&] { return txn.load_order(key, state); })) {
        return;
    }
    const std::vector<WaitKey> waiting = wait_keys(state);
    const std::optional<Digest256> device =
        state.device ? names.device(*state.device) : std::nullopt;
    const std::optional<Digest256> customer =
        state.customer && key.shop == whom.shop ? names.customer(*state.customer) : std::nullopt;
    if (device) {
        const WaitKey old{key.account, WaitKind::kAnon, *state.device};
        if (std::binary_search(waiting.begin(), waiting.end(), old)) {
            txn.erase(WaitingOrder{old, state.ordered_at, key.shop, key.order_id});
            txn.put(WaitingOrder{
                {key.account, WaitKind::kAnon, *device}, state.ordered_at, key.shop, key.order_id});
        }
        state.device = device;
    }
    if (customer) {
        CustomerOrder row{key.account, key.shop, *state.customer, state.ordered_at, key.order_id};
        if (txn.load(row)) {
            txn.erase(row);
            row.customer = *customer;
            txn.put(row);
        }
        state.customer = customer;
    }
    if (device || customer) {
        txn.put_order(state);
    }
}

std::optional<ForgetJob> forget_more(const std::string& command_id, const ForgetFound& found,
                                     bool rows, LedgerTxn& txn) {
    std::optional<ForgetJob> job = load_task(txn, command_id);
    if (!job) {
        return std::nullopt;
    }
    const bool grew = job->found.add(found);
    if (grew) {
        txn.put(encode_task(*job));
        for (const ForgetDone& part : parts_done(command_id, txn)) {
            txn.erase(part);
        }
    }
    forget_letters(*job, txn);
    if ((!grew && !rows) || job->whom.by == ForgetBy::kCreator) {
        return job;
    }
    const ForgetNames names(*job);
    forget_clicks(*job, names, txn);
    std::vector<OrderKey> orders;
    visit_forgotten(job->whom, job->found, txn,
                    [&orders](const OrderState& state) { orders.push_back(state.key); });
    for (const OrderKey& order : orders) {
        forget_ids(order, names, job->whom, txn);
    }
    return job;
}

bool note_forgotten(const std::string& command_id, const ForgetFound& found,
                    const std::vector<std::string>& nodes, LedgerTxn& txn) {
    const std::optional<ForgetJob> job = load_task(txn, command_id);
    if (!job) {
        return true;
    }
    if (job->found != found) {
        return false;
    }
    for (const std::string& node : nodes) {
        txn.put(ForgetDone{command_id, node});
    }
    std::vector<ForgetDone> parts = parts_done(command_id, txn);
    bool all_done = true;
    txn.scan_heads([&](const LedgerHead& head) {
        all_done = std::any_of(parts.begin(), parts.end(),
                               [&](const ForgetDone& part) { return part.node == head.node; });
        return all_done;
    });
    if (all_done) {
        for (const ForgetDone& part : parts) {
            txn.erase(part);
        }
        ForgetTask task;
        task.command_id = command_id;
        txn.erase(task);
    }
    return true;
}

}  // namespace sluice

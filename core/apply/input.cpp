#include "core/apply/input.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/apply/catalog.hpp"
#include "core/apply/command.hpp"
#include "core/apply/dead_letters.hpp"
#include "core/apply/retry_work.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/command_id.hpp"

namespace sluice {
namespace {

/// Only what was edited after it was stored has any.
Pseudonyms pseudonyms_of(const Input& input) noexcept {
    return input.body_sha256 ? Pseudonyms::kRead : Pseudonyms::kRefused;
}

EventDigest first_half(const Digest256& digest) noexcept {
    EventDigest half;
    std::copy_n(digest.begin(), half.size(), half.begin());
    return half;
}

}  // namespace

std::uint64_t& counter(Totals& totals, InputClass input_class) noexcept {
    switch (input_class) {
        case InputClass::kApplied:
            return totals.applied;
        case InputClass::kStale:
            return totals.stale;
        case InputClass::kDuplicate:
            return totals.duplicate;
        case InputClass::kCatalog:
            return totals.catalog;
        case InputClass::kCommand:
            return totals.commands;
        case InputClass::kDead:
            break;
    }
    return totals.dead;
}

Applied InputApplier::apply(const Input& input, const RecordMeta*& meta_out, RecordView& record,
                            LedgerTxn& txn) {
    Result<RecordView> decoded = decode_record(input.record);
    if (!decoded) {
        return dead(decoded.error().message);
    }
    record = *decoded;
    meta_out = &record.meta;
    if (input.dead_reason) {
        return dead(*input.dead_reason);
    }
    if (record.meta.bulk && input.bulk_body.size() != record.meta.bulk->bytes) {
        return dead("its body, which lay beside the queue, is missing");
    }
    const Decoded whole{input, record.meta, record.meta.bulk ? input.bulk_body : record.body};
    const Topic topic = record.meta.topic;
    if (is_command(topic)) {
        return apply_command(whole, txn);
    }
    if (input.damage) {
        return dead("DAMAGED_ROW: " + *input.damage);
    }
    if (record.meta.account_number.value == 0 || record.meta.shop_number.value == 0) {
        return dead("the record names no shop");
    }
    return is_order(topic) ? apply_order(whole, txn) : apply_catalog(whole, txn);
}

Applied InputApplier::apply_order(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    const Pseudonyms pseudonyms = pseudonyms_of(decoded.input);
    const OrderEvent* event = orders_.parse(decoded.body, meta.topic, {}, pseudonyms);
    if (event == nullptr) {
        return dead(refusal(orders_.errors()));
    }
    shops_.learn(meta, txn);
    EventArrival arrival{decoded.input.seq, meta.received_at, {}, {}, {}};
    arrival.digest =
        first_half(decoded.input.body_sha256 ? *decoded.input.body_sha256 : sha256(decoded.body));
    arrival.device = device_of(meta, pseudonyms);
    arrival.customer = customer_digest(*event);
    return {order_applier_.apply_order(
                {*event, meta.account_number, meta.shop_number, meta.shop_id, arrival}, txn),
            false,
            {}};
}

Applied InputApplier::apply_catalog(const Decoded& decoded, LedgerTxn& txn) {
    switch (products_.validate(decoded.body, decoded.meta.topic)) {
        case BatchVerdict::kNotABatch:
            return dead(std::string(products_.batch_error()));
        case BatchVerdict::kRecordErrors:
            return dead(refusal(products_.errors()));
        case BatchVerdict::kValid:
            break;
    }
    shops_.learn(decoded.meta, txn);
    sluice::apply_catalog(decoded.meta.topic, decoded.body, decoded.meta.account_number,
                          decoded.meta.shop_number, txn);
    return {InputClass::kCatalog, false, {}, CommandOutcome::kDone};
}

Applied InputApplier::apply_command(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    const Result<Request> request =
        decode_request(meta.topic, decoded.body, pseudonyms_of(decoded.input));
    if (!request) {
        return dead(request.error().message);
    }
    CommandContext context;
    context.source = {
        decoded.input.seq, meta.topic,
        meta.received_at,  command_id(txn.head().node, decoded.input.seq, meta.received_at),
        request->reason,   std::string(meta.actor)};
    context.account = meta.account_number;
    context.shop = meta.shop_number;
    context.account_id = AccountId(meta.account_id);
    context.shop_id = ShopId(meta.shop_id);
    context.key = request->key;
    context.body = decoded.body;
    context.forget_found = decoded.input.forget_found;
    if (decoded.input.damage) {
        CommandRow row = refused_row(context, *decoded.input.damage);
        txn.put(row);
        return {InputClass::kCommand, true, std::move(row.result), row.outcome};
    }
    const CommandRow row = sluice::apply_command(
        *request, context,
        [&](const DeadReplay& c) {
            return replay_letters(
                c, [&](DeadLetter letter) { return replay(std::move(letter), txn); }, txn);
        },
        programs_, txn);
    do_work(order_applier_, txn, kWorkInline);
    return {InputClass::kCommand, row.outcome == CommandOutcome::kRefused, row.result, row.outcome};
}

bool InputApplier::replay(DeadLetter letter, LedgerTxn& txn) {
    const Input input = input_of(letter);
    const RecordMeta* meta = nullptr;
    RecordView record;
    const Applied applied = is_final(letter) ? dead("it is not replayed: run the command again")
                                             : apply(input, meta, record, txn);
    if (applied.input_class == InputClass::kDead) {
        put_back(std::move(letter), applied.text, txn);
        return false;
    }
    Totals& totals = txn.mutable_head().totals;
    --totals.dead;
    ++counter(totals, applied.input_class);
    txn.erase(letter);
    return true;
}

bool InputApplier::work(LedgerTxn& txn, std::size_t orders_max) {
    return do_work(order_applier_, txn, orders_max);
}

void InputApplier::discard() noexcept {
    programs_.clear();
    shops_.clear();
}

}  // namespace sluice

#include "core/apply/apply.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/apply/clicks.hpp"
#include "core/apply/command.hpp"
#include "core/apply/guard.hpp"
#include "core/apply/work.hpp"
#include "core/commands/ids.hpp"
#include "core/orders/sums.hpp"
#include "core/protocol/input_digest.hpp"
#include "core/protocol/order_deletion.hpp"
#include "core/rules/catalog.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

constexpr std::string_view kPrivacyReason = "PRIVACY_REQUEST: ";

Applied dead(std::string reason) {
    return {InputClass::kDead, false, std::move(reason), CommandOutcome::kRefused};
}

EventDigest first_half(const Digest256& digest) noexcept {
    EventDigest half;
    std::copy_n(digest.begin(), half.size(), half.begin());
    return half;
}

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
        case InputClass::kClicks:
            return totals.clicks;
        case InputClass::kDead:
            break;
    }
    return totals.dead;
}

// ---- Products -----------------------------------------------------------------------------------

void upsert_product(std::string_view element, AccountNumber account, ShopNumber shop,
                    LedgerTxn& txn) {
    ProductName name = product_name(element);
    const CatalogKey key{account, shop, std::move(name.product_id), std::move(name.language),
                         std::move(name.country)};
    const std::optional<CatalogRecord> stored = txn.catalog(key);
    const CatalogRecord* old = stored ? &*stored : nullptr;
    txn.put_catalog(merge_product(key, old, element), old);
}

/// Deletes the copy of the element's language and country; all copies if it names neither.
void erase_product(std::string_view element, AccountNumber account, ShopNumber shop,
                   LedgerTxn& txn) {
    const ProductName name = product_name(element);
    const bool all = name.language.empty() && name.country.empty();
    for (const CatalogKey& key : txn.product_copies(account, shop, name.product_id)) {
        if (!all && (key.language != name.language || key.country != name.country)) {
            continue;
        }
        if (const std::optional<CatalogRecord> stored = txn.catalog(key)) {
            txn.delete_catalog(*stored);
        }
    }
}

/// Requires: `body` is a valid batch for `topic`.
void apply_batch(Topic topic, std::string_view body, AccountNumber account, ShopNumber shop,
                 LedgerTxn& txn) {
    for (const std::string_view element : product_elements(body)) {
        if (topic == Topic::kProductUpsert) {
            upsert_product(element, account, shop, txn);
        } else {
            erase_product(element, account, shop, txn);
        }
    }
}

// ---- Dead letters -------------------------------------------------------------------------------

/// Returns true if the letter is never replayed: its command acts on other inputs, which have
/// changed by then, or it has no seal, which a rebuild without the keys could not see; or it is
/// answered by a person.
bool is_final(const DeadLetter& letter) noexcept {
    return letter.topic == Topic::kDeadReplay || letter.topic == Topic::kForget ||
           letter.topic == Topic::kAcceptGap || letter.topic == Topic::kDeadDiscard ||
           letter.topic == Topic::kPrivacyRequest || is_not_sealed(letter.reason);
}

/// Replays the letters that the command names, or all.
/// @param replay  Returns true if the letter could be applied and is erased.
Result<Reply> replay_letters(const DeadReplay& command,
                             const std::function<bool(DeadLetter letter)>& replay, LedgerTxn& txn) {
    Result<std::vector<DeadLetter>> named = named_letters(command.seqs, txn);
    if (!named) {
        return named.error();
    }
    std::vector<DeadLetter> letters = std::move(named).value();
    if (command.seqs.empty()) {
        txn.scan_dead([&letters](const DeadLetter& letter) { letters.push_back(letter); });
    }
    const std::size_t tried = letters.size();
    std::size_t replayed = 0;
    for (DeadLetter& letter : letters) {
        replayed += replay(std::move(letter)) ? std::size_t{1} : std::size_t{0};
    }
    return done(std::to_string(replayed) + " replayed, " + std::to_string(tried - replayed) +
                " still dead");
}

}  // namespace

Applied Applier::apply(const Input& input, LedgerTxn& txn, const PreparedInput* ahead) {
    SLUICE_ASSERT(input.seq > txn.head().applied_seq);
    if (ahead == nullptr) {
        preparer_.prepare(input, prepared_);
        ahead = &prepared_;
    }
    const RecordMeta* const meta = ahead->record ? &ahead->record->meta : nullptr;
    Applied applied = apply_input(input, std::nullopt, *ahead, txn);
    if (applied.input_class == InputClass::kDead) {
        store_letter(input, *ahead, applied.text, unread_, txn);
    }
    if (meta != nullptr) {
        applied.token = meta->token;
        applied.received_at = meta->received_at;
    }
    LedgerHead& head = txn.mutable_head();
    ++counter(head.totals, applied.input_class);
    head.applied_seq = applied.gap_end.value_or(input.seq);
    head.inputs_sha256 = chain_after(head.inputs_sha256, input.seq, ahead->digest);
    head.last_received = meta != nullptr ? meta->received_at : head.last_received;
    return applied;
}

Applied Applier::apply_input(const Input& input, std::optional<Timestamp> replayed_at,
                             const PreparedInput& prepared, LedgerTxn& txn) {
    const Result<RecordView>& record = prepared.record;
    if (!record || input.dead_reason) {
        return dead(input.dead_reason ? *input.dead_reason : record.error().message);
    }
    const RecordMeta& meta = record->meta;
    if (meta.bulk && input.bulk_body.size() != meta.bulk->bytes) {
        return dead("its body, which lay beside the queue, is missing");
    }
    const Decoded whole{input, meta, prepared, meta.bulk ? input.bulk_body : record->body,
                        replayed_at};
    const Topic topic = meta.topic;
    if (is_command(topic)) {
        return apply_command(whole, txn);
    }
    if (input.damage) {
        return dead("DAMAGED_ROW: " + *input.damage);
    }
    const bool names_shop = meta.shop_number.value != 0 || is_clicks(topic);
    if (meta.account_number.value == 0 || !names_shop) {
        return dead("the record names no shop");
    }
    if (is_from_future(whole)) {
        return dead(std::string(kFromFuture) + ": its time of receipt, " +
                    meta.received_at.to_string() +
                    ", is more than a day ahead of the clock: the clock of nginx was wrong, or "
                    "nginx did not write it");
    }
    if (topic == Topic::kOrderDelete) {
        return apply_deletion(whole, txn);
    }
    if (topic == Topic::kPrivacyRequest) {
        return refuse_privacy_request(whole, txn);
    }
    if (is_clicks(topic)) {
        return apply_click_record(whole, txn);
    }
    return is_order(topic) ? apply_order(whole, txn) : apply_catalog(whole, txn);
}

std::optional<std::string> Applier::find_event_shop(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    KnownShop* shop = nullptr;
    if (std::optional<std::string> fault = find_shop(decoded, txn, shop)) {
        return fault;
    }
    const std::int64_t minute = minute_of(meta.received_at);
    const std::uint32_t node = txn.head().number;
    if (minute != shop->last_minute || node != shop->last_node) {
        note_minute(txn, meta.account_number, meta.shop_number, meta.received_at);
        shop->last_minute = minute;
        shop->last_node = node;
    }
    return std::nullopt;
}

/// Applies an event of an order, and does the first of the work that it leaves.
template <class Apply>
Applied Applier::with_work(LedgerTxn& txn, Apply apply) {
    const std::uint64_t next_work = txn.head().next_work;
    const InputClass input_class = apply();
    if (txn.head().next_work != next_work) {
        do_work(order_applier_, txn, kWorkInline);
    }
    return {input_class, false, {}};
}

Applied Applier::apply_order(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    const PreparedInput& prepared = decoded.prepared;
    if (prepared.event == nullptr) {
        return dead(prepared.fault);
    }
    if (std::optional<std::string> fault = find_event_shop(decoded, txn)) {
        return dead(*std::move(fault));
    }
    EventArrival arrival{decoded.input.seq, meta.received_at, {}, {}, {}};
    arrival.digest = first_half(prepared.body_sha256);
    arrival.device = prepared.device;
    arrival.customer = prepared.customer;
    arrival.traceparent = meta.traceparent;
    arrival.source = event_source(meta.source);
    OrderArrival arrived{*prepared.event, meta.account_number, meta.shop_number, meta.shop_id,
                         arrival};
    if (meta.source) {
        arrived.source = {meta.source->platform, prepared.event->source_notes};
    }
    const Applied applied =
        with_work(txn, [&] { return order_applier_.apply_order(arrived, txn); });
    if (unread_.may_have(prepared.event->order_id, txn)) {
        end_letters({arrived.account, arrived.shop, OrderId(prepared.event->order_id)},
                    prepared.event->updated_at, decoded.input.seq, txn);
    }
    return applied;
}

/// A platform states no version of a deletion, or that of the last second of the order.
Applied Applier::apply_deletion(const Decoded& decoded, LedgerTxn& txn) {
    constexpr std::uint32_t kNanosMax = 999'999'999;
    const RecordMeta& meta = decoded.meta;
    const Result<OrderDeletion> deletion = parse_order_deletion(decoded.body);
    if (!deletion) {
        return dead(deletion.error().message);
    }
    if (!meta.source) {
        return dead("ORDER_DELETE of a shop without a platform");
    }
    if (std::optional<std::string> fault = find_event_shop(decoded, txn)) {
        return dead(*std::move(fault));
    }
    OrderEvent event;
    event.topic = meta.topic;
    event.order_id = deletion->order_id;
    event.cancelled_at = Timestamp::parse(meta.source->triggered_at).value_or(meta.received_at);
    EventArrival arrival{decoded.input.seq, meta.received_at, {}, {}, {}, meta.traceparent};
    arrival.digest = first_half(decoded.prepared.body_sha256);
    arrival.source = event_source(meta.source);
    std::optional<Timestamp> version = deletion->updated_at;
    if (!version && meta.source->platform == Platform::kShopify) {
        version = Timestamp{meta.received_at.seconds, kNanosMax};
    }
    const OrderArrival arrived{
        event,   meta.account_number,          meta.shop_number, meta.shop_id,
        arrival, {{meta.source->platform, {}}}};
    return with_work(txn, [&] { return order_applier_.delete_order(arrived, version, txn); });
}

/// Sets a platform's request about a person's data aside until a person has answered it.
Applied Applier::refuse_privacy_request(const Decoded& decoded, LedgerTxn& txn) {
    if (std::optional<std::string> fault = find_event_shop(decoded, txn)) {
        return dead(*std::move(fault));
    }
    const std::string_view topic =
        decoded.meta.source ? decoded.meta.source->topic : std::string_view();
    return dead(std::string(kPrivacyReason) + std::string(topic));
}

Applied Applier::apply_catalog(const Decoded& decoded, LedgerTxn& txn) {
    switch (products_.validate(decoded.body, decoded.meta.topic)) {
        case BatchVerdict::kNotABatch:
            return dead(std::string(products_.batch_error()));
        case BatchVerdict::kRecordErrors:
            return dead(first_fault(products_.errors()));
        case BatchVerdict::kValid:
            break;
    }
    KnownShop* shop = nullptr;
    if (std::optional<std::string> fault = find_shop(decoded, txn, shop)) {
        return dead(*std::move(fault));
    }
    apply_batch(decoded.meta.topic, decoded.body, decoded.meta.account_number,
                decoded.meta.shop_number, txn);
    return {InputClass::kCatalog, false, {}, CommandOutcome::kDone};
}

Applied Applier::apply_click_record(const Decoded& decoded, LedgerTxn& txn) {
    const Parsed<ClickRecord> record = decode_clicks(decoded.body);
    if (!record) {
        return dead("the body is not a list of clicks");
    }
    const RecordMeta& meta = decoded.meta;
    CommandContext context;
    context.source = {decoded.input.seq, meta.topic, meta.received_at,
                      command_id(txn.head().node, decoded.input.seq, meta.received_at)};
    context.account = meta.account_number;
    apply_clicks(*record, context, programs_, txn);
    do_work(order_applier_, txn, kWorkInline);
    return {InputClass::kClicks, false, {}, CommandOutcome::kDone};
}

/// Returns why a command is not one that `sluice` wrote at this place, or nothing. Notes its seal.
std::optional<std::string> Applier::seal_fault_of(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    const SequenceNumber seq = decoded.input.seq;
    if (seals_ != nullptr) {
        if (std::optional<std::string> fault =
                seals_->fault(meta, decoded.prepared.body_sha256, txn.head().node, seq)) {
            return fault;
        }
    }
    UsedSeal used{meta.seal ? meta.seal->mac : Digest256{}, {}};
    if (meta.seal && !txn.load(used)) {
        used.seq = seq;
        txn.put(used);
    }
    return std::nullopt;
}

Applied Applier::apply_command(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    if (std::optional<std::string> fault = seal_fault_of(decoded, txn)) {
        return dead(*std::move(fault));
    }
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
                c,
                [&](DeadLetter letter) { return replay(std::move(letter), meta.received_at, txn); },
                txn);
        },
        &guards(), programs_, txn);
    do_work(order_applier_, txn, kWorkInline);
    Applied applied{InputClass::kCommand, row.outcome == CommandOutcome::kRefused, row.result,
                    row.outcome};
    if (const auto* gap = std::get_if<AcceptGap>(&request->command);
        gap != nullptr && row.outcome == CommandOutcome::kDone) {
        applied.gap_end = gap->last;
    }
    return applied;
}

bool Applier::replay(DeadLetter letter, Timestamp at, LedgerTxn& txn) {
    if (!txn.dead_letter(letter.seq)) {
        return true;  // the letter before it was a later state of its order
    }
    const Input input{letter.seq, letter.record, letter.bulk_body, {}, letter.body_sha256, {}};
    const bool is_over = is_final(letter);
    PreparedInput prepared;  // of its own, because the command's is still in use
    if (!is_over) {
        preparer_.prepare(input, prepared);
    }
    const Applied applied = is_over ? dead("it is not replayed: run the command again")
                                    : apply_input(input, at, prepared, txn);
    if (applied.input_class == InputClass::kDead) {
        ++letter.attempts;
        // A verdict stays, because it is archived: a rebuild cannot give it.
        const bool stays = is_verdict(letter.reason) || letter.topic == Topic::kPrivacyRequest;
        letter.reason = stays ? letter.reason : applied.text;
        txn.put(letter);
        return false;
    }
    Totals& totals = txn.mutable_head().totals;
    --totals.dead;
    ++counter(totals, applied.input_class);
    erase_letter(letter, txn);
    return true;
}

bool Applier::is_from_future(const Decoded& decoded) const {
    const Timestamp received_at = decoded.meta.received_at;
    return decoded.replayed_at
               ? received_at > decoded.replayed_at->plus_seconds(kReceiptAheadSeconds)
               : senders_ != nullptr && senders_->is_from_future(received_at);
}

/// A shop's number comes from nginx, which may be broken, so it counts only if ledger or registry
/// give it to this shop. Nodes that share a ledger must share a registry: where the registry agrees
/// with the record and the ledger does not, one shop's orders would be posted to another's, and
/// nothing is applied.
std::optional<std::string> Applier::find_shop(const Decoded& decoded, LedgerTxn& txn,
                                              KnownShop*& found) {
    const RecordMeta& meta = decoded.meta;
    const auto is_its = [&meta](const ShopRow& row) {
        return row.account == meta.account_number && row.shop_id.view() == meta.shop_id &&
               row.account_id.view() == meta.account_id;
    };
    const auto known = known_shops_.find(meta.shop_number.value);
    if (known != known_shops_.end() && is_its(known->second.row)) {
        found = &known->second;
        return std::nullopt;
    }
    std::optional<ShopRow> stored = txn.shop(meta.shop_number);
    if (!stored || !is_its(*stored)) {
        if (decoded.replayed_at) {
            return std::string(kNotRegistered) +
                   ": the ledger has no such shop; send the event again";
        }
        if (std::optional<std::string> fault =
                senders_ != nullptr ? senders_->shop_fault(meta) : std::nullopt) {
            return fault;
        }
    }
    if (!stored) {
        stored = ShopRow{meta.account_number, meta.shop_number, AccountId(meta.account_id),
                         ShopId(meta.shop_id)};
        txn.put(*stored);
    } else if (!is_its(*stored)) {
        throw LedgerFailure({ErrorCode::kConflict,
                             "shop number " + std::to_string(meta.shop_number.value) + " is " +
                                 stored->shop_id.str() + " of account " + stored->account_id.str() +
                                 " in the ledger, but " + std::string(meta.shop_id) +
                                 " of account " + std::string(meta.account_id) +
                                 " in this store: its registry is not the one of this ledger. "
                                 "Nothing was applied"});
    }
    found = &known_shops_[meta.shop_number.value];
    found->row = *std::move(stored);
    return std::nullopt;
}

bool Applier::work(LedgerTxn& txn, std::size_t orders_max) {
    return do_work(order_applier_, txn, orders_max);
}

void Applier::discard() noexcept {
    programs_.clear();
    known_shops_.clear();
    unread_.clear();
}

}  // namespace sluice

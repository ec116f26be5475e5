#include "core/apply/apply.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "core/apply/catalog.hpp"
#include "core/apply/command.hpp"
#include "core/apply/order.hpp"
#include "core/apply/program_cache.hpp"
#include "core/apply/retry_work.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/record.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/catalog.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

Applied dead(std::string reason) {
    return {InputClass::kDead, false, std::move(reason)};
}

/// Of a body that the endpoint's rules refuse: the first thing that is wrong with it.
std::string refusal(std::span<const FieldError> errors) {
    if (errors.empty()) {
        return "the body breaks the rules of its endpoint";
    }
    const FieldError& first = errors.front();
    return first.field.empty() ? first.message : first.field + ": " + first.message;
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
        case InputClass::kDead:
            break;
    }
    return totals.dead;
}

/// An input whose record could be read.
struct Decoded {
    const Input& input;
    const RecordMeta& meta;
    std::string_view body;
};

DeadLetter letter_of(const Input& input, const RecordMeta* meta, std::string reason) {
    DeadLetter letter;
    letter.seq = input.seq;
    letter.reason = std::move(reason);
    letter.record = input.record;
    letter.bulk_body = input.bulk_body;
    letter.body_sha256 = input.body_sha256;
    if (meta != nullptr) {
        letter.topic = meta->topic;
        letter.account = meta->account_number;
        letter.shop = meta->shop_number;
        letter.account_id = meta->account_id;
        letter.shop_id = meta->shop_id;
        letter.received_at = meta->received_at;
    }
    return letter;
}

}  // namespace

struct Applier::State {
    OrderEventParser orders;
    ProductBatchParser products;
    ProgramCache programs;
    OrderRules rules{programs};
    std::unordered_set<std::uint32_t> known_shops;

    /// What the input does, without totals, checkpoint and dead letter.
    Applied run(const Input& input, const RecordMeta*& meta_out, RecordView& record,
                LedgerTxn& txn);
    Applied run_order(const Decoded& decoded, LedgerTxn& txn);
    Applied run_catalog(const Decoded& decoded, LedgerTxn& txn);
    Applied run_command(const Decoded& decoded, LedgerTxn& txn);
    Result<std::string> run_command(const Command& command, const CommandContext& context,
                                    LedgerTxn& txn);
    Result<std::string> replay(const DeadReplay& command, LedgerTxn& txn);
    /// @return true if the letter could be applied and is gone.
    bool replay(DeadLetter letter, LedgerTxn& txn);
    void learn_shop(const RecordMeta& meta, LedgerTxn& txn);
    void add_keys(const Input& input, const RecordView& record, BatchKeys& keys,
                  std::vector<BatchKeys::ShopText>& skus);
    void prefetch_products(std::vector<BatchKeys::ShopText>& skus, LedgerTxn& txn);
};

Applied Applier::State::run(const Input& input, const RecordMeta*& meta_out, RecordView& record,
                            LedgerTxn& txn) {
    Result<RecordView> decoded = decode_record(input.record);
    if (!decoded) {
        return dead(decoded.error().message);
    }
    record = *decoded;
    meta_out = &record.meta;
    if (input.bulk_error) {
        return dead(*input.bulk_error);
    }
    if (record.meta.bulk && input.bulk_body.size() != record.meta.bulk->bytes) {
        return dead("its body, which lay beside the queue, is missing");
    }
    const Decoded whole{input, record.meta, record.meta.bulk ? input.bulk_body : record.body};
    const Topic topic = record.meta.topic;
    if (is_command(topic)) {
        return run_command(whole, txn);
    }
    if (record.meta.account_number.value == 0 || record.meta.shop_number.value == 0) {
        return dead("the record names no shop");
    }
    return is_order(topic) ? run_order(whole, txn) : run_catalog(whole, txn);
}

Applied Applier::State::run_order(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    const OrderEvent* event = orders.parse(decoded.body, meta.topic, {});
    if (event == nullptr) {
        return dead(refusal(orders.errors()));
    }
    learn_shop(meta, txn);
    EventArrival arrival{decoded.input.seq, meta.received_at, {}, {}};
    arrival.digest =
        first_half(decoded.input.body_sha256 ? *decoded.input.body_sha256 : sha256(decoded.body));
    if (!meta.anon_id.empty()) {
        arrival.anon = anon_digest(meta.anon_id);
    }
    return {
        rules.apply({*event, meta.account_number, meta.shop_number, meta.shop_id, arrival}, txn),
        false,
        {}};
}

Applied Applier::State::run_catalog(const Decoded& decoded, LedgerTxn& txn) {
    switch (products.validate(decoded.body, decoded.meta.topic)) {
        case BatchVerdict::kNotABatch:
            return dead(std::string(products.batch_error()));
        case BatchVerdict::kRecordErrors:
            return dead(refusal(products.errors()));
        case BatchVerdict::kValid:
            break;
    }
    learn_shop(decoded.meta, txn);
    apply_products(decoded.meta.topic, decoded.body, decoded.meta.account_number,
                   decoded.meta.shop_number, txn);
    return {InputClass::kCatalog, false, {}};
}

Applied Applier::State::run_command(const Decoded& decoded, LedgerTxn& txn) {
    const RecordMeta& meta = decoded.meta;
    const Result<Command> command = decode_command(meta.topic, decoded.body);
    if (!command) {
        return dead(command.error().message);
    }
    const CommandContext context{decoded.input.seq,       meta.topic,          meta.received_at,
                                 std::string(meta.actor), meta.account_number, meta.shop_number};
    const Result<std::string> result = run_command(*command, context, txn);
    Applied applied{InputClass::kCommand, !result.ok(), result ? *result : result.error().message};
    txn.put_command({context.seq, context.topic, context.actor, context.received_at,
                     !applied.failed, applied.text});
    do_work(rules, txn, kWorkInline);
    return applied;
}

Result<std::string> Applier::State::run_command(const Command& command,
                                                const CommandContext& context, LedgerTxn& txn) {
    struct Visit {
        State& state;
        const CommandContext& context;
        LedgerTxn& txn;
        Result<std::string> operator()(const ProgramApply& c) const {
            return apply_programs(c, context, txn);
        }
        Result<std::string> operator()(const CreatorImport& c) const {
            return import_creators(c, context, txn);
        }
        Result<std::string> operator()(const CreatorRemove& c) const {
            return remove_creator(c, context, txn);
        }
        Result<std::string> operator()(const TouchImport& c) const {
            return import_touches(c, context, txn);
        }
        Result<std::string> operator()(const PayoutClose& c) const {
            return close_payout(c, context, txn);
        }
        Result<std::string> operator()(const Adjust& c) const {
            return adjust_order(c, context, txn);
        }
        Result<std::string> operator()(const DeadReplay& c) const { return state.replay(c, txn); }
        Result<std::string> operator()(const Forget& c) const {
            return forget_customer(c, context, txn);
        }
    };
    return std::visit(Visit{*this, context, txn}, command);
}

Result<std::string> Applier::State::replay(const DeadReplay& command, LedgerTxn& txn) {
    std::vector<DeadLetter> letters;
    for (const SequenceNumber seq : command.seqs) {
        std::optional<DeadLetter> letter = txn.dead_letter(seq);
        if (!letter) {
            return Error{ErrorCode::kNotFound,
                         "there is no dead letter " + std::to_string(seq.value)};
        }
        letters.push_back(*std::move(letter));
    }
    if (command.seqs.empty()) {
        txn.scan_dead([&letters](const DeadLetter& letter) {
            letters.push_back(letter);
            return true;
        });
    }
    const std::size_t tried = letters.size();
    std::size_t done = 0;
    for (DeadLetter& letter : letters) {
        done += replay(std::move(letter), txn) ? std::size_t{1} : std::size_t{0};
    }
    return std::to_string(done) + " replayed, " + std::to_string(tried - done) + " still dead";
}

bool Applier::State::replay(DeadLetter letter, LedgerTxn& txn) {
    const Input input{letter.seq, letter.record, letter.bulk_body, {}, letter.body_sha256};
    const RecordMeta* meta = nullptr;
    RecordView record;
    const Applied applied = letter.topic == Topic::kDeadReplay ? dead("a replay is not replayed")
                                                               : run(input, meta, record, txn);
    if (applied.input_class == InputClass::kDead) {
        ++letter.attempts;
        letter.reason = applied.text;
        txn.put_dead_letter(letter);
        return false;
    }
    Totals& totals = txn.mutable_head().totals;
    --totals.dead;
    ++counter(totals, applied.input_class);
    txn.delete_dead_letter(letter.seq);
    return true;
}

/// Numbers come from the registry, so nodes that share a ledger must share a registry, too: else
/// one shop's orders would be booked on another's.
void Applier::State::learn_shop(const RecordMeta& meta, LedgerTxn& txn) {
    if (known_shops.contains(meta.shop_number.value)) {
        return;
    }
    const std::optional<ShopRow> stored = txn.shop(meta.shop_number);
    if (!stored) {
        txn.put_shop({meta.account_number, meta.shop_number, AccountId(meta.account_id),
                      ShopId(meta.shop_id)});
    } else if (stored->account != meta.account_number || stored->shop_id.view() != meta.shop_id) {
        throw LedgerFailure(
            {ErrorCode::kConflict,
             "shop number " + std::to_string(meta.shop_number.value) + " is " +
                 stored->shop_id.str() + " of account " + stored->account_id.str() +
                 " in the ledger, but " + std::string(meta.shop_id) + " of account " +
                 std::string(meta.account_id) +
                 " in this store: its registry is not the one of this ledger. Nothing was "
                 "applied"});
    }
    known_shops.insert(meta.shop_number.value);
}

void Applier::State::add_keys(const Input& input, const RecordView& record, BatchKeys& keys,
                              std::vector<BatchKeys::ShopText>& skus) {
    const AccountNumber account = record.meta.account_number;
    const ShopNumber shop = record.meta.shop_number;
    const std::string_view body = record.meta.bulk ? input.bulk_body : record.body;
    if (!is_order(record.meta.topic)) {
        if (products.validate(body, record.meta.topic) == BatchVerdict::kValid) {
            for (const ProductName& name : product_names(body)) {
                keys.products.push_back({account, shop, name.product_id.str()});
            }
        }
        return;
    }
    const OrderEvent* event = orders.parse(body, record.meta.topic, {});
    if (event == nullptr) {
        return;
    }
    keys.orders.push_back({account, shop, OrderId(event->order_id)});
    for (const RefundLineItem& refund : event->refund_line_items) {
        keys.refund_ids.push_back({account, shop, std::string(refund.refund_line_item_id)});
    }
    if (!record.meta.anon_id.empty()) {
        keys.sources.push_back({account, WaitKind::kAnon, anon_digest(record.meta.anon_id)});
    }
    for (const Discount& discount : event->discounts) {
        keys.sources.push_back({account, WaitKind::kCode, code_digest(discount.code)});
    }
    for (const LineItem& line : event->line_items) {
        skus.push_back({account, shop, std::string(line.variant_sku.value_or(line.sku))});
        skus.push_back({account, shop, std::string(line.sku)});
    }
}

/// Only for accounts with a rule that asks for the product.
void Applier::State::prefetch_products(std::vector<BatchKeys::ShopText>& skus, LedgerTxn& txn) {
    std::unordered_map<std::uint32_t, bool> needed;
    const auto end = std::remove_if(skus.begin(), skus.end(), [&](const auto& sku) {
        const auto [known, added] = needed.try_emplace(sku.account.value);
        if (added) {
            known->second = programs.needs_products(txn, sku.account);
        }
        return !known->second;
    });
    skus.erase(end, skus.end());
    if (!skus.empty()) {
        txn.prefetch_skus(skus);
    }
}

Applier::Applier() : state_(std::make_unique<State>()) {}
Applier::~Applier() = default;

Applied Applier::apply(const Input& input, LedgerTxn& txn) {
    SLUICE_ASSERT(input.seq > txn.head().applied_seq);
    const RecordMeta* meta = nullptr;
    RecordView record;
    Applied applied = state_->run(input, meta, record, txn);
    if (applied.input_class == InputClass::kDead) {
        txn.put_dead_letter(letter_of(input, meta, applied.text));
    }
    LedgerHead& head = txn.mutable_head();
    ++counter(head.totals, applied.input_class);
    head.applied_seq = input.seq;
    return applied;
}

bool Applier::work(LedgerTxn& txn, std::size_t orders_max) {
    return do_work(state_->rules, txn, orders_max);
}

std::size_t Applier::prefetch(std::span<const Input> inputs, bool begun, LedgerTxn& txn) {
    if (!txn.wants_prefetch()) {
        return inputs.size();
    }
    BatchKeys keys;
    std::vector<BatchKeys::ShopText> skus;
    std::size_t count = 0;
    for (const Input& input : inputs) {
        const Result<RecordView> record = decode_record(input.record);
        if (record && is_command(record->meta.topic)) {
            keys.commands = count == 0 && !begun;
            count += keys.commands ? 1 : 0;
            break;
        }
        if (record) {
            state_->add_keys(input, *record, keys, skus);
        }
        ++count;
    }
    if (count != 0) {
        txn.prefetch(keys);
        state_->prefetch_products(skus, txn);
    }
    return count;
}

void Applier::discard() noexcept {
    state_->programs.clear();
    state_->known_shops.clear();
}

bool work_is_pending(LedgerTxn& txn) {
    return txn.first_work().has_value();
}

}  // namespace sluice

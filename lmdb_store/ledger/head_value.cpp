// Rows that say how far the ledger is.
#include <algorithm>

#include "core/ledger/valid.hpp"
#include "lmdb_store/ledger/row_value.hpp"

namespace sluice::store {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) {
    return {text.begin(), text.end()};
}

}  // namespace

std::string_view RowValue::encode(const CommandRow& row) {
    builder_.Clear();
    const auto actor = text(row.actor);
    const auto result = text(row.result);
    const fbs::Instant received_at = to_instant(row.received_at);
    return finish(fbs::CreateCommand(builder_, static_cast<std::uint8_t>(row.topic), actor,
                                     &received_at, row.ok, result));
}

bool RowValue::decode(std::string_view value, CommandRow& row) {
    const auto* stored = copy_.verified<fbs::Command>(value);
    if (stored == nullptr) {
        return false;
    }
    row.topic = static_cast<Topic>(stored->topic());
    row.actor = view_of(stored->actor());
    row.received_at = from_instant(*stored->received_at());
    row.ok = stored->ok();
    row.result = view_of(stored->result());
    return is_command(row.topic) && is_valid(row.topic);
}

std::string_view RowValue::encode(const DeadLetter& letter) {
    builder_.Clear();
    const fbs::Hash sent = to_hash(letter.body_sha256.value_or(Digest256{}));
    const auto account_id = text_if(builder_, letter.account_id);
    const auto shop_id = text_if(builder_, letter.shop_id);
    const auto reason = text(letter.reason);
    const auto record = builder_.CreateVector(bytes_of(letter.record));
    const auto bulk =
        letter.bulk_body.empty() ? 0 : builder_.CreateVector(bytes_of(letter.bulk_body));
    const fbs::Instant received_at = to_instant(letter.received_at);
    const auto topic = letter.topic ? static_cast<std::uint8_t>(*letter.topic) : std::uint8_t{0};
    return finish(fbs::CreateDeadLetter(builder_, topic, letter.account.value, letter.shop.value,
                                        account_id, shop_id, &received_at, reason, letter.attempts,
                                        record, bulk, letter.body_sha256 ? &sent : nullptr));
}

bool RowValue::decode(std::string_view value, DeadLetter& letter) {
    const auto* stored = copy_.verified<fbs::DeadLetter>(value);
    if (stored == nullptr) {
        return false;
    }
    letter.topic.reset();
    if (stored->topic() != 0) {
        letter.topic = static_cast<Topic>(stored->topic());
    }
    letter.account = {stored->account()};
    letter.shop = {stored->shop()};
    letter.account_id = view_of(stored->account_id());
    letter.shop_id = view_of(stored->shop_id());
    letter.received_at = from_instant(*stored->received_at());
    letter.reason = view_of(stored->reason());
    letter.attempts = stored->attempts();
    letter.record = view_of(stored->record());
    letter.bulk_body = view_of(stored->bulk_body());
    letter.body_sha256.reset();
    if (stored->body_sha256() != nullptr) {
        letter.body_sha256 = from_hash(*stored->body_sha256());
    }
    return !letter.topic || is_valid(*letter.topic);
}

std::string_view RowValue::encode(const Work& work) {
    builder_.Clear();
    const auto after = work.after_order ? text(work.after_order->view())
                                        : flatbuffers::Offset<flatbuffers::String>();
    const fbs::Hash digest = to_hash(work.key.digest);
    const fbs::Instant received_at = to_instant(work.received_at);
    return finish(fbs::CreateWork(builder_, work.whole_account, work.key.account.value,
                                  static_cast<std::uint8_t>(work.key.kind), &digest,
                                  work.after_shop.value_or(ShopNumber{}).value, after,
                                  work.cause.value, static_cast<std::uint8_t>(work.cause_topic),
                                  &received_at));
}

bool RowValue::decode(std::string_view value, Work& work) {
    const auto* stored = copy_.verified<fbs::Work>(value);
    if (stored == nullptr) {
        return false;
    }
    work.whole_account = stored->whole_account();
    work.key.account = {stored->account()};
    work.key.kind = static_cast<WaitKind>(stored->kind());
    work.key.digest = from_hash(*stored->digest());
    work.cause = {stored->cause()};
    work.cause_topic = static_cast<Topic>(stored->cause_topic());
    work.received_at = from_instant(*stored->received_at());
    work.after_shop.reset();
    work.after_order.reset();
    if (stored->after_order() != nullptr) {
        work.after_shop = ShopNumber{stored->after_shop()};
        work.after_order = OrderId(view_of(stored->after_order()));
    }
    return is_valid(work.key.kind) && is_valid(work.cause_topic);
}

std::string_view RowValue::encode(const ChainHead& chain) {
    builder_.Clear();
    const fbs::Hash hash = to_hash(chain.hash);
    return finish(fbs::CreateChain(builder_, &hash, chain.entries));
}

bool RowValue::decode(std::string_view value, ChainHead& chain) {
    const auto* stored = copy_.verified<fbs::Chain>(value);
    if (stored == nullptr) {
        return false;
    }
    chain.hash = from_hash(*stored->hash());
    chain.entries = stored->entries();
    return true;
}

std::string_view RowValue::encode(const NodeHead& node_head) {
    builder_.Clear();
    const LedgerHead& head = node_head.head;
    const Totals& totals = head.totals;
    const auto anomalies = builder_.CreateVector(totals.anomalies.data(), totals.anomalies.size());
    return finish(fbs::CreateHead(builder_, node_head.node, head.applied_seq.value, head.next_entry,
                                  head.next_work, head.programs_revision, totals.applied,
                                  totals.stale, totals.duplicate, totals.catalog, totals.commands,
                                  totals.dead, totals.orders, totals.journal_entries, anomalies));
}

bool RowValue::decode(std::string_view value, NodeHead& node_head) {
    const auto* stored = copy_.verified<fbs::Head>(value);
    if (stored == nullptr) {
        return false;
    }
    LedgerHead& head = node_head.head;
    Totals& totals = head.totals;
    node_head.node = stored->node();
    head.applied_seq = {stored->applied_seq()};
    head.next_entry = stored->next_entry();
    head.next_work = stored->next_work();
    head.programs_revision = stored->programs_revision();
    totals.applied = stored->applied();
    totals.stale = stored->stale();
    totals.duplicate = stored->duplicate();
    totals.catalog = stored->catalog();
    totals.commands = stored->commands();
    totals.dead = stored->dead();
    totals.orders = stored->orders();
    totals.journal_entries = stored->journal_entries();
    totals.anomalies.fill(0);
    if (stored->anomalies() == nullptr || !is_aligned(stored->anomalies()) ||
        stored->anomalies()->size() > totals.anomalies.size()) {
        return false;
    }
    std::copy(stored->anomalies()->begin(), stored->anomalies()->end(), totals.anomalies.begin());
    return node_head.node != 0 && head.next_entry != 0;
}

}  // namespace sluice::store

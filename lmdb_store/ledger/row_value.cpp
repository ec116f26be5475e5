// Rows that orders and their commissions write.
#include "lmdb_store/ledger/row_value.hpp"

#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/order_value.hpp"

namespace sluice::store {

flatbuffers::Offset<flatbuffers::String> RowValue::cut_id(std::string_view id,
                                                          std::size_t whole_max) {
    return id_is_cut(id, whole_max) ? text(id) : 0;
}

std::string_view RowValue::encode_event(const OrderKey& order, const EventTrace& event) {
    builder_.Clear();
    const auto order_id = cut_id(order.order_id.view(), kIdBytesWhole);
    const fbs::EventTrace trace = to_trace(event);
    return finish(fbs::CreateEvent(builder_, order_id, &trace));
}

bool RowValue::decode_event(std::string_view value, OrderKey& order, EventTrace& event) {
    const auto* stored = copy_.verified<fbs::Event>(value);
    return stored != nullptr && complete_id(order.order_id, stored->order_id()) &&
           from_trace(*stored->trace(), event);
}

std::string_view RowValue::encode(const JournalGroup& group, std::uint32_t node) {
    builder_.Clear();
    wides_.clear();
    text_.clear();
    lines_.clear();
    const auto add_text = [this](std::string_view text) {
        text_.insert(text_.end(), text.begin(), text.end());
    };
    add_text(group.program.view());
    add_text(group.creator.view());
    add_text(group.order.order_id.view());
    for (const JournalLine& line : group.lines) {
        std::uint8_t scale = 0;
        const std::int64_t amount = wides_.put(line.amount, scale);
        add_text(line.line.view());
        lines_.emplace_back(amount, static_cast<std::uint16_t>(line.line.view().size()), scale,
                            static_cast<std::uint8_t>(line.reason), to_money3(line.currency));
    }
    const auto lines = structs_if(builder_, lines_);
    const auto texts = builder_.CreateVector(text_);
    const auto note = text_if(builder_, group.note);
    const auto actor = text_if(builder_, group.actor);
    const auto wides = structs_if(builder_, wides_.wides());
    const fbs::Instant recorded_at = to_instant(group.recorded_at);
    const fbs::Hash hash = to_hash(group.hash);
    return finish(fbs::CreateJournalGroup(
        builder_, node, group.order.account.value, group.order.shop.value, group.event_seq.value,
        &recorded_at, &hash, static_cast<std::uint8_t>(group.program.view().size()),
        static_cast<std::uint8_t>(group.creator.view().size()),
        static_cast<std::uint16_t>(group.order.order_id.view().size()), lines, texts, note, actor,
        wides));
}

bool RowValue::decode(std::string_view value, StoredGroup& stored_group) {
    const auto* stored = copy_.verified<fbs::JournalGroup>(value);
    if (stored == nullptr) {
        return false;
    }
    JournalGroup& group = stored_group.group;
    WideDecimalReader wides(stored->wides());
    TextReader text(stored->text());
    stored_group.node = stored->node();
    group.event_seq = {stored->event_seq()};
    group.order.account = {stored->account()};
    group.order.shop = {stored->shop()};
    group.recorded_at = from_instant(*stored->recorded_at());
    group.hash = from_hash(*stored->hash());
    group.note = view_of(stored->note());
    group.actor = view_of(stored->actor());
    assign(group.program, text.take(stored->program_bytes()));
    assign(group.creator, text.take(stored->creator_bytes()));
    assign(group.order.order_id, text.take(stored->order_bytes()));
    if (!is_aligned(stored->lines())) {
        return false;
    }
    group.lines.resize(stored->lines() == nullptr ? 0 : stored->lines()->size());
    bool ok = true;
    for (std::size_t i = 0; i < group.lines.size(); ++i) {
        const auto& from = *stored->lines()->Get(static_cast<flatbuffers::uoffset_t>(i));
        JournalLine& line = group.lines[i];
        line.amount = wides.get(from.amount(), from.scale());
        line.reason = static_cast<JournalReason>(from.reason());
        assign(line.line, text.take(from.line_bytes()));
        ok = ok && from.reason() >= 1 && from.reason() <= 6 &&
             from_money3(from.currency(), line.currency);
    }
    return ok && wides.ok() && text.complete();
}

std::string_view RowValue::encode(const RefundOwner& owner) {
    builder_.Clear();
    const auto id = cut_id(owner.refund_id.view(), kIdBytesWhole);
    const auto order_id = text(owner.order_id.view());
    const auto line = text(owner.line.view());
    return finish(fbs::CreateRefundOwner(builder_, id, order_id, line));
}

bool RowValue::decode(std::string_view value, RefundOwner& owner) {
    const auto* stored = copy_.verified<fbs::RefundOwner>(value);
    if (stored == nullptr || !complete_id(owner.refund_id, stored->refund_id())) {
        return false;
    }
    assign(owner.order_id, view_of(stored->order_id()));
    assign(owner.line, view_of(stored->line()));
    return true;
}

std::string_view RowValue::encode(const Anomaly& anomaly) {
    builder_.Clear();
    const auto order_id = cut_id(anomaly.order.order_id.view(), kIdBytesWhole);
    const auto message = text(anomaly.message);
    const fbs::Instant recorded_at = to_instant(anomaly.recorded_at);
    return finish(fbs::CreateAnomaly(builder_, order_id, anomaly.first_seq.value, &recorded_at,
                                     anomaly.count, message));
}

bool RowValue::decode(std::string_view value, Anomaly& anomaly) {
    const auto* stored = copy_.verified<fbs::Anomaly>(value);
    if (stored == nullptr || !complete_id(anomaly.order.order_id, stored->order_id())) {
        return false;
    }
    anomaly.first_seq = {stored->first_seq()};
    anomaly.recorded_at = from_instant(*stored->recorded_at());
    anomaly.count = stored->count();
    anomaly.message = view_of(stored->message());
    return true;
}

std::string_view RowValue::encode(const Balance& balance) {
    builder_.Clear();
    const fbs::Wide total = to_wide(balance.total);
    const fbs::Wide paid = to_wide(balance.paid);
    return finish(fbs::CreateBalance(builder_, &total, &paid));
}

bool RowValue::decode(std::string_view value, Balance& balance) {
    const auto* stored = copy_.verified<fbs::Balance>(value);
    return stored != nullptr && from_wide(*stored->total(), balance.total) &&
           from_wide(*stored->paid(), balance.paid);
}

std::string_view RowValue::encode(const OpenAmount& open) {
    if (!id_is_cut(open.order_id.view(), kIdBytesWholeOpen)) {
        return {};
    }
    builder_.Clear();
    return finish(fbs::CreateOpenAmount(builder_, text(open.order_id.view())));
}

bool RowValue::decode(std::string_view value, OpenAmount& open) {
    if (value.empty()) {
        return !open.order_id.empty();
    }
    const auto* stored = copy_.verified<fbs::OpenAmount>(value);
    return stored != nullptr && complete_id(open.order_id, stored->order_id());
}

std::string_view RowValue::encode(const WaitingOrder& waiting) {
    if (!id_is_cut(waiting.order_id.view(), kIdBytesWhole)) {
        return {};
    }
    builder_.Clear();
    return finish(fbs::CreateWaitingOrder(builder_, text(waiting.order_id.view())));
}

bool RowValue::decode(std::string_view value, WaitingOrder& waiting) {
    if (value.empty()) {
        return !waiting.order_id.empty();
    }
    const auto* stored = copy_.verified<fbs::WaitingOrder>(value);
    return stored != nullptr && complete_id(waiting.order_id, stored->order_id());
}

std::string_view RowValue::encode_variant(const ProductId& product) {
    if (!id_is_cut(product.view(), kIdBytesWholeVariant)) {
        return {};
    }
    builder_.Clear();
    return finish(fbs::CreateVariant(builder_, text(product.view())));
}

bool RowValue::decode_variant(std::string_view value, ProductId& product) {
    if (value.empty()) {
        return !product.empty();
    }
    const auto* stored = copy_.verified<fbs::Variant>(value);
    return stored != nullptr && complete_id(product, stored->product_id());
}

}  // namespace sluice::store

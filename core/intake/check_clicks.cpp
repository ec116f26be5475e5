#include "core/intake/check_signed.hpp"
#include "core/intake/intake.hpp"

namespace sluice {
namespace {

constexpr SignedEndpoint kClickEndpoint{Endpoint::kClicks, kWriteClicks, "CLICK"};

}  // namespace

Accepting accept_clicks(const RequestHead& head, const HeaderNames& names, const Sender& sender,
                        CheckedBody& body, RateGate& gate, Timestamp now, IntakeScratch& scratch) {
    Accepting result;
    std::string_view text;
    if (!accept_signed(kClickEndpoint, head, names, topic_of(head.topic, is_clicks), sender, body,
                       gate, now, result, text)) {
        return result;
    }
    const ClickRecord* const clicks = scratch.clicks.parse(text, names.anon_field, now);
    if (clicks == nullptr) {
        result.answer = invalid_body(scratch.clicks.errors(), text, result.rate);
        return result;
    }
    const AccountView& account = *sender.shop->account;
    RecordMeta& meta = result.accepted.meta;
    meta.topic = Topic::kClick;
    meta.account_number = account.number;
    meta.account_id = account.account_id.view();
    meta.records_count = static_cast<std::uint32_t>(clicks->rows.size());
    scratch.click_record = encode_clicks(*clicks);
    result.accepted.translated = scratch.click_record;
    return result;
}

}  // namespace sluice

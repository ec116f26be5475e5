#include "core/protocol/click_record.hpp"

#include "core/json/member_reader.hpp"
#include "core/json/member_writer.hpp"

namespace sluice {
namespace {

void device_item(MemberWriter& items, const RecordedClick& row) {
    items.item(to_hex(row.device));
}
void device_item(MemberReader& items, RecordedClick& row) {
    std::string hex;
    items.item(hex);
    row.device = require(parse_hex_digest(hex, HexCase::kLowerOnly));
}

void link_item(MemberWriter& items, const RecordedClick& row) {
    items.item(row.link.empty() ? std::nullopt : std::optional(row.link));
}
void link_item(MemberReader& items, RecordedClick& row) {
    std::optional<LinkId> link;
    items.item(link);
    row.link = link.value_or(LinkId());
    if (link && !is_link_id(link->view())) {
        throw Malformed{};
    }
}

}  // namespace

void each_member(auto& members, Is<ClickRecord> auto& record) {
    members("source", record.source, parse_name<ClickSource>);
    members.rows("rows", record.rows, [source = record.source](auto& items, auto& row) {
        device_item(items, row);
        items.item(row.occurred_at);
        link_item(items, row);
        if (source != ClickSource::kLink) {
            items.item(row.program);
            items.item(row.creator);
        }
    });
}

namespace {

bool is_sound(const ClickRecord& record) {
    if (record.source == ClickSource::kImport || record.rows.empty() ||
        record.rows.size() > kClicksMax) {
        return false;
    }
    for (const RecordedClick& row : record.rows) {
        const bool is_whole =
            record.source == ClickSource::kLink
                ? !row.link.empty()
                : is_admin_id(row.program.view()) && is_admin_id(row.creator.view());
        if (!is_whole) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string encode_clicks(const ClickRecord& record) {
    return encode_json(record);
}

Parsed<ClickRecord> decode_clicks(std::string_view body) {
    Parsed<ClickRecord> record = decode_json<ClickRecord>(body);
    return record && is_sound(*record) ? record : std::nullopt;
}

}  // namespace sluice

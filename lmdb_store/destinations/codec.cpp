#include "lmdb_store/destinations/codec.hpp"

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/rows/field_reader.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

// One function lists the fields of a row, for the writer and for the reader.

void place_fields(FieldWriter& fields, const lists::FeedPlace& place) {
    fields.each(place, [&fields](const auto& chain) {
        fields(chain.first, chain.second.change, chain.second.hash);
    });
}

void place_fields(FieldReader& fields, lists::FeedPlace& place) {
    std::vector<std::pair<std::string, lists::ChainPlace>> chains;
    fields.each(chains, [&fields](auto& chain) {
        fields(chain.first, chain.second.change, chain.second.hash);
    });
    place = lists::FeedPlace(chains.begin(), chains.end());
}

void restart_field(FieldWriter& fields, const std::optional<lists::FeedPlace>& place) {
    fields(place.has_value());
    if (place) {
        place_fields(fields, *place);
    }
}

void restart_field(FieldReader& fields, std::optional<lists::FeedPlace>& place) {
    bool is_present = false;
    fields(is_present);
    if (is_present) {
        place_fields(fields, place.emplace());
    }
}

template <class Fields, class Row>
void fields_of(Fields& fields, Row& row, const Destination* /*kind*/) {
    fields(row.id, row.uuid, row.revision, row.account_id, row.account, row.url);
    fields.each(row.types, fields);
    fields.each(row.allowed_blocks, fields);
    fields(row.header, row.secret, row.old_secret, row.old_until, row.created_at, row.fresh_starts);
    restart_field(fields, row.restart);
    fields(row.is_paused);
}

template <class Fields, class Change>
void change_fields(Fields& fields, Change& change) {
    fields(change.node, change.last);
}

template <class Fields, class Row>
void fields_of(Fields& fields, Row& row, const DestinationProgress* /*kind*/) {
    place_fields(fields, row.place);
    fields(row.entries, row.looked_at, row.last_success, row.failing_since, row.last_error,
           row.disabled_at, row.disabled_why, row.fresh_starts, row.delivered, row.failed,
           row.expired);
}

template <class Fields, class Row>
void fields_of(Fields& fields, Row& row, const PendingChange* /*kind*/) {
    change_fields(fields, row.change);
    fields(row.shop, row.order_id, row.order_change, row.failures, row.first_failed, row.due);
}

template <class Fields, class Row>
void fields_of(Fields& fields, Row& row, const Replay* /*kind*/) {
    place_fields(fields, row.place);
    place_fields(fields, row.until);
    fields(row.since);
    fields.each(row.changes, [&fields](auto& change) { change_fields(fields, change); });
}

template <class Fields, class Row>
void fields_of(Fields& fields, Row& row, const Attempt* /*kind*/) {
    fields(row.at, row.destination, row.webhook_id, row.type);
    change_fields(fields, row.change);
    fields(row.number, row.outcome, row.status, row.took_ms, row.error, row.next_try);
}

}  // namespace

std::string prefix_of(const std::string& destination) {
    return destination + '\0';
}

std::string number_key(std::string_view prefix, std::uint64_t number) {
    return std::string(prefix) + big_endian(number);
}

std::uint64_t number_of_key(std::string_view key) {
    return key.size() < kNumberBytes
               ? 0
               : get_big_endian<std::uint64_t>(key.data() + key.size() - kNumberBytes);
}

std::string pending_key(const std::string& destination, const ChangeId& change) {
    return number_key(prefix_of(destination) + change.node + '\0', change.last);
}

template <class Row>
std::string encode(std::string_view key, const Row& row) {
    FieldWriter fields;
    fields_of(fields, row, static_cast<const Row*>(nullptr));
    return std::string(fields.sealed(key));
}
template std::string encode(std::string_view, const Destination&);
template std::string encode(std::string_view, const DestinationProgress&);
template std::string encode(std::string_view, const PendingChange&);
template std::string encode(std::string_view, const Replay&);
template std::string encode(std::string_view, const Attempt&);

template <class Row>
std::optional<Row> decode(std::string_view key, std::string_view value) {
    FieldReader fields(key, value);
    Row row;
    fields_of(fields, row, static_cast<const Row*>(nullptr));
    return fields.complete() ? std::optional(std::move(row)) : std::nullopt;
}
template std::optional<Destination> decode(std::string_view, std::string_view);
template std::optional<DestinationProgress> decode(std::string_view, std::string_view);
template std::optional<PendingChange> decode(std::string_view, std::string_view);
template std::optional<Replay> decode(std::string_view, std::string_view);
template std::optional<Attempt> decode(std::string_view, std::string_view);

}  // namespace sluice::store

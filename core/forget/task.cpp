#include "core/forget/task.hpp"

#include <simdjson.h>

#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

using namespace json_reader;  // NOLINT(google-build-using-namespace)

void write_digests(JsonWriter& writer, std::string_view name, const std::set<Digest256>& digests) {
    writer.key(name).begin_array();
    for (const Digest256& digest : digests) {
        writer.value(to_hex(digest));
    }
    writer.end_array();
}

template <class Id>
void write_ids(JsonWriter& writer, std::string_view name, const std::set<Id>& ids) {
    writer.key(name).begin_array();
    for (const Id& id : ids) {
        writer.value(id.view());
    }
    writer.end_array();
}

Digest256 digest_of(std::string_view hex) {
    return require(parse_hex_digest(hex, HexCase::kLowerOnly));
}

std::set<Digest256> read_digests(const element& body, std::string_view name) {
    std::set<Digest256> digests;
    for (const element value : array_field(body, name)) {
        digests.insert(digest_of(text_of(value)));
    }
    return digests;
}

template <class Id>
std::set<Id> read_ids_of(const element& body, std::string_view name) {
    std::set<Id> ids;
    for (const element value : array_field(body, name)) {
        ids.insert(Id(text_of(value)));
    }
    return ids;
}

ForgetJob decode(const ForgetTask& row, const element& body) {
    ForgetJob job;
    job.command_id = row.command_id;
    job.secret = digest_of(row.secret);
    job.whom.account = row.account;
    job.whom.shop = row.shop;
    job.whom.by = require(parse_forget_by(text_of(field(body, "by"))));
    job.whom.digest = digest_of(text_of(field(body, "digest")));
    job.whom.id = text_of(field(body, "id"));
    job.received_at = instant_of(field(body, "received"));
    job.node = text_of(field(body, "node"));
    job.seq = {number_of(field(body, "seq"))};
    job.found = {read_ids_of<OrderId>(body, "orders"), read_digests(body, "customers"),
                 read_digests(body, "devices"), read_ids_of<CreatorId>(body, "creators")};
    return job;
}

}  // namespace

ForgetWhom forget_subject(const Forget& command, AccountNumber account, ShopNumber shop) {
    ForgetWhom whom{command.by, account, shop};
    switch (command.by) {
        case ForgetBy::kCustomer:
            whom.digest = customer_id_digest(command.value);
            break;
        case ForgetBy::kEmail:
            whom.digest = email_digest(command.value);
            break;
        case ForgetBy::kPhone:
            whom.digest = phone_digest(command.value);
            break;
        case ForgetBy::kDevice:
            whom.digest = anon_digest(command.value);
            break;
        case ForgetBy::kOrder:
        case ForgetBy::kCreator:
            whom.id = command.value;
            break;
    }
    return whom;
}

ForgetTask encode_task(const ForgetJob& job) {
    ForgetTask row{job.command_id, job.whom.account, job.whom.shop, to_hex(job.secret), {}};
    JsonWriter writer(row.digests);
    writer.begin_object();
    writer.field("by", to_string(job.whom.by)).field("digest", to_hex(job.whom.digest));
    writer.field("id", job.whom.id).field("received", job.received_at.to_string());
    writer.field("node", job.node).field("seq", job.seq.value);
    write_ids(writer, "orders", job.found.orders);
    write_digests(writer, "customers", job.found.customers);
    write_digests(writer, "devices", job.found.devices);
    write_ids(writer, "creators", job.found.creators);
    writer.end_object();
    return row;
}

ForgetJob decode_task(const ForgetTask& row) {
    simdjson::dom::parser parser;
    element body;
    try {
        if (parser.parse(row.digests).get(body) == simdjson::SUCCESS) {
            return decode(row, body);
        }
    } catch (const Malformed&) {  // reported below
    }
    throw DamagedRow(row_name(row), "its digests are unreadable", std::nullopt);
}

std::optional<ForgetJob> load_task(LedgerReader& ledger, const std::string& command_id) {
    ForgetTask row;
    row.command_id = command_id;
    return ledger.load(row) ? std::optional(decode_task(row)) : std::nullopt;
}

ForgetNames::ForgetNames(const ForgetJob& job)
    : found_(job.found),
      secret_({reinterpret_cast<const char*>(job.secret.data()), job.secret.size()}) {}

std::optional<Digest256> ForgetNames::customer(const Digest256& digest) const {
    return found_.customers.contains(digest) ? std::optional(pseudonym(secret_, digest))
                                             : std::nullopt;
}

std::optional<Digest256> ForgetNames::device(const Digest256& digest) const {
    return found_.devices.contains(digest) ? std::optional(pseudonym(secret_, digest))
                                           : std::nullopt;
}

}  // namespace sluice

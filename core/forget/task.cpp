#include "core/forget/task.hpp"

#include <utility>

#include "core/json/member_reader.hpp"
#include "core/json/member_writer.hpp"

namespace sluice {
/// Members of ForgetTask::digests.
static void each_member(auto& members, Is<ForgetJob> auto& job) {
    members("by", job.whom.by, parse_name<ForgetBy>);
    members("digest", job.whom.digest, HexDigest());
    members("id", job.whom.id);
    members("received", job.received_at);
    members("node", job.node);
    members("seq", job.seq);
    members("orders", job.found.orders);
    members("customers", job.found.customers, HexDigest());
    members("devices", job.found.devices, HexDigest());
    members("creators", job.found.creators);
}

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
    return {job.command_id, job.whom.account, job.whom.shop, to_hex(job.secret), encode_json(job)};
}

ForgetJob decode_task(const ForgetTask& row) {
    std::optional<ForgetJob> job = decode_json<ForgetJob>(row.digests);
    const auto secret = HexDigest()(row.secret);
    if (!job || !secret) {
        throw DamagedRow(row_name(row), "its digests are unreadable", std::nullopt);
    }
    job->command_id = row.command_id;
    job->secret = *secret;
    job->whom.account = row.account;
    job->whom.shop = row.shop;
    return *std::move(job);
}

std::optional<ForgetJob> load_task(LedgerReader& ledger, const std::string& command_id) {
    ForgetTask row{.command_id = command_id};
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

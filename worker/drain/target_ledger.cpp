#include "worker/drain/target_ledger.hpp"

#include <map>
#include <string>
#include <utility>

namespace sluice::worker {

LedgerOpener embedded_ledger(const store::StorePaths& paths, store::EmbeddedLedger::Mode mode) {
    return [folder = paths.ledger, mode]() -> Result<std::unique_ptr<Ledger>> {
        auto opened = store::EmbeddedLedger::open(folder, mode);
        if (!opened) {
            return opened.error();
        }
        return std::unique_ptr<Ledger>(std::move(*opened));
    };
}

Error older_queue(SequenceNumber applied, SequenceNumber given_out) {
    return {ErrorCode::kConflict,
            "the ledger has applied input " + std::to_string(applied.value) +
                ", but the queue has given out only " + std::to_string(given_out.value) +
                ": the queue is an older copy, or not the one of this ledger. Nothing was "
                "applied. Put the queue and the ledger back from the same backup"};
}

namespace {

std::string said(const ShopId& shop, const AccountId& account, ShopNumber number) {
    return "shop " + shop.str() + " of account " + account.str() + " has number " +
           std::to_string(number.value);
}

}  // namespace

Status check_shops(store::Registry& registry, LedgerReader& ledger) {
    const auto own = registry.shops(std::nullopt);
    if (!own) {
        return own.error();
    }
    std::map<std::uint32_t, ShopRow> by_number;
    std::map<ShopId, ShopNumber> by_id;
    ledger.scan_shops([&](const ShopRow& row) {
        by_number.emplace(row.shop.value, row);
        by_id.emplace(row.shop_id, row.shop);
    });
    for (const store::RegisteredShop& shop : *own) {
        auto theirs = by_number.find(shop.number.value);
        if (const auto renumbered = by_id.find(shop.shop_id);
            theirs == by_number.end() && renumbered != by_id.end()) {
            theirs = by_number.find(renumbered->second.value);
        }
        if (theirs == by_number.end() ||
            (theirs->second.shop == shop.number && theirs->second.shop_id == shop.shop_id &&
             theirs->second.account == shop.account_number)) {
            continue;
        }
        const ShopRow& other = theirs->second;
        return Error{ErrorCode::kConflict,
                     "this is the ledger of another store: there " +
                         said(other.shop_id, other.account_id, other.shop) + ", here " +
                         said(shop.shop_id, shop.account_id, shop.number) +
                         ". Nothing was taken from the queue. Name this store's ledger, or give "
                         "the store the registry of that ledger's fleet"};
    }
    return {};
}

Error missing_inputs(SequenceNumber first, SequenceNumber last) {
    const std::string numbers = std::to_string(first.value) + " to " + std::to_string(last.value);
    return {ErrorCode::kConflict,
            "inputs " + numbers +
                " are missing: the queue does not have them, and the ledger has not applied them. "
                "Either the ledger is an older copy: put back the newest one, or make it with "
                "`sluice ledger rebuild` from the archive. Or another program deleted them from "
                "the queue: put back ledger and queue from one backup, or accept the loss with "
                "`sluice queue accept-gap " +
                std::to_string(first.value) + "-" + std::to_string(last.value) +
                " --reason TEXT`. Nothing after them is applied before that"};
}

Status check_position(const store::QueueFill& queue, SequenceNumber applied) {
    if (applied > queue.last_seq) {
        return older_queue(applied, queue.last_seq);
    }
    // An empty queue continues after the last sequence number that it assigned.
    const SequenceNumber first =
        queue.rows == 0 ? SequenceNumber{queue.last_seq.value + 1} : queue.first_seq;
    return first.value > applied.value + 1
               ? Status(missing_inputs({applied.value + 1}, {first.value - 1}))
               : Status::success();
}

}  // namespace sluice::worker

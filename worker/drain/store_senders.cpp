#include "worker/drain/store_senders.hpp"

#include "core/ledger/failure.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "os/clock/clock.hpp"

namespace sluice::worker {

std::optional<std::string> StoreSenders::shop_fault(const RecordMeta& meta) {
    using store::Registry;
    const auto registry = Registry::open(paths_, Registry::Mode::kPublished);
    if (!registry) {
        throw LedgerFailure(registry.error());
    }
    const auto shop = (*registry)->shop(ShopId(meta.shop_id));
    if (!shop) {
        throw LedgerFailure(shop.error());
    }
    if (*shop && (*shop)->number == meta.shop_number &&
        (*shop)->account_number == meta.account_number &&
        (*shop)->account_id.view() == meta.account_id) {
        return std::nullopt;
    }
    return std::string(kNotRegistered) + ": the registry has no shop " + std::string(meta.shop_id) +
           " with number " + std::to_string(meta.shop_number.value) + " of account " +
           std::string(meta.account_id) + ": nginx did not take this from a shop of this store";
}

bool StoreSenders::is_from_future(Timestamp received_at) {
    if (received_at > latest_) {
        latest_ = now().plus_seconds(kReceiptAheadSeconds);
    }
    return received_at > latest_;
}

}  // namespace sluice::worker

#include "worker/access/registry_access.hpp"

namespace sluice::cli {

Result<AccountNumber> account_number(const Frame& frame, const AccountId& account) {
    auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    const auto row = find_account(*registry.value(), account);
    return row.ok() ? Result<AccountNumber>(row->number) : Result<AccountNumber>(row.error());
}

Result<store::AccountRow> find_account(store::Registry& registry, const AccountId& id) {
    auto row = registry.account(id);
    if (!row.ok()) {
        return row.error();
    }
    if (!row.value()) {
        return Error{ErrorCode::kNotFound, "there is no account " + id.str()};
    }
    return *row.value();
}

Result<store::ShopRow> find_shop(store::Registry& registry, const ShopId& id) {
    auto row = registry.shop(id);
    if (!row.ok()) {
        return row.error();
    }
    if (!row.value()) {
        return Error{ErrorCode::kNotFound, "there is no shop " + id.str()};
    }
    return *row.value();
}

}  // namespace sluice::cli

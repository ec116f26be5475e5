#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

template <class Row>
Result<Row> existing(Result<std::optional<Row>> row, const std::string& name) {
    if (!row.ok()) {
        return row.error();
    }
    return *row ? Result<Row>(**row) : not_found("there is no " + name);
}

}  // namespace

Status note_change(const Frame& frame, const std::string& change) {
    return with_registry(frame, store::Registry::Mode::kReadWrite,
                         [&](store::Registry& registry) { return registry.note(change); });
}

Result<AccountNumber> account_number(const Frame& frame, const AccountId& account) {
    const auto row = ask_registry(
        frame, [&](store::Registry& registry) { return find_account(registry, account); });
    return row.ok() ? Result<AccountNumber>(row->number) : Result<AccountNumber>(row.error());
}

Result<store::RegisteredAccount> find_account(store::Registry& registry, const AccountId& id) {
    return existing(registry.account(id), "account " + id.str());
}

Result<store::RegisteredShop> find_shop(store::Registry& registry, const ShopId& id) {
    return existing(registry.shop(id), "shop " + id.str());
}

}  // namespace sluice::cli

// Keyed: a statement about rows of any accounts, by a list of their keys. Internal to pg_store.
//
// One server takes all keys in one statement. If the ledger is distributed over Citus nodes by
// account (Connection::is_distributed), only a statement with the account as a value can lock rows,
// or find the first few of each key. Then there is one statement per account, by number, all in the
// same round trip.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/values/ids.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/rows/described.hpp"

namespace sluice::pg {

/// The columns of a key after its account.
using KeyColumns = std::vector<SqlColumn>;
[[nodiscard]] const KeyColumns& shop_text_key();  ///< `shop`, `text`
[[nodiscard]] const KeyColumns& digest_key();     ///< `digest`

/// The parameters of one or of several statements.
class KeyList {
public:
    KeyList(const KeyColumns& columns, const Connection& connection)
        : columns_(columns), by_account_(connection.is_distributed()) {}

    void add(AccountNumber account, ShopNumber shop, std::string_view text) {
        Columns& keys = keys_of(account);
        keys[0].add().u4(shop.value);
        keys[1].add().text(text);
    }
    void add(AccountNumber account, const Digest256& digest) {
        keys_of(account)[0].add().digest(digest);
    }
    [[nodiscard]] bool empty() const noexcept { return lists_.empty(); }

private:
    friend class Keyed;
    using Columns = std::vector<ColumnArray>;
    struct List {
        ColumnArray accounts{Type::kInt4};
        Columns keys;
    };
    [[nodiscard]] Columns& keys_of(AccountNumber account);

    const KeyColumns& columns_;
    bool by_account_;
    std::map<std::uint32_t, List> lists_;  ///< By account, or a single one under 0.
};

class Keyed {
public:
    /// @param text  Its keys are `{keys}`, a row `k` for each, and the account of one `{account}`.
    Keyed(const KeyColumns& columns, std::string_view text);

    /// Queues the statements for the list. `handler` receives the result of each.
    void send(Connection& connection, const KeyList& list,
              const Connection::Handler& handler) const;

private:
    Statement together_, by_account_;
};

}  // namespace sluice::pg

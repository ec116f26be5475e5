// Keyed: a statement about rows of any accounts, by a list of their keys. Internal to this room.
//
// One server takes all keys in one statement. Where the ledger is spread over machines by account
// (Connection::is_distributed), rows can be locked, and the first few of each key be found, only by
// a statement that has the account as a value: then there is one for each account, by number, and
// all go in the same round trip.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/ids.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/rows/described.hpp"

namespace sluice::pg {

/// What a key has behind its account.
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
    std::map<std::uint32_t, List> lists_;  ///< By account, or the only one, under 0.
};

class Keyed {
public:
    /// @param text  Its keys are `{keys}`, a row `k` for each, and the account of one `{account}`.
    Keyed(const KeyColumns& columns, std::string_view text);

    /// Queues what the list asks for; `handler` sees the result of each statement.
    void send(Connection& connection, const KeyList& list,
              const Connection::Handler& handler) const;

private:
    Statement together_, by_account_;
};

}  // namespace sluice::pg

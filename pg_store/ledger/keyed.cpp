#include "pg_store/ledger/keyed.hpp"

#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {
namespace {

/// Returns `text` with `what` in place of every `name`.
std::string filled(std::string_view text, std::string_view name, const std::string& what) {
    std::string result;
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name)) {
        result.append(text.substr(0, at)).append(what);
        text.remove_prefix(at + name.size());
    }
    return result.append(text);
}

/// @param first  The number of the first parameter that is a list.
std::string unnested_keys(const KeyColumns& columns, std::size_t first) {
    return unnested(columns, first) + " AS k (" + names(columns) + ")";
}

KeyColumns with_account(KeyColumns columns) {
    columns.insert(columns.begin(), {"account", Type::kInt4, 0});
    return columns;
}

}  // namespace

const KeyColumns& shop_text_key() {
    static const KeyColumns columns{{"shop", Type::kInt4, 0}, {"text", Type::kText, 0}};
    return columns;
}

const KeyColumns& digest_key() {
    static const KeyColumns columns{{"digest", Type::kBytes, 0}};
    return columns;
}

KeyList::Columns& KeyList::keys_of(AccountNumber account) {
    List& list = lists_[by_account_ ? account.value : 0];
    if (list.keys.empty()) {
        for (const SqlColumn& column : columns_) {
            list.keys.emplace_back(column.type);
        }
    }
    if (!by_account_) {
        list.accounts.add().u4(account.value);
    }
    return list.keys;
}

Keyed::Keyed(const KeyColumns& columns, std::string_view text)
    : together_(kept_statement(filled(filled(text, "{account}", "k.account"), "{keys}",
                                      unnested_keys(with_account(columns), 1)))),
      by_account_(kept_statement(
          filled(filled(text, "{account}", "$1::integer"), "{keys}", unnested_keys(columns, 2)))) {}

void Keyed::send(Connection& connection, const KeyList& list,
                 const Connection::Handler& handler) const {
    for (const auto& [account, keys] : list.lists_) {
        RowWriter parameters;
        if (list.by_account_) {
            parameters.u4(account);
        } else {
            keys.accounts.write_to(parameters);
        }
        for (const ColumnArray& column : keys.keys) {
            column.write_to(parameters);
        }
        connection.send(list.by_account_ ? by_account_ : together_, parameters, handler);
    }
}

}  // namespace sluice::pg

// Shop texts: keys of account, shop and a text as parameters of one statement. Internal to this
// room; pure.
#pragma once

#include <string_view>

#include "core/values/ids.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

/// account, shop and a text for each row: `unnest($1, $2, $3)`.
class ShopTextColumns {
public:
    void add(AccountNumber account, ShopNumber shop, std::string_view text) {
        accounts_.add().u4(account.value);
        shops_.add().u4(shop.value);
        texts_.add().text(text);
    }
    [[nodiscard]] RowWriter parameters() const {
        RowWriter row;
        accounts_.write_to(row);
        shops_.write_to(row);
        texts_.write_to(row);
        return row;
    }
    [[nodiscard]] bool empty() const noexcept { return accounts_.count() == 0; }

private:
    Column accounts_{Type::kInt4}, shops_{Type::kInt4}, texts_{Type::kText};
};

inline constexpr const char* kShopTextKeys =
    "unnest($1::integer[], $2::integer[], $3::text[]) AS k (account, shop, text) ";

}  // namespace sluice::pg

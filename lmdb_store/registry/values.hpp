// What a registry holds: accounts, their shops and their tokens.
#pragma once

#include <cstdint>
#include <optional>

#include "core/intake/rate_window.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::store {

struct AccountRow {
    AccountId account_id;
    AccountNumber number;
    AccountSlot slot;
    std::optional<RateLimit> rate_limit;
    bool suspended = false;
    Timestamp created_at;
};

struct ShopRow {
    ShopId shop_id;
    ShopNumber number;
    AccountId account_id;
    AccountNumber account_number;
    bool suspended = false;
    Timestamp created_at;
};

struct TokenRow {
    TokenId token_id;
    AccountId account_id;
    std::uint8_t scopes = 0;
    Timestamp created_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

}  // namespace sluice::store

// Creator scope: the creator whom a page token names. A read with a scope sees this creator's rows,
// and no others.
#pragma once

#include <utility>

#include "core/values/ids.hpp"

namespace sluice {

class CreatorScope {
public:
    /// Only the check of a page token and tests call this (tests/lint/test_layers.py).
    /// @param creator  First id.
    [[nodiscard]] static CreatorScope proven(AccountNumber account, CreatorId creator) {
        return {account, std::move(creator)};
    }

    [[nodiscard]] AccountNumber account() const noexcept { return account_; }
    [[nodiscard]] const CreatorId& creator() const noexcept { return creator_; }

private:
    CreatorScope(AccountNumber account, CreatorId creator)
        : account_(account), creator_(std::move(creator)) {}

    AccountNumber account_;
    CreatorId creator_;
};

}  // namespace sluice

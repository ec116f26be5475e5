// Feed check: proves changes that a consumer kept, from their bytes alone. Reads no ledger.
//
// No hash covers `trace`, `order_change`, the ids of account and shop (only their numbers) and
// `refers_to_node`.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/ledger/head.hpp"
#include "core/values/result.hpp"

namespace sluice::exports {

class FeedCheck {
public:
    /// The changes of one node.
    struct Chain {
        std::uint64_t first = 0;  ///< Number of the first entry.
        ChainHead head;           ///< After the last change.
        std::uint64_t changes = 0;
        /// Changes that show a payee masked: their hash is only compared with the next change's
        /// `previous_hash`.
        std::uint64_t masked = 0;
        /// Changes of which some entries are missing, because an answer had no room for them: the
        /// next change's `previous_hash` alone is compared with their hash.
        std::uint64_t cut = 0;
    };

    /// Takes the next change of the feed. Returns why it was altered, or does not follow the one
    /// before it on its node; the check ends then.
    [[nodiscard]] Status add(const simdjson::dom::element& change);

    [[nodiscard]] const std::map<std::string, Chain>& chains() const noexcept { return chains_; }

private:
    std::map<std::string, Chain> chains_;
};

}  // namespace sluice::exports

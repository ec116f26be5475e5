// Rows of creators' links (LK1).
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <cstdint>
#include <string>

#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Values are part of the ledger's format.
enum class LinkState : std::uint8_t {
    kActive = 1,
    kStopped = 2,  ///< Visitors still arrive, and nothing counts.
    kRemoved = 3,  ///< As unknown, for ever: a published link must not change hands.
};

/// An id has one meaning in a ledger, whatever the account. Program and creator never change.
struct LinkRow {
    LinkId link;
    AccountNumber account{};
    ProgramId program{};
    CreatorId creator{};        ///< First id.
    std::string destination{};  ///< As parse_destination() accepts it.
    bool deep = false;          ///< Path and query behind the id go to the destination.
    LinkState state = LinkState::kActive;
    Timestamp created_at{};
};

struct LinkByCreator {
    AccountNumber account;
    CreatorId creator;
    LinkId link{};
};

/// One row: how often links changed, by whichever node, and how many are not removed.
struct LinksHead {
    std::uint32_t number = 1;
    std::uint64_t revision = 0;
    std::uint64_t links = 0;
};

}  // namespace sluice

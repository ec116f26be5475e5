// Who runs a command, and when.
#pragma once

#include <string>

#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Who runs a command, and when.
struct CommandContext {
    SequenceNumber seq;
    Topic topic = Topic::kPayoutClose;
    Timestamp received_at;
    std::string actor;
    AccountNumber account;  ///< Of the shop that the command names; 0: it names none.
    ShopNumber shop;
};

}  // namespace sluice

// Context: the input that posts, and the command that runs.
#pragma once

#include <string>

#include "core/ledger/input.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The input that posts; every journal entry names it.
struct Source {
    SequenceNumber seq;
    Topic topic = Topic::kOrderCreate;
    Timestamp received_at;
    std::string command_id{};  ///< Empty for an order event. For an approved command, the id of the
                               ///< request.
    std::string note{}, actor{};
};

/// A command that runs. The source's note and actor are the command's reason and actor.
struct CommandContext {
    Source source;
    AccountNumber account;  ///< Account of the command, or of its shop; 0 if it names none.
    ShopNumber shop;        ///< 0 if the command names none.
    AccountId account_id;
    ShopId shop_id;
    std::string key;
    std::string body;                           ///< As in the queue.
    bool approved = false;                      ///< Another actor has approved it (H3).
    const ForgetFound* forget_found = nullptr;  ///< As in Input.

    [[nodiscard]] const std::string& actor() const noexcept { return source.actor; }
    [[nodiscard]] const std::string& reason() const noexcept { return source.note; }
};

}  // namespace sluice

// Who runs a command, and when; and what every entry says of the input that wrote it.
#pragma once

#include <string>

#include "core/ledger/forget_found.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The input that posts.
struct Source {
    SequenceNumber seq;
    Topic topic = Topic::kOrderCreate;
    Timestamp received_at;
    std::string command_id{};  ///< Empty: an order event. Of an approved command: of who asked.
    std::string note{}, actor{};
};

/// A command that runs. Its source's note and actor are its reason and who ran it.
struct CommandContext {
    Source source;
    AccountNumber account;  ///< That it names, or of the shop that it names; 0: it names none.
    ShopNumber shop;        ///< 0: it names none.
    AccountId account_id;
    ShopId shop_id;
    std::string key;
    std::string body;                           ///< As in the queue.
    bool approved = false;                      ///< Another actor has agreed (H3).
    const ForgetFound* forget_found = nullptr;  ///< As in Input.

    [[nodiscard]] const std::string& actor() const noexcept { return source.actor; }
    [[nodiscard]] const std::string& reason() const noexcept { return source.note; }
};

}  // namespace sluice

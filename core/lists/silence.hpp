// Silence: when shops sent their last events, and which of them are silent; and which nodes of a
// fleet are behind.
//
// Threads: as of the reader. Errors are thrown as LedgerFailure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "core/json/value.hpp"
#include "core/ledger/ledger.hpp"
#include "core/statements/shop_silence.hpp"

namespace sluice::lists {

struct Silence {
    Timestamp last_event;                       ///< To the minute.
    std::optional<std::chrono::minutes> usual;  ///< As usual_gap() returns it.
};

/// Returns nothing if the shop has sent no event yet.
[[nodiscard]] std::optional<Silence> silence_of(LedgerReader& ledger, AccountNumber account,
                                                ShopNumber shop);
/// Visits every shop that has sent an event, by number within its account.
void scan_silences(LedgerReader& ledger,
                   const std::function<void(ShopNumber shop, const Silence& silence)>& visit);

/// Returns the account's shops that have sent an event.
[[nodiscard]] std::map<ShopNumber, Silence> silences_of(LedgerReader& ledger,
                                                        AccountNumber account);

/// Returns verdict, sentence and figures in seconds: state, sentence, silent, usual, limit.
/// @param silence  Nothing: the shop is `learning`.
[[nodiscard]] Json silence_json(const ShopId& shop, const std::optional<Silence>& silence,
                                Timestamp now);

// ---- Nodes --------------------------------------------------------------------------------------

enum class NodePace : std::uint8_t {
    kCurrent,
    kBehind,  ///< Its last receipt is over an hour older than the newest node's.
    kGone,    ///< It was behind for so many days that it was taken out of service.
};

/// Returns the pace of a node by its last receipt.
/// @param received   Receipt of the node's last applied input.
/// @param newest     The latest receipt of all nodes.
/// @param days_gone  Days without a receipt after which a node that is behind counts as gone.
[[nodiscard]] constexpr NodePace pace_of(Timestamp received, Timestamp newest, Timestamp now,
                                         std::int64_t days_gone) noexcept {
    constexpr std::int64_t kSecondsBehind = 3600;
    if (newest <= received.plus_seconds(kSecondsBehind)) {
        return NodePace::kCurrent;
    }
    return now < received.plus_days(days_gone) ? NodePace::kBehind : NodePace::kGone;
}

}  // namespace sluice::lists

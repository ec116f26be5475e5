// Silence: when shops sent their last events, and which of them are silent.
//
// Threads: as of the reader. Errors are thrown as LedgerFailure.
#pragma once

#include <chrono>
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

}  // namespace sluice::lists

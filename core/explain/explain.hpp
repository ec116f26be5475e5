// Explain: one order from its events to each journal entry, in words and numbers that a person can
// check with a calculator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explain/candidates.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

struct ExplainedEvent {
    EventTrace trace;
    std::string node;   ///< UUID of the queue that it came through.
    std::string words;  ///< What it did, and why it did no more.
    std::vector<AnomalyKind> anomalies;
};

struct ExplainedRefund {
    RefundRow row;
    bool stands = true;
    std::string words;
};

struct ExplainedLine {
    OrderLine line;
    std::string rule;         ///< How the rate was found: `collection "sale" of spring, version 2`
    std::string rate;         ///< `10%`, `1.50 USD`, `none`
    std::string base;         ///< `net: 100.00 - 20.00 = 80.00`
    std::string refund;       ///< `25.00 of 100.00: in proportion`
    std::string calculation;  ///< `80.00 x 10% x (1 - 25.00 / 100.00) = 6`
    std::string rounding;     ///< `half to even, 2 digits: 6.00 USD`
    std::string words;        ///< Why it earns nothing whatever its rate; else empty.
    Decimal commission;       ///< What is due of it, in the order's currency.
};

/// What one creator has due of the order in one currency; earlier positions, too.
struct ExplainedDue {
    std::string program, creator;
    Currency currency;
    Decimal due, manual, taken;
    std::string words;  ///< Pending until when, payable, taken by payouts.
};

/// A payout that took something of the order, whatever became of it.
struct ExplainedPayout {
    std::string payout_id, state, program, creator;
    std::string node;  ///< UUID of the queue that its close came through.
    Currency currency;
    Decimal amount;  ///< Of the order.
    std::vector<PayoutItem> items;
};

struct Explanation {
    ShopRow shop;
    OrderState order;
    bool many_nodes = false;  ///< The ledger has inputs of several: a number alone names none.
    std::vector<ExplainedEvent> events;
    std::vector<ExplainedRefund> refunds;
    std::string attribution;  ///< Who has the order, since which input, by what.
    /// Attributed: as they were then. Else: as they are now.
    std::vector<ExplainedCandidate> candidates;
    std::vector<ExplainedLine> lines;
    std::vector<JournalGroup> journal;
    std::vector<ExplainedDue> dues;
    std::vector<ExplainedPayout> payouts;
    std::string device;                   ///< Which version stated the device id; empty: none did.
    std::vector<std::string> blocked_by;  ///< HOLD, CREATOR_HOLD, kinds of anomalies.
};

/// kNotFound: there is no such order. Throws LedgerFailure.
[[nodiscard]] Result<Explanation> explain_order(LedgerReader& ledger, const OrderKey& key);

/// For a terminal: lines of text, each ended by a newline.
[[nodiscard]] std::string explanation_text(const Explanation& explanation);
/// One JSON object with the same content.
[[nodiscard]] std::string explanation_json(const Explanation& explanation);

}  // namespace sluice

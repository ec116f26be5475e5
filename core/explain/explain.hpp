// Explain: one order from its events to each journal entry, in words and numbers that a person can
// check with a calculator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/record.hpp"
#include "core/shops/source_rows.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// How an event came from a shop's platform, as its stored input says. Empty texts are unknown.
struct ExplainedSource {
    std::string platform, topic, delivery, triggered_at, api_version;
    std::uint64_t mapping = 0;  ///< Number of the rules of its translation, or 0 if unknown.
    bool is_signed = false;     ///< The platform's own webhook; else an order of a file.
    std::vector<std::string> notes{};
    std::vector<SourceRow> fields{};
};
/// @param body  Of the stored input. Requires: it is valid JSON.
[[nodiscard]] ExplainedSource explain_source(const RecordSource& source, std::string_view body);

struct ExplainedEvent {
    EventTrace trace;
    std::string node;   ///< UUID of the queue that it came through.
    std::string words;  ///< Its effect, and the reason if it was limited.
    std::vector<AnomalyKind> anomalies;
    /// Set by callers that may read the stored inputs, which the ledger does not have.
    std::optional<ExplainedSource> source{};
};

struct ExplainedRefund {
    RefundRow row;
    bool stands = true;
    std::string words;
};

struct ExplainedCandidate {
    AttributionType type = AttributionType::kAffiliateCode;
    std::string source;  ///< `code SAVE`, or `click of 2026-01-01T00:00:00Z`, with its link
    std::string program, creator;  ///< Empty for a code without an owner.
    bool won = false;
    std::string words;                      ///< Why it won or lost.
    std::optional<Timestamp> clicked_at{};  ///< A click's.
    LinkId link{};                          ///< A click's; may be empty.
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
    Decimal commission;       ///< Accrued, in the order's currency.
};

/// One creator's amounts of the order in one currency; earlier positions are included.
struct ExplainedAccrual {
    std::string program, creator;
    Currency currency;
    Decimal accrued, manual, allocated;
    bool is_live = false;  ///< The order's creator of now has it.
    std::string words;     ///< When it clears, and what payouts have allocated.
};

/// A payout with items of the order, whatever its state.
struct ExplainedPayout {
    std::string payout_id, state, program, creator;
    std::string node;  ///< UUID of the queue that its close came through.
    Currency currency;
    Decimal amount;          ///< Sum of the order's items.
    bool is_active = false;  ///< Its items are allocated to it: not void, failed or returned.
    Timestamp closed_at;
    std::optional<Timestamp> sent_at, ended_at;
    std::vector<PayoutItem> items{};
};

struct Explanation {
    ShopRow shop;
    OrderState order;
    bool many_nodes = false;  ///< With several nodes a sequence number alone is ambiguous.
    std::vector<ExplainedEvent> events;
    std::vector<ExplainedRefund> refunds;
    std::string creator;  ///< The order's creator, under the id that reports show; may be empty.
    std::string attribution;  ///< The creator, and the input and rule that attributed the order.
    /// The candidates at the attribution; those of now if the order has no creator.
    std::vector<ExplainedCandidate> candidates;
    std::vector<ExplainedLine> lines;
    std::vector<JournalGroup> journal;
    std::vector<ExplainedAccrual> accruals;
    std::vector<ExplainedPayout> payouts;
    std::string device;                   ///< The version that stated the device id; else empty.
    std::vector<std::string> blocked_by;  ///< HOLD, CREATOR_HOLD, kinds of anomalies.
};

/// Returns kNotFound if there is no such order. Throws LedgerFailure.
[[nodiscard]] Result<Explanation> explain_order(LedgerReader& ledger, const OrderKey& key);

/// Returns the candidates of an attributed order, as they were when it was attributed.
[[nodiscard]] std::vector<ExplainedCandidate> candidates_then(const OrderState& order,
                                                              LedgerReader& ledger);
/// Returns every code and the latest clicks of an order without a creator, each with the reason why
/// it does not count.
[[nodiscard]] std::vector<ExplainedCandidate> candidates_now(const OrderState& order,
                                                             LedgerReader& ledger);

/// The first answer to a person who asks about an order.
struct OrderAnswer {
    /// As OrderJudge::status() returns it (core/statements/statements.hpp).
    std::string_view status;
    std::string sentence;              ///< To be read aloud.
    std::optional<Timestamp> since;    ///< Since when the order has this status, if that is known.
    std::optional<Timestamp> next_at;  ///< When the next step comes: the pending commission clears,
                                       ///< or the next payout day.
    std::string next_step{};           ///< The event that has to come. May be empty.
    std::string command;  ///< The command that would help, quoted for a shell. May be empty.
};
/// @param now            A commission is pending until it clears, and payable from that instant on.
/// @param tells_balance  Whether the reader may know what the creator has payable, and the state of
///                       the payee.
[[nodiscard]] OrderAnswer order_answer(const Explanation& explanation, Timestamp now,
                                       LedgerReader& ledger, bool tells_balance = true);

/// Returns the explanation as text for a terminal, each line ended by a newline.
/// @param shows_sources  Adds a table of the values of each event that came from a platform.
[[nodiscard]] std::string explanation_text(const Explanation& explanation,
                                           bool shows_sources = false);
/// Returns one object with the same content.
[[nodiscard]] Json explanation_object(const Explanation& explanation, const OrderAnswer& answer);
/// Returns it as JSON text, with the escapes of JsonEscapes::kStored.
[[nodiscard]] std::string explanation_json(const Explanation& explanation,
                                           const OrderAnswer& answer);

}  // namespace sluice

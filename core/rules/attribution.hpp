// Attribution: selects the creator and program of an order (rules A1, A2).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/programs/program.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// A program that covers the order's shop. It counts for orders with
/// max(effective_from, starts_at) <= platform_ordered_at < ends_at.
struct Covering {
    const ProgramRow* row = nullptr;
    Timestamp effective_from;  ///< As the apply said that added the shop (A2).

    [[nodiscard]] bool counts_for(Timestamp ordered_at) const noexcept;
};

/// Returns the programs that cover a shop, by program id. They point into `rows`.
[[nodiscard]] std::vector<Covering> covering_programs(const std::vector<ProgramRow>& rows,
                                                      std::string_view shop_id,
                                                      LedgerReader& ledger);

/// Returns the code in lower case (ASCII).
[[nodiscard]] std::string folded_code(std::string_view code);
/// Codes compare ignoring the case of ASCII letters.
[[nodiscard]] Digest256 code_digest(std::string_view code);

/// Returns whether the creator owns the code at this instant.
[[nodiscard]] bool is_valid_at(const CodeRow& row, Timestamp at) noexcept;

/// Returns whether the order has a code with this digest.
[[nodiscard]] bool carries_code(const OrderState& state, const Digest256& code);
/// Returns whether the order's creator was selected by the code.
[[nodiscard]] bool is_through_code(const OrderState& state, const Digest256& code);

/// The code that attributed an order.
struct Coded {
    ProgramId program;
    CreatorId creator;
    std::string code;   ///< As folded_code() returns it.
    Currency currency;  ///< The order's.
    friend bool operator==(const Coded&, const Coded&) = default;
};
/// Returns nothing unless a code won.
[[nodiscard]] std::optional<Coded> coded_by(const Attribution& attribution, Currency currency);

/// The click that attributed an order.
struct Landed {
    ProgramId program;
    CreatorId creator;
    LinkId link{};  ///< May be empty.
    friend bool operator==(const Landed&, const Landed&) = default;
};
/// Returns nothing unless LANDED is among the attribution's types.
[[nodiscard]] std::optional<Landed> landed_by(const Attribution& attribution);

/// Returns the keys that an order without a creator waits for; sorted, unique. Empty for other
/// orders.
[[nodiscard]] std::vector<WaitKey> wait_keys(const OrderState& state);

/// Finds the candidates of rule A1 in the ledger as it is now: codes with an owner at the time of
/// the order, and the latest clicks.
/// @param programs  The programs that cover the order's shop.
[[nodiscard]] std::vector<Candidate> find_candidates(const OrderState& state,
                                                     const std::vector<Covering>& programs,
                                                     LedgerReader& ledger);

/// Selects the winner, and records why each other candidate lost. Pure. Returns nullopt if there is
/// no candidate. The caller sets `cause`, `command_id`, `cause_topic` and `at`.
[[nodiscard]] std::optional<Attribution> choose(const std::vector<Covering>& programs,
                                                std::vector<Candidate> candidates);

/// Returns false also for a creator who was removed from the program.
[[nodiscard]] bool is_member(LedgerReader& ledger, AccountNumber account, const ProgramId& program,
                             const CreatorId& creator);

/// Returns the index of the order's position of this program and creator, or nullopt.
[[nodiscard]] std::optional<std::uint32_t> find_position(const OrderState& state,
                                                         const ProgramId& program,
                                                         const CreatorId& creator);

/// Returns the types joined by `+`, sorted, as the memo entry ATTRIBUTED has them.
[[nodiscard]] std::string type_names(std::uint8_t types);

}  // namespace sluice

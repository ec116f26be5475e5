// Attribution: which creator of which program an order belongs to (books A1, A2).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/commands/program.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/protocol/signature.hpp"
#include "core/rules/covering.hpp"

namespace sluice {

/// Codes compare ignoring the case of ASCII letters.
[[nodiscard]] std::string fold_code(std::string_view code);
[[nodiscard]] Digest256 code_digest(std::string_view code);

/// What an order without a creator waits for. Sorted, unique.
[[nodiscard]] std::vector<WaitKey> wait_keys(const OrderState& state);

/// Rule A1: the codes with an owner then and the latest touches, as the ledger has them now.
/// @param programs  Those that cover the order's shop.
[[nodiscard]] std::vector<Candidate> find_candidates(const OrderState& state,
                                                     const std::vector<Covering>& programs,
                                                     LedgerReader& ledger);

/// Decides between candidates; says of every loser why it lost. Pure.
/// @return nothing if there is no candidate. `cause`, `command_id`, `cause_topic` and `at` are left
/// to the caller.
[[nodiscard]] std::optional<Attribution> choose(const std::vector<Covering>& programs,
                                                std::vector<Candidate> candidates);

/// A touch that counts for an order: within the window, reaching it, of a creator who is in the
/// program and reaches it. The latest; at one instant the last imported.
[[nodiscard]] std::optional<Touch> latest_touch(const OrderState& state, const ProgramRow& program,
                                                LedgerReader& ledger);

/// Index of the order's position of this program and creator; nothing: it never had one.
[[nodiscard]] std::optional<std::uint32_t> find_position(const OrderState& state,
                                                         const ProgramId& program,
                                                         const CreatorId& creator);

/// Types joined by `+`, sorted: what the mark ATTRIBUTED says.
[[nodiscard]] std::string type_names(std::uint8_t types);

}  // namespace sluice

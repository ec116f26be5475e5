// Forget task: the ledger's row of a forget that some node has not done yet (rule F2).
//
// It holds R, and digests in place of ids. It is erased once every node has done its part.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/commands/imports.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/input.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {

/// The result of every FORGET, which must not name the person.
inline constexpr std::string_view kForgotten = "forgotten";

/// The person to forget. An id that is not the ledger's own is a digest.
struct ForgetWhom {
    ForgetBy by = ForgetBy::kCustomer;
    AccountNumber account;
    ShopNumber shop;     ///< 0 for a creator.
    Digest256 digest{};  ///< kCustomer, kEmail, kPhone, kDevice.
    std::string id{};    ///< kOrder, kCreator.
};
[[nodiscard]] ForgetWhom forget_subject(const Forget& command, AccountNumber account,
                                        ShopNumber shop);

struct ForgetJob {
    std::string command_id;
    ForgetWhom whom;
    Digest256 secret{};     ///< R, the key of the pseudonyms: random, one for each FORGET.
    Timestamp received_at;  ///< Receipt of the command.
    std::string node;       ///< Queue of the command.
    SequenceNumber seq;     ///< Sequence number of the command there.
    ForgetFound found{};

    /// Returns true if the input came before the command, so that it is forgotten as well. In
    /// queues other than the command's, the times of receipt decide.
    [[nodiscard]] bool is_before(std::string_view queue, SequenceNumber input,
                                 Timestamp received) const noexcept {
        return queue == node ? input < seq : received <= received_at;
    }
};
[[nodiscard]] ForgetTask encode_task(const ForgetJob& job);
/// Throws DamagedRow.
[[nodiscard]] ForgetJob decode_task(const ForgetTask& row);
/// Returns nullopt if every node has done its part, or there never was such a task.
[[nodiscard]] std::optional<ForgetJob> load_task(LedgerReader& ledger,
                                                 const std::string& command_id);

/// Thrown if the ledger was not yet searched for this FORGET. The caller aborts the transaction,
/// and applies the input again with Input::forget_found once every input before it is committed.
struct ForgetNotSearched {
    SequenceNumber seq;
    ForgetWhom whom;
};

/// The pseudonyms that replace the ids that a forget found.
class ForgetNames {
public:
    explicit ForgetNames(const ForgetJob& job);

    /// Returns nullopt for a digest that is not replaced.
    [[nodiscard]] std::optional<Digest256> customer(const Digest256& digest) const;
    [[nodiscard]] std::optional<Digest256> device(const Digest256& digest) const;

private:
    const ForgetFound& found_;
    SigningKey secret_;
};

}  // namespace sluice

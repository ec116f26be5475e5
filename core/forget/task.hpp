// Forget task: a forget that some node has not done yet, as it stands in the ledger (books F2).
//
// It holds R, and digests in place of ids; wiped once every node of the fleet has done its part.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/commands/imports.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/forget_found.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {

/// Who is to be forgotten. An id that is not the ledger's own is a digest.
struct ForgetWhom {
    ForgetBy by = ForgetBy::kCustomer;
    AccountNumber account;
    ShopNumber shop;     ///< 0 for a creator.
    Digest256 digest{};  ///< kCustomer, kEmail, kPhone, kDevice.
    std::string id{};    ///< kOrder, kCreator.
};
[[nodiscard]] ForgetWhom whom_of(const Forget& command, AccountNumber account, ShopNumber shop);

struct ForgetJob {
    std::string command_id;
    ForgetWhom whom;
    Digest256 secret{};     ///< R
    Timestamp received_at;  ///< Of the command.
    std::string node;       ///< Whose input the command is.
    SequenceNumber seq;     ///< Its number there.
    ForgetFound found;

    /// True of an input that came before the command: what comes later is not forgotten. Queues
    /// other than the command's are told apart by the times of receipt.
    [[nodiscard]] bool is_before(std::string_view queue, SequenceNumber input,
                                 Timestamp received) const noexcept {
        return queue == node ? input < seq : received <= received_at;
    }
};
[[nodiscard]] ForgetTask encode_task(const ForgetJob& job);
/// Throws DamagedRow.
[[nodiscard]] ForgetJob decode_task(const ForgetTask& row);
/// Nothing: done by every node, or never there.
[[nodiscard]] std::optional<ForgetJob> load_task(LedgerReader& ledger,
                                                 const std::string& command_id);

/// Thrown for a FORGET that was not looked for: the transaction must be let go. It is applied again
/// with Input::forget_found, once every input before it is committed.
struct ForgetNotSearched {
    SequenceNumber seq;
    ForgetWhom whom;
};

/// Pseudonyms in place of what a forget has found.
class ForgetNames {
public:
    explicit ForgetNames(const ForgetJob& job);

    /// Nothing: it stays.
    [[nodiscard]] std::optional<Digest256> customer(const Digest256& digest) const;
    [[nodiscard]] std::optional<Digest256> device(const Digest256& digest) const;

private:
    const ForgetFound& found_;
    SigningKey secret_;
};

}  // namespace sluice

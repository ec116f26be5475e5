// Apply: what one input of the queue does to the ledger.
//
// Deterministic: the same inputs in the same order give the same rows, byte for byte. There is no
// clock here; an input's time is its time of receipt. Everything an input does, its checkpoint
// included, happens in the transaction that is passed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/apply/dead_letters.hpp"
#include "core/apply/prepared_input.hpp"
#include "core/apply/sender_check.hpp"
#include "core/commands/seal.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/order.hpp"
#include "core/orders/program_cache.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

/// The outcome of one input.
struct Applied {
    InputClass input_class = InputClass::kApplied;
    bool failed = false;  ///< A command was refused; `text` says why. Nothing else changed.
    std::string text;     ///< A command's result, or the reason of a dead letter; else empty.
    CommandOutcome outcome = CommandOutcome::kDone;  ///< Meaningful for commands.
    /// The last of the lost inputs that the command stands for.
    std::optional<SequenceNumber> gap_end{};
    std::uint64_t token = 0;  ///< RecordMeta::token of an order or a batch.
    Timestamp received_at{};
};

/// Orders of an input's retry work that apply() does itself.
inline constexpr std::size_t kWorkInline = 256;

class Applier {
public:
    /// @param seals  Judges the seals of commands, and outlives this object. nullptr judges none,
    /// for a replay whose inputs a worker has judged.
    /// @param senders  Judges the shops and times of events, under the same conditions.
    explicit Applier(SealCheck* seals = nullptr, SenderCheck* senders = nullptr)
        : seals_(seals), senders_(senders) {}

    /// Applies one input: rows, journal, totals, checkpoint. Never fails on an input's content:
    /// what cannot be applied becomes a dead letter. Requires: no work is pending (see work());
    /// input.seq is above the head's applied_seq. Throws LedgerFailure; the caller then aborts the
    /// transaction and calls discard().
    /// @param ahead  The input as an InputPreparer prepared it; nullptr to do so here.
    Applied apply(const Input& input, LedgerTxn& txn, const PreparedInput* ahead = nullptr);

    /// Does up to `orders_max` orders of the work that inputs left behind (core/apply/work). The
    /// caller finishes it, over as many transactions as it takes, before it applies the next input.
    /// Returns true if some is left.
    bool work(LedgerTxn& txn, std::size_t orders_max);

    /// Drops what was cached from an aborted transaction.
    void discard() noexcept;

private:
    /// A shop whose names the ledger has.
    struct KnownShop {
        ShopRow row;
        std::int64_t last_minute = -1;  ///< Noted by note_minute() for its last event; -1 before.
        std::uint32_t last_node = 0;    ///< Node of that event: a rebuild applies several queues.
    };
    /// An input whose record could be read.
    struct Decoded {
        const Input& input;
        const RecordMeta& meta;
        const PreparedInput& prepared;
        std::string_view body;
        /// Set for a dead letter that is applied again: the receipt of the command that does so. A
        /// rebuild, without registry and clock, must decide as the worker did.
        std::optional<Timestamp> replayed_at;
    };
    /// Applies an input without totals, checkpoint and dead letter.
    Applied apply_input(const Input& input, std::optional<Timestamp> replayed_at,
                        const PreparedInput& prepared, LedgerTxn& txn);
    template <class Apply>
    Applied with_work(LedgerTxn& txn, Apply apply);
    Applied apply_order(const Decoded& decoded, LedgerTxn& txn);
    Applied apply_deletion(const Decoded& decoded, LedgerTxn& txn);
    Applied refuse_privacy_request(const Decoded& decoded, LedgerTxn& txn);
    Applied apply_catalog(const Decoded& decoded, LedgerTxn& txn);
    Applied apply_click_record(const Decoded& decoded, LedgerTxn& txn);
    std::optional<std::string> seal_fault_of(const Decoded& decoded, LedgerTxn& txn);
    Applied apply_command(const Decoded& decoded, LedgerTxn& txn);
    /// Applies a dead letter again. Returns true if the letter could be applied and is erased.
    /// @param at  The receipt of the command that does so.
    bool replay(DeadLetter letter, Timestamp at, LedgerTxn& txn);
    [[nodiscard]] bool is_from_future(const Decoded& decoded) const;
    /// Calls find_shop(), and notes the minute of the event's receipt.
    std::optional<std::string> find_event_shop(const Decoded& decoded, LedgerTxn& txn);
    /// Finds the shop, and stores its names if the ledger does not know it yet. Returns why the
    /// event is not this shop's, or nothing.
    std::optional<std::string> find_shop(const Decoded& decoded, LedgerTxn& txn, KnownShop*& found);

    SealCheck* seals_;
    SenderCheck* senders_;
    InputPreparer preparer_;
    PreparedInput prepared_;  ///< The last input that was not prepared ahead.
    ProductBatchParser products_;
    ProgramCache programs_;
    OrderApplier order_applier_{programs_};
    std::unordered_map<std::uint32_t, KnownShop> known_shops_;
    UnreadOrders unread_;
};

}  // namespace sluice

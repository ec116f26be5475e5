// Inputs: what one record does, without totals, checkpoint and dead letter.
#pragma once

#include <cstddef>
#include <string>

#include "core/apply/applied.hpp"
#include "core/apply/shop_names.hpp"
#include "core/commands/commands.hpp"
#include "core/orders/order.hpp"
#include "core/orders/program_cache.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

/// The counter of a class.
[[nodiscard]] std::uint64_t& counter(Totals& totals, InputClass input_class) noexcept;

class InputApplier {
public:
    /// @param meta_out  Set once the record could be read; points into `record`.
    Applied apply(const Input& input, const RecordMeta*& meta_out, RecordView& record,
                  LedgerTxn& txn);
    /// Does about `orders_max` orders of pending work. @return true if some is left.
    bool work(LedgerTxn& txn, std::size_t orders_max);
    void discard() noexcept;

private:
    /// An input whose record could be read.
    struct Decoded {
        const Input& input;
        const RecordMeta& meta;
        std::string_view body;
    };
    Applied apply_order(const Decoded& decoded, LedgerTxn& txn);
    Applied apply_catalog(const Decoded& decoded, LedgerTxn& txn);
    Applied apply_command(const Decoded& decoded, LedgerTxn& txn);
    /// @return true if the letter could be applied and is gone.
    bool replay(DeadLetter letter, LedgerTxn& txn);

    OrderEventParser orders_;
    ProductBatchParser products_;
    ProgramCache programs_;
    OrderApplier order_applier_{programs_};
    ShopNames shops_;
};

}  // namespace sluice

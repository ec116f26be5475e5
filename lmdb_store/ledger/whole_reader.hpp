// Whole reader: one state of the embedded ledger, of all nodes. Internal to this room.
#pragma once

#include "core/copy/row_sink.hpp"
#include "lmdb_store/ledger/txn.hpp"

namespace sluice::store {

class EmbeddedWhole final : private TxnHolder<ReadTxn>, public Reads, public WholeReader {
public:
    EmbeddedWhole(const Environment& env, const LedgerHandles& handles, ReadTxn txn)
        : TxnHolder{std::move(txn)}, Reads(RowAccess(env, handles, txn_)) {
        load_head({});
    }

    void turn_to(std::string_view node) override;
    void scan_balance_parts(const Visitor<NodeBalance>& visit) override;
};

}  // namespace sluice::store

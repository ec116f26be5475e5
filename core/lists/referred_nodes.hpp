// Referred nodes: which node wrote the entry that `refers_to` of a late entry names (S1). Entries
// are numbered within a node, and the first entry of a line may be another node's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice::lists {

/// Returns the node of one entry, or an empty text if it refers to none.
/// Reads the order's journal if there are several nodes. A credit's entries are found among those
/// of its creator, because the journal of an order leaves credits out.
/// @param nodes  How many the ledger has.
[[nodiscard]] std::string referred_node(LedgerReader& ledger, const JournalGroup& group,
                                        std::size_t index, std::size_t nodes);

/// Knows the nodes of all entries of the journal.
class ReferredNodes {
public:
    /// Reads the journal twice if the ledger has several nodes, because a scan allows no other
    /// read.
    explicit ReferredNodes(LedgerReader& ledger);

    /// Returns the UUID of the node, or an empty text if the entry refers to none.
    [[nodiscard]] std::string of(const JournalGroup& group, std::size_t index) const;

private:
    /// Account, shop, order, credit, program, creator, line and number of an entry that is referred
    /// to.
    using Key = std::tuple<AccountNumber, ShopNumber, OrderId, std::string, ProgramId, CreatorId,
                           LineItemId, std::uint64_t>;
    struct Writer {
        std::string node;
        SequenceNumber seq;       ///< Input that wrote the entry.
        std::uint64_t batch = 0;  ///< AppliedBatch::number of the input.
    };

    [[nodiscard]] Key key_of(const JournalGroup& group, const JournalEntry& entry,
                             std::uint64_t number) const;
    void find_writers(LedgerReader& ledger);
    void keep_first(LedgerReader& ledger);

    bool has_many_nodes_ = false;
    std::map<std::string, std::string> reversed_;  ///< Credits by the command that reversed each.
    std::map<Key, std::vector<Writer>> writers_;
};

}  // namespace sluice::lists

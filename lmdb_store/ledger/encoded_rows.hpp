// Encoded rows: a sink that turns every row into the keys and values that the embedded ledger
// stores. Internal to lmdb_store.
#pragma once

#include <map>
#include <string>

#include "core/copy/row_sink.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_keys.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {

/// @tparam Sink  The kind of sink that is implemented.
template <class Sink>
class EncodedRows : public Sink {
public:
    void turn_to(std::string_view node) override { node_ = number_of(std::string(node)); }
    void add_row(RowView row) override {
        if (row.is<ShopRow>()) {
            write(Table::kShopIds, shop_id_key(row.as<ShopRow>()), {});
        }
        CutTexts cut;
        const LedgerKey key = row_key(row, cut, node_);
        write(stored_in(row.table()), key, value_.encode(key.view(), cut, row));
        end_row();
    }
    void add(const LedgerHead& head) override {
        numbers_.emplace(head.node, head.number);
        write(Table::kHeads, head.node, value_.encode(head.node, NodeHead{head.number, head}));
        end_row();
    }
    void add(const NodeChain& chain) override {
        LedgerKey key;
        key.u32(number_of(chain.node)).u32(chain.account.value);
        write(Table::kChains, key, value_.encode(key.view(), chain.head));
        end_row();
    }
    void add(const NodeBalance& balance) override {
        LedgerKey key = balance_prefix(balance.part.key);
        key.u32(number_of(balance.node));
        write(Table::kBalances, key, value_.encode(key.view(), balance.part));
        end_row();
    }
    void add(const JournalGroup& group) override {
        const std::uint32_t node = number_of(group.node);
        const LedgerKey key = journal_key(node, group.first_entry);
        write(Table::kJournal, key, value_.encode(key.view(), group));
        if (!group.creator.empty()) {
            write(Table::kCreatorJournal, dated_key(group, node), {});
        }
        end_row();
    }
    void add(const OrderState& order) override {
        const LedgerKey key = order_key(order.key);
        write(Table::kOrders, key, order_value_.encode(key.view(), order));
        end_row();
    }
    void add(const OrderKey& order, const EventTrace& event) override {
        const LedgerKey key = event_key(order, event);
        write(Table::kEvents, key, value_.encode_event(key.view(), order, event));
        if (event.digest != EventDigest{}) {
            write(Table::kEventDigests, event_digest_key(order, event.topic, event.digest), {});
        }
        end_row();
    }
    void add(const CatalogRecord& record) override {
        for (const std::string& variant : record.variant_skus) {
            const LedgerKey key = variant_key(record.key, variant);
            write(Table::kVariants, key, value_.encode_variant(key.view(), record.key.product_id));
        }
        const LedgerKey key = catalog_key(record.key);
        write(Table::kCatalog, key, value_.encode(key.view(), record));
        end_row();
    }

protected:
    virtual void write(Table table, std::string_view key, std::string_view value) = 0;
    /// Called when everything of a row was written.
    virtual void end_row() {}
    /// Returns the ledger's number of a queue that no head names, or throws DamagedRow.
    [[nodiscard]] virtual std::uint32_t missing_number(const std::string& node) const = 0;

private:
    void write(Table table, const LedgerKey& key, std::string_view value) {
        write(table, key.view(), value);
    }
    [[nodiscard]] std::uint32_t number_of(const std::string& node) const {
        const auto found = numbers_.find(node);
        return found == numbers_.end() ? missing_number(node) : found->second;
    }

    std::map<std::string, std::uint32_t> numbers_;
    std::uint32_t node_ = 0;
    RowValue value_;
    OrderValue order_value_;
};

}  // namespace sluice::store

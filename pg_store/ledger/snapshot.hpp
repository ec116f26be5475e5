// The reader of the PostgreSQL ledger: one consistent state, in a transaction that only reads.
// Internal to pg_store.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/copy/row_sink.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

class PgSnapshot final : private ConnectionHolder, public Reads {
public:
    PgSnapshot(BorrowedConnection connection, std::string_view node);

    void expect_orders(std::span<const OrderKey> keys) override;
    bool load_order(const OrderKey& key, OrderState& state) override;

private:
    struct Expected {
        OrderState state;
        bool exists = false;
        std::exception_ptr damage;  ///< It could not be read.
    };
    void take_orders(const Rows& found);

    std::unordered_map<OrderKey, Expected, OrderHash> expected_;
};

struct SessionHolder {
    std::unique_ptr<Connection> session_;
};

class WholeSnapshot final : private SessionHolder, public Reads, public WholeReader {
public:
    /// Begins. The session ends with it.
    explicit WholeSnapshot(std::unique_ptr<Connection> session);

    void turn_to(std::string_view node) override;
    void scan_balance_parts(const Visitor<NodeBalance>& visit) override;
    [[nodiscard]] Connection& session() { return *session_; }
};

}  // namespace sluice::pg

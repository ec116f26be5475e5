// Whole snapshot: the whole reader on a session of its own. Internal to this room.
#pragma once

#include <memory>
#include <string_view>

#include "core/copy/row_sink.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

struct SessionHolder {
    std::unique_ptr<Connection> session_;
};

class WholeSnapshot final : private SessionHolder, public Reads, public WholeReader {
public:
    /// Begins. The session ends with it.
    explicit WholeSnapshot(std::unique_ptr<Connection> session);

    void turn_to(std::string_view node) override;
    void scan_balance_parts(const Visitor<NodeBalance>& visit) override;
};

}  // namespace sluice::pg

// Spread tables: which column of a table says on which machine of Citus a row is, and making it so.
#pragma once

#include <string>
#include <vector>

namespace sluice::pg {

class Connection;

struct Distributed {
    std::vector<std::string> by_column;  ///< Tables whose rows were spread just now.
    std::vector<std::string> reference;  ///< ... that every machine has now.
};

/// The database has Citus, and the ledger is on the coordinator alone.
[[nodiscard]] bool could_be_distributed(Connection& session);
/// Spreads what is not spread yet, in the transaction of the session. Internal to this room.
[[nodiscard]] Distributed distribute_rest(Connection& session);

/// Tables and the column whose value says where a row is, table by table; those of one column lie
/// together. All others are reference tables. Internal to this room.
struct DistributedTables {
    const char* column;
    std::vector<const char*> tables;
};
[[nodiscard]] const std::vector<DistributedTables>& distributed_tables();
[[nodiscard]] bool has_citus(Connection& session);

}  // namespace sluice::pg

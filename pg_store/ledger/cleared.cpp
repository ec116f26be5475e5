// Cleared rows for a payout close, sorted by the server and fetched slice by slice.
#include <utility>

#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {
namespace {

constexpr int kFetchRows = 8192;

/// Rows of a cursor, which sees the rows that existed when it was declared, and ends with its
/// transaction.
class CursorRows final : public ClearedRows {
public:
    CursorRows(Connection& connection, std::string name)
        : connection_(connection), name_(std::move(name)) {}

    void visit(const Visitor<OpenAmount>& visit) override {
        if (std::exchange(begun_, true)) {
            connection_.send_text("MOVE ABSOLUTE 0 IN " + name_);
        }
        visit_cursor(connection_, name_, kFetchRows,
                     [&](RowReader& row) { return visit(read_row<OpenAmount>(row)); });
    }

private:
    Connection& connection_;
    std::string name_;
    bool begun_ = false;
};

}  // namespace

std::unique_ptr<ClearedRows> Reads::cleared(AccountNumber account,
                                            std::span<const ClearedOf> programs) {
    static const std::string kSelect =
        "SELECT " + sql_of<OpenAmount>().columns("o.") +
        " FROM sluice_ledger.open o JOIN unnest($2::text[], $3::bigint[], $4::integer[]) "
        "AS k (program, until_s, until_ns) ON o.program = k.program AND "
        "(o.cleared OR (o.sold_s, o.sold_ns) <= (k.until_s, k.until_ns)) "
        "LEFT JOIN sluice_ledger.shops s ON s.shop = o.shop WHERE o.account = $1 "
        "ORDER BY o.creator, o.currency, o.program, "
        "coalesce(s.shop_id, '') COLLATE \"C\", o.order_id";
    settle();
    RowWriter parameters;
    parameters.u4(account.value);
    parameters.array(Type::kText, programs,
                     [](RowWriter& out, const ClearedOf& of) { out.text(of.program.view()); });
    parameters.array(Type::kInt8, programs,
                     [](RowWriter& out, const ClearedOf& of) { out.i8(of.sold_until.seconds); });
    parameters.array(Type::kInt4, programs,
                     [](RowWriter& out, const ClearedOf& of) { out.u4(of.sold_until.nanos); });
    const std::string name = "cleared" + std::to_string(++cursors_count_);
    connection_.send_text("DECLARE " + name + " SCROLL CURSOR FOR " + kSelect, parameters);
    return std::make_unique<CursorRows>(connection_, name);
}

}  // namespace sluice::pg

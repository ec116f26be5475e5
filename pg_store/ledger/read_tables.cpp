// The reads of every described table.
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

template <class Row, class Base>
bool ReadsTable<Row, Base>::load(Row& row) {
    static const Statement kSelect = kept_statement(table_text<Row>().select_one());
    this->begin_reading();
    const Rows found = this->connection_.query(kSelect, key_parameters(row, this->node_.number));
    if (found.empty()) {
        return false;
    }
    RowReader from = found.row(0);
    row = read_row<Row>(from);
    return true;
}

/// Page by page, each behind the last row of the one before: bounded memory, and `visit` may run
/// other statements meanwhile.
template <class Row, class Base>
void ReadsTable<Row, Base>::scan(const Row& first, KeyRange range, const Visitor<Row>& visit) {
    this->settle();
    Statement page = kept_statement(table_text<Row>().select_page(range, false, kPageRows<Row>));
    RowWriter parameters = key_parameters(first, this->node_.number, range.from);
    for (;;) {
        const Rows found = this->connection_.query(page, parameters);
        for (int i = 0; i < found.count(); ++i) {
            RowReader from = found.row(i);
            const Row row = read_row<Row>(from);
            if (!visit(row)) {
                return;
            }
            if (i + 1 == kPageRows<Row>) {
                parameters = key_parameters(row, this->node_.number);
            }
        }
        if (found.count() < kPageRows<Row>) {
            return;
        }
        page = kept_statement(table_text<Row>().select_page(range, true, kPageRows<Row>));
    }
}

Reads::Reads(Connection& connection) : TableReads(connection) {}
Reads::~Reads() = default;

}  // namespace sluice::pg

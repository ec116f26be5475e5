// Row tables: what every ledger can do with a row that core/ledger/tables.hpp describes.
//
// Errors: see core/ledger/ledger.hpp.
#pragma once

#include <functional>

#include "core/ledger/tables.hpp"

namespace sluice {

/// Called for each row of a scan; false ends it. The row is valid during the call only.
template <class Row>
using Visitor = std::function<bool(const Row&)>;

/// Which rows a scan visits, in the order of their keys: those whose first `same` key columns are
/// those of the row that is given, from the place on that its first `from` columns name.
/// Requires: same <= from <= key_columns<Row>().
struct KeyRange {
    unsigned same = 0;
    unsigned from = 0;
};

template <class Row>
class TableReader {
public:
    /// Fills in the row whose key is given. False: there is none; the rest is then unspecified.
    [[nodiscard]] virtual bool load(Row& row) = 0;
    virtual void scan(const Row& first, KeyRange range, const Visitor<Row>& visit) = 0;

protected:
    ~TableReader() = default;
};

template <class Row>
class TableWriter {
public:
    virtual void put(const Row& row) = 0;    ///< Insert or replace.
    virtual void erase(const Row& row) = 0;  ///< By key; it may be missing.

protected:
    ~TableWriter() = default;
};

template <class Rows>
class TableReaders;
template <class... Rows>
class TableReaders<RowTypes<Rows...>> : public TableReader<Rows>... {
public:
    using TableReader<Rows>::load...;
    using TableReader<Rows>::scan...;

protected:
    ~TableReaders() = default;
};

template <class Rows>
class TableWriters;
template <class... Rows>
class TableWriters<RowTypes<Rows...>> : public TableWriter<Rows>... {
public:
    using TableWriter<Rows>::put...;
    using TableWriter<Rows>::erase...;

protected:
    ~TableWriters() = default;
};

/// Link<Row1, Link<Row2, ... Base>>: how a ledger implements the tables without naming them.
template <template <class, class> class Link, class Base, class Rows>
struct LinkedTables;
template <template <class, class> class Link, class Base>
struct LinkedTables<Link, Base, RowTypes<>> {
    using Type = Base;
};
template <template <class, class> class Link, class Base, class Row, class... Rest>
struct LinkedTables<Link, Base, RowTypes<Row, Rest...>> {
    using Type = Link<Row, typename LinkedTables<Link, Base, RowTypes<Rest...>>::Type>;
};
template <template <class, class> class Link, class Base>
using ForEachTable = typename LinkedTables<Link, Base, DescribedRows>::Type;

}  // namespace sluice

#include "lmdb_store/ledger/differences.hpp"

#include <algorithm>
#include <utility>

#include "core/values/assert.hpp"
#include "lmdb_store/ledger/row_text.hpp"
#include "lmdb_store/ledger/table_hash.hpp"

namespace sluice::store {
namespace {

/// Rows of one ledger alone that wait for their counterparts under another key.
constexpr std::size_t kAloneMax = 1000;
constexpr const char* kDamaged = "damaged: the bytes are not those that sluice wrote";

Table table_named(std::string_view name) {
    const auto& names = ledger_tables();
    const auto found = std::ranges::find(names, name);
    SLUICE_ASSERT(found != names.end());
    return static_cast<Table>(found - names.begin());
}

std::string summary_of(const RowText& row) {
    if (!row.is_sound) {
        return kDamaged;
    }
    return row.rest.empty() ? "a row" : columns_text(row.rest);
}

class Comparison {
public:
    Comparison(std::string_view table, TextForm form, const DifferenceVisitor& visit)
        : name_(table), table_(table_named(table)), form_(std::move(form)), visit_(visit) {}

    bool run(LedgerRows& stored, LedgerRows& right) {
        stored.enter(name_);
        right.enter(name_);
        bool in_stored = stored.next();
        bool in_right = right.next();
        while (more_ && (in_stored || in_right)) {
            const bool stored_first = in_stored && (!in_right || stored.key() < right.key());
            const bool right_first = in_right && (!in_stored || right.key() < stored.key());
            if (stored_first) {
                add_alone(stored_alone_, stored);
            } else if (right_first) {
                add_alone(right_alone_, right);
            } else if (stored.value() != right.value()) {
                compare(text_of_row(stored), text_of_row(right));
            }
            in_stored = right_first ? in_stored : stored.next();
            in_right = stored_first ? in_right : right.next();
        }
        report_alone();
        return more_;
    }

private:
    [[nodiscard]] RowText text_of_row(const LedgerRows& row) const {
        return row_text(table_, row.key(), row.value(), form_);
    }
    void report(const RowText& row, std::string column, std::optional<std::string> stored,
                std::optional<std::string> right) {
        more_ = more_ && visit_({name_, columns_text(row.key), std::move(column), std::move(stored),
                                 std::move(right)});
    }
    void compare(const RowText& stored, const RowText& right) {
        if (!stored.is_sound || !right.is_sound) {
            report(right.is_sound ? right : stored, {}, summary_of(stored), summary_of(right));
            return;
        }
        for (std::size_t i = 0; i < right.rest.size(); ++i) {
            if (stored.rest[i] != right.rest[i]) {
                report(right, right.rest[i].name, stored.rest[i].text, right.rest[i].text);
            }
        }
    }
    void add_alone(std::vector<RowText>& alone, const LedgerRows& row) {
        alone.push_back(text_of_row(row));
        if (alone.size() == kAloneMax) {
            report_alone();
        }
    }
    /// A row whose key was edited is in both ledgers, under keys that differ in one column.
    void report_alone() {
        for (const RowText& stored : stored_alone_) {
            const auto moved = std::ranges::find_if(right_alone_, [&](const RowText& right) {
                return moved_column(stored, right) != nullptr;
            });
            if (moved == right_alone_.end()) {
                report(stored, {}, summary_of(stored), std::nullopt);
                continue;
            }
            const ColumnText& column = *moved_column(stored, *moved);
            const std::size_t at = static_cast<std::size_t>(&column - moved->key.data());
            report(*moved, column.name, stored.key[at].text, column.text);
            right_alone_.erase(moved);
        }
        for (const RowText& right : right_alone_) {
            report(right, {}, std::nullopt, summary_of(right));
        }
        stored_alone_.clear();
        right_alone_.clear();
    }
    /// Returns the one column of the right key that differs, or nullptr.
    static const ColumnText* moved_column(const RowText& stored, const RowText& right) {
        if (stored.rest != right.rest || stored.key.size() != right.key.size()) {
            return nullptr;
        }
        const ColumnText* moved = nullptr;
        for (std::size_t i = 0; i < right.key.size(); ++i) {
            if (stored.key[i] == right.key[i]) {
                continue;
            }
            if (moved != nullptr) {
                return nullptr;
            }
            moved = &right.key[i];
        }
        return moved;
    }

    std::string name_;
    Table table_;
    TextForm form_;
    const DifferenceVisitor& visit_;
    bool more_ = true;
    std::vector<RowText> stored_alone_, right_alone_;
};

}  // namespace

std::vector<TableDigest> table_digests(LedgerRows& rows) {
    std::vector<TableDigest> digests;
    for (const Table table : tables_by_name()) {
        rows.enter(name_of(table));
        TableHash hash;
        std::uint64_t count = 0;
        for (; rows.next(); ++count) {
            hash.add(rows.key());
            hash.add(rows.value());
        }
        digests.push_back({name_of(table), count, hash.take()});
    }
    return digests;
}

bool visit_differences(std::string_view table, LedgerRows& stored, LedgerRows& right,
                       const std::function<std::string(const std::string&)>& form,
                       const DifferenceVisitor& visit) {
    return Comparison(table, form, visit).run(stored, right);
}

}  // namespace sluice::store

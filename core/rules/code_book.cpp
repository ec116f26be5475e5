#include "core/rules/code_book.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

bool overlaps(const CodeRow& a, const CodeRow& b) noexcept {
    return !owns_nothing(a) && !owns_nothing(b) &&
           (!b.valid_until || a.valid_from < *b.valid_until) &&
           (!a.valid_until || b.valid_from < *a.valid_until);
}

bool contains(const std::vector<CodeRow>& rows, const CodeRow& row) {
    return std::ranges::any_of(
        rows, [&row](const CodeRow& other) { return other.valid_from == row.valid_from; });
}

bool has_dates(const CodeClaim& claim) noexcept {
    return claim.valid_from || claim.valid_until;
}

}  // namespace

CodeBook::CodeBook(AccountNumber account, ProgramId program, Digest256 digest,
                   std::vector<CodeRow> rows)
    : account_(account),
      program_(std::move(program)),
      digest_(digest),
      rows_(std::move(rows)),
      before_(rows_) {}

Timestamp CodeBook::default_start(const CodeClaim& claim) const {
    Timestamp start = claim.effective_from;
    for (const CodeRow& row : rows_) {
        if (row.valid_until && *row.valid_until <= claim.received_at) {
            start = std::max(start, *row.valid_until);
        }
    }
    return start;
}

CodeRow CodeBook::changed_row(const CodeClaim& claim, const std::vector<CodeRow>& changed) const {
    CodeRow row{account_, program_, digest_, {}, claim.code, claim.creator, claim.valid_until};
    if (claim.valid_from) {
        row.valid_from = *claim.valid_from;
    } else if (changed.empty()) {
        row.valid_from = default_start(claim);
    } else {
        row.valid_from = changed.front().valid_from;
    }
    if (!claim.valid_until && !changed.empty()) {
        const bool endless =
            std::ranges::any_of(changed, [](const CodeRow& old) { return !old.valid_until; });
        row.valid_until = endless ? std::nullopt : changed.back().valid_until;
    }
    return row;
}

Result<bool> CodeBook::replace(const std::vector<CodeRow>& changed, CodeRow row,
                               const CodeClaim& claim) {
    if (row.valid_until && *row.valid_until <= row.valid_from) {
        return invalid("valid_until " + row.valid_until->to_string() + " is not after valid_from " +
                       row.valid_from.to_string());
    }
    std::vector<CodeRow> kept;
    for (const CodeRow& other : rows_) {
        if (contains(changed, other)) {
            continue;
        }
        if (owns_nothing(other) && other.valid_from == row.valid_from) {
            continue;  // both have one key
        }
        if (overlaps(other, row)) {
            return conflict("code " + claim.code + " belongs to creator " + other.creator.str() +
                            " in program " + program_.str());
        }
        kept.push_back(other);
    }
    const bool changes = changed.size() != 1 || changed.front().valid_from != row.valid_from ||
                         changed.front().valid_until != row.valid_until;
    kept.push_back(std::move(row));
    std::ranges::sort(kept, {}, &CodeRow::valid_from);
    rows_ = std::move(kept);
    return changes;
}

std::vector<CodeRow> CodeBook::rows_of(const CreatorId& creator) const {
    std::vector<CodeRow> own;
    std::ranges::copy_if(rows_, std::back_inserter(own),
                         [&creator](const CodeRow& row) { return row.creator == creator; });
    return own;
}

bool CodeBook::leaves_ended(const CodeClaim& claim) const {
    const std::vector<CodeRow> own = rows_of(claim.creator);
    return !has_dates(claim) && !own.empty() &&
           std::ranges::all_of(own, [&claim](const CodeRow& row) {
               return owns_nothing(row) ||
                      (row.valid_until && *row.valid_until <= claim.received_at);
           });
}

Result<bool> CodeBook::claim(const CodeClaim& claim) {
    std::vector<CodeRow> own = rows_of(claim.creator);
    if (!has_dates(claim)) {
        return own.empty() ? replace({}, changed_row(claim, {}), claim) : Result<bool>(false);
    }
    CodeRow asked{.valid_from = claim.valid_from.value_or(Timestamp{INT64_MIN, 0}),
                  .valid_until = claim.valid_until};
    std::erase_if(own, [&asked](const CodeRow& row) { return !overlaps(row, asked); });
    return replace(own, changed_row(claim, own), claim);
}

bool CodeBook::end(const CreatorId& creator, Timestamp at) {
    bool ends = false;
    for (CodeRow& row : rows_) {
        if (row.creator == creator && !owns_nothing(row) &&
            (!row.valid_until || *row.valid_until > at)) {
            row.valid_until = std::max(at, row.valid_from);
            ends = true;
        }
    }
    return ends;
}

std::vector<CodeRow> CodeBook::gone() const {
    std::vector<CodeRow> rows;
    for (const CodeRow& row : before_) {
        if (!contains(rows_, row)) {
            rows.push_back(row);
        }
    }
    return rows;
}

}  // namespace sluice

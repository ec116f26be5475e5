// Journal: the books between which a transfer goes, and the chain of hashes that shows whether an
// entry was ever altered (books J1 to J3).
//
// Hash of an entry = SHA-256(hash of the account's entry before it on this node, canonical bytes of
// the entry). docs/record-format.md lists the canonical bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/head.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/rows.hpp"

namespace sluice {

/// The reason implies both books; kNone and kNone: a mark.
struct BooksOf {
    Book from = Book::kNone, to = Book::kNone;
};
[[nodiscard]] BooksOf books_of(JournalReason reason) noexcept;
/// expense, owed, payout:ID, paid; empty for kNone.
[[nodiscard]] std::string book_name(Book book, std::string_view payout_id);
/// What the entry adds to a book: amount, minus amount or 0.
[[nodiscard]] Decimal into(const JournalEntry& entry, Book book) noexcept;

[[nodiscard]] std::string_view to_string(JournalReason reason) noexcept;  // ACCRUAL, ...
[[nodiscard]] std::string_view to_string(AnomalyKind kind) noexcept;      // VERSION_IN_FUTURE, ...
[[nodiscard]] std::optional<AnomalyKind> parse_anomaly_kind(std::string_view text) noexcept;

/// What is hashed for `group.entries[index]`, without the hash before it.
[[nodiscard]] std::string canonical_bytes(const JournalGroup& group, std::size_t index);

/// Gives the group its hash and moves the chain on by all of its entries.
void seal(JournalGroup& group, ChainHead& chain);

/// Moves `chain` on as seal() did. False: the group is not what was sealed after that chain.
[[nodiscard]] bool verify_seal(const JournalGroup& group, ChainHead& chain);

}  // namespace sluice

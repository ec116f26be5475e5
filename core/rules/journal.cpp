#include "core/rules/journal.hpp"

#include <array>
#include <utility>

namespace sluice {
namespace {

struct ReasonRow {
    JournalReason reason;
    std::string_view name;
    BooksOf books;
};
constexpr BooksOf kEarned{Book::kExpense, Book::kOwed};
constexpr BooksOf kTaken{Book::kOwed, Book::kPayout};
constexpr BooksOf kGivenBack{Book::kPayout, Book::kOwed};
constexpr std::array<ReasonRow, 29> kReasons{{
    {JournalReason::kAccrual, "ACCRUAL", kEarned},
    {JournalReason::kAttribution, "ATTRIBUTION", kEarned},
    {JournalReason::kCancellation, "CANCELLATION", kEarned},
    {JournalReason::kRefund, "REFUND", kEarned},
    {JournalReason::kUpdate, "UPDATE", kEarned},
    {JournalReason::kManual, "MANUAL", kEarned},
    {JournalReason::kDetach, "DETACH", kEarned},
    {JournalReason::kReject, "REJECT", kEarned},
    {JournalReason::kRelease, "RELEASE", kEarned},
    {JournalReason::kCredit, "CREDIT", kEarned},
    {JournalReason::kReversal, "REVERSAL", kEarned},
    {JournalReason::kPayout, "PAYOUT", kTaken},
    {JournalReason::kSettle, "SETTLE", {Book::kPayout, Book::kPaid}},
    {JournalReason::kVoid, "VOID", kGivenBack},
    {JournalReason::kFailed, "FAILED", kGivenBack},
    {JournalReason::kReturned, "RETURNED", {Book::kPaid, Book::kOwed}},
    {JournalReason::kMarkAttributed, "ATTRIBUTED", {}},
    {JournalReason::kMarkDetached, "DETACHED", {}},
    {JournalReason::kMarkRejected, "REJECTED", {}},
    {JournalReason::kMarkHeld, "HELD", {}},
    {JournalReason::kMarkReleased, "RELEASED", {}},
    {JournalReason::kMarkAcknowledged, "ACKNOWLEDGED", {}},
    {JournalReason::kMarkClosed, "CLOSED", {}},
    {JournalReason::kMarkApproved, "APPROVED", {}},
    {JournalReason::kMarkSent, "SENT", {}},
    {JournalReason::kMarkReset, "RESET", {}},
    {JournalReason::kMarkPeriodClosed, "PERIOD_CLOSED", {}},
    {JournalReason::kMarkPolicyChanged, "POLICY_CHANGED", {}},
    {JournalReason::kMarkRenamed, "RENAMED", {}},
}};
constexpr std::array<std::pair<AnomalyKind, std::string_view>, 15> kKinds{{
    {AnomalyKind::kVersionInFuture, "VERSION_IN_FUTURE"},
    {AnomalyKind::kCancelWithoutCancelledAt, "CANCEL_WITHOUT_CANCELLED_AT"},
    {AnomalyKind::kCancelNotLater, "CANCEL_NOT_LATER"},
    {AnomalyKind::kCancellationWithdrawn, "CANCELLATION_WITHDRAWN"},
    {AnomalyKind::kDuplicateRefundId, "DUPLICATE_REFUND_ID"},
    {AnomalyKind::kRefundIdReused, "REFUND_ID_REUSED"},
    {AnomalyKind::kRefundExceedsLine, "REFUND_EXCEEDS_LINE"},
    {AnomalyKind::kLinesExceedAmount, "LINES_EXCEED_AMOUNT"},
    {AnomalyKind::kTaxExceedsAmount, "TAX_EXCEEDS_AMOUNT"},
    {AnomalyKind::kCommissionExceedsBase, "COMMISSION_EXCEEDS_BASE"},
    {AnomalyKind::kAmountAboveLimit, "AMOUNT_ABOVE_LIMIT"},
    {AnomalyKind::kOrderedInFuture, "ORDERED_IN_FUTURE"},
    {AnomalyKind::kOrderedLongAgo, "ORDERED_LONG_AGO"},
    {AnomalyKind::kCurrencyChanged, "CURRENCY_CHANGED"},
    {AnomalyKind::kCreditedOrder, "CREDITED_ORDER"},
}};

constexpr std::string_view kMagic = "SLJ2";

const ReasonRow* row_of(JournalReason reason) noexcept {
    for (const ReasonRow& row : kReasons) {
        if (row.reason == reason) {
            return &row;
        }
    }
    return nullptr;
}

/// Little endian, whatever the machine.
template <std::size_t Width, class Number>
void append_number(std::string& bytes, Number value) {
    std::array<char, Width> little{};
    for (char& byte : little) {
        byte = static_cast<char>(value & 0xff);
        value = static_cast<Number>(value >> 8);
    }
    bytes.append(little.data(), little.size());
}

void append_text(std::string& bytes, std::string_view text) {
    append_number<4>(bytes, text.size());
    bytes.append(text);
}

void append_instant(std::string& bytes, Timestamp at) {
    append_number<8>(bytes, static_cast<std::uint64_t>(at.seconds));
    append_number<4>(bytes, at.nanos);
}

/// The canonical bytes of a group's entries. What they share is written once.
class Canonical {
public:
    explicit Canonical(const JournalGroup& group) : group_(group) {
        append_text(source_, group.node);
        append_number<8>(source_, group.event_seq.value);
        append_text(source_, group.command_id);
        append_number<4>(source_, group.account.value);
        append_number<4>(source_, group.shop.value);
        append_text(source_, group.order_id.view());
        append_text(earner_, group.program.view());
        append_text(earner_, group.creator.view());
        append_text(dates_, group.payout_id);
        append_instant(dates_, group.recorded_at);
        append_instant(dates_, group.accounting_date);
        append_text(words_, group.note);
        append_text(words_, group.actor);
    }

    void append(std::string& bytes, std::size_t index) const {
        const JournalEntry& entry = group_.entries[index];
        const BooksOf books = books_of(entry.reason);
        const bool mark = is_mark(entry.reason);
        bytes.append(kMagic);
        append_number<8>(bytes, group_.first_entry + index);
        bytes.append(source_);
        append_text(bytes, entry.line.view());
        bytes.append(earner_);
        append_text(bytes, mark ? std::string_view() : entry.currency.code());
        append_number<1>(bytes, static_cast<unsigned>(books.from));
        append_number<1>(bytes, static_cast<unsigned>(books.to));
        append_number<1>(bytes, mark ? 0U : entry.amount.scale());
        append_number<16>(bytes, mark ? 0 : static_cast<UInt128>(entry.amount.unscaled()));
        append_number<1>(bytes, static_cast<unsigned>(entry.reason));
        bytes.append(dates_);
        append_number<8>(bytes, entry.refers_to);
        bytes.append(words_);
    }

private:
    const JournalGroup& group_;
    std::string source_, earner_, dates_, words_;
};

}  // namespace

std::string_view to_string(JournalReason reason) noexcept {
    const ReasonRow* row = row_of(reason);
    return row != nullptr ? row->name : "UNKNOWN";
}

std::string_view to_string(AnomalyKind kind) noexcept {
    for (const auto& [value, name] : kKinds) {
        if (value == kind) {
            return name;
        }
    }
    return "UNKNOWN";
}

std::optional<AnomalyKind> parse_anomaly_kind(std::string_view text) noexcept {
    for (const auto& [value, name] : kKinds) {
        if (name == text) {
            return value;
        }
    }
    return std::nullopt;
}

BooksOf books_of(JournalReason reason) noexcept {
    static constexpr auto kBooks = [] {
        std::array<BooksOf, 256> books{};
        for (const ReasonRow& row : kReasons) {
            books[static_cast<std::uint8_t>(row.reason)] = row.books;
        }
        return books;
    }();
    return kBooks[static_cast<std::uint8_t>(reason)];
}

std::string book_name(Book book, std::string_view payout_id) {
    switch (book) {
        case Book::kExpense:
            return "expense";
        case Book::kOwed:
            return "owed";
        case Book::kPayout:
            return "payout:" + std::string(payout_id);
        case Book::kPaid:
            return "paid";
        case Book::kNone:
            break;
    }
    return {};
}

Decimal into(const JournalEntry& entry, Book book) noexcept {
    const BooksOf books = books_of(entry.reason);
    if (books.to == book) {
        return entry.amount;
    }
    const Decimal zero(0, entry.amount.scale());
    return books.from == book ? zero - entry.amount : zero;
}

std::string canonical_bytes(const JournalGroup& group, std::size_t index) {
    std::string bytes;
    Canonical(group).append(bytes, index);
    return bytes;
}

void seal(JournalGroup& group, ChainHead& chain) {
    const Canonical canonical(group);
    std::string bytes;
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
        bytes.assign(reinterpret_cast<const char*>(chain.hash.data()), chain.hash.size());
        canonical.append(bytes, i);
        chain.hash = sha256(bytes);
    }
    chain.entries += group.entries.size();
    group.hash = chain.hash;
}

bool verify_seal(const JournalGroup& group, ChainHead& chain) {
    JournalGroup copy = group;
    seal(copy, chain);
    return copy.hash == group.hash;
}

}  // namespace sluice

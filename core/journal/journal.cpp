#include "core/journal/journal.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/values/assert.hpp"
#include "core/values/money.hpp"

namespace sluice {
namespace {

struct ReasonRow {
    JournalReason reason;
    std::string_view name;
    DebitCredit accounts;
};
constexpr DebitCredit kEarned{LedgerAccount::kExpense, LedgerAccount::kOwed};
constexpr DebitCredit kAllocated{LedgerAccount::kOwed, LedgerAccount::kPayout};
constexpr DebitCredit kReleased{LedgerAccount::kPayout, LedgerAccount::kOwed};
constexpr std::array<ReasonRow, 39> kReasons{{
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
    {JournalReason::kPayout, "PAYOUT", kAllocated},
    {JournalReason::kSettle, "SETTLE", {LedgerAccount::kPayout, LedgerAccount::kPaid}},
    {JournalReason::kVoid, "VOID", kReleased},
    {JournalReason::kFailed, "FAILED", kReleased},
    {JournalReason::kReturned, "RETURNED", {LedgerAccount::kPaid, LedgerAccount::kOwed}},
    {JournalReason::kOpening, "OPENING", kEarned},
    {JournalReason::kWriteOff, "WRITE_OFF", kEarned},
    {JournalReason::kTier, "TIER", kEarned},
    {JournalReason::kMemoAttributed, "ATTRIBUTED", {}},
    {JournalReason::kMemoDetached, "DETACHED", {}},
    {JournalReason::kMemoRejected, "REJECTED", {}},
    {JournalReason::kMemoHeld, "HELD", {}},
    {JournalReason::kMemoReleased, "RELEASED", {}},
    {JournalReason::kMemoAcknowledged, "ACKNOWLEDGED", {}},
    {JournalReason::kMemoClosed, "CLOSED", {}},
    {JournalReason::kMemoApproved, "APPROVED", {}},
    {JournalReason::kMemoSent, "SENT", {}},
    {JournalReason::kMemoReset, "RESET", {}},
    {JournalReason::kMemoPeriodClosed, "PERIOD_CLOSED", {}},
    {JournalReason::kMemoPolicyChanged, "POLICY_CHANGED", {}},
    {JournalReason::kMemoRenamed, "RENAMED", {}},
    {JournalReason::kMemoPending, "PENDING", {}},
    {JournalReason::kMemoRepointed, "REPOINTED", {}},
    {JournalReason::kMemoPayeeChanged, "PAYEE_CHANGED", {}},
    {JournalReason::kMemoAnomaly, "ANOMALY", {}},
    {JournalReason::kMemoWithdrawn, "WITHDRAWN", {}},
    {JournalReason::kMemoGapAccepted, "GAP_ACCEPTED", {}},
    {JournalReason::kMemoDiscarded, "DISCARDED", {}},
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

/// Writes fields one after the other. Requires: the buffer has room.
class Bytes {
public:
    explicit Bytes(char* at) : at_(at) {}

    /// Little endian on every machine.
    template <std::size_t Width, class Number>
    void number(Number value) {
        for (std::size_t i = 0; i < Width; ++i) {
            at_[i] = static_cast<char>(value & 0xff);
            value = static_cast<Number>(value >> 8);
        }
        at_ += Width;
    }
    void raw(std::string_view bytes) { at_ = std::copy_n(bytes.data(), bytes.size(), at_); }
    void text(std::string_view text) {
        number<4>(static_cast<std::uint32_t>(text.size()));
        raw(text);
    }
    void instant(Timestamp at) {
        number<8>(static_cast<std::uint64_t>(at.seconds));
        number<4>(at.nanos);
    }
    [[nodiscard]] char* at() const noexcept { return at_; }

private:
    char* at_;
};

/// The canonical bytes of a group's entries, one at a time, after the hash of the previous entry.
/// The fields that all entries share are written once.
class Canonical {
public:
    explicit Canonical(const JournalGroup& group) : group_(group), room_(room_for(group)) {
        if (room_ > few_.size()) {
            many_.resize(room_);
            buffer_ = many_.data();
        }
        Bytes front(buffer_ + sizeof(Digest256));
        front.raw(kMagic);
        number_ = front.at();
        front.number<8>(group.first_entry);
        front.text(group.node);
        front.number<8>(group.event_seq.value);
        front.text(group.command_id);
        front.number<4>(group.account.value);
        front.number<4>(group.shop.value);
        front.text(group.order_id.view());
        line_ = front.at();
    }

    /// Valid until the next call.
    [[nodiscard]] std::string_view hashed(const Digest256& before, std::size_t index) {
        std::copy_n(reinterpret_cast<const char*>(before.data()), before.size(), buffer_);
        return {buffer_, write(index)};
    }
    [[nodiscard]] std::string_view bytes(std::size_t index) {
        return std::string_view(buffer_, write(index)).substr(sizeof(Digest256));
    }

private:
    static constexpr std::size_t kFixedBytes = sizeof(Digest256) + 256;  ///< All but the texts.

    static std::size_t room_for(const JournalGroup& group) {
        std::size_t line = 0;
        for (const JournalEntry& entry : group.entries) {
            line = std::max(line, entry.line.view().size());
        }
        return kFixedBytes + group.node.size() + group.command_id.size() +
               group.order_id.view().size() + line + group.program.view().size() +
               group.creator.view().size() + group.payout_id.size() + group.note.size() +
               group.actor.size();
    }

    /// Returns the end of the entry.
    std::size_t write(std::size_t index) {
        const JournalEntry& entry = group_.entries[index];
        const DebitCredit accounts = debit_credit_of(entry.reason);
        const bool memo = is_memo(entry.reason);
        Bytes(number_).number<8>(group_.first_entry + index);
        Bytes rest(line_);
        rest.text(entry.line.view());
        rest.text(group_.program.view());
        rest.text(group_.creator.view());
        rest.text(memo ? std::string_view() : entry.currency.code());
        rest.number<1>(static_cast<unsigned>(accounts.debit));
        rest.number<1>(static_cast<unsigned>(accounts.credit));
        rest.number<1>(memo ? 0U : unsigned{entry.amount.scale()});
        rest.number<16>(memo ? UInt128{0} : static_cast<UInt128>(entry.amount.unscaled()));
        rest.number<1>(static_cast<unsigned>(entry.reason));
        rest.text(group_.payout_id);
        rest.instant(group_.recorded_at);
        rest.instant(group_.accounting_date);
        rest.number<8>(entry.refers_to);
        rest.text(group_.note);
        rest.text(group_.actor);
        const auto end = static_cast<std::size_t>(rest.at() - buffer_);
        SLUICE_ASSERT(end <= room_);
        return end;
    }

    const JournalGroup& group_;
    const std::size_t room_;
    std::array<char, 1024> few_;  ///< Written before it is read, like `many_`.
    std::string many_;            ///< If an entry may need more.
    char* buffer_ = few_.data();
    char* number_ = nullptr;
    char* line_ = nullptr;
};

}  // namespace

std::string_view to_string(JournalReason reason) noexcept {
    const ReasonRow* row = row_of(reason);
    return row != nullptr ? row->name : "UNKNOWN";
}

DebitCredit debit_credit_of(JournalReason reason) noexcept {
    static constexpr auto kAccounts = [] {
        std::array<DebitCredit, 256> accounts{};
        for (const ReasonRow& row : kReasons) {
            accounts[static_cast<std::uint8_t>(row.reason)] = row.accounts;
        }
        return accounts;
    }();
    return kAccounts[static_cast<std::uint8_t>(reason)];
}

std::string ledger_account_name(LedgerAccount account, std::string_view payout_id) {
    switch (account) {
        case LedgerAccount::kExpense:
            return "expense";
        case LedgerAccount::kOwed:
            return "owed";
        case LedgerAccount::kPayout:
            return "payout:" + std::string(payout_id);
        case LedgerAccount::kPaid:
            return "paid";
        case LedgerAccount::kNone:
            break;
    }
    return {};
}

Decimal change_in(const JournalEntry& entry, LedgerAccount account) noexcept {
    const DebitCredit accounts = debit_credit_of(entry.reason);
    if (accounts.credit == account) {
        return entry.amount;
    }
    return accounts.debit == account ? -entry.amount : Decimal(0, entry.amount.scale());
}

namespace {

Turnover& turnover_of(DailySum& sum, LedgerAccount account) noexcept {
    switch (account) {
        case LedgerAccount::kOwed:
            return sum.owed;
        case LedgerAccount::kPayout:
            return sum.in_payout;
        case LedgerAccount::kPaid:
            return sum.paid;
        case LedgerAccount::kExpense:
        case LedgerAccount::kNone:
            break;
    }
    return sum.expense;
}

}  // namespace

void add_posting(DailySum& sum, const JournalGroup& group, const JournalEntry& entry) noexcept {
    SLUICE_ASSERT(!is_memo(entry.reason));
    sum += statement_amounts(entry);
    DebitCredit accounts = debit_credit_of(entry.reason);
    const bool reversed = entry.amount.is_negative();
    if (reversed) {
        std::swap(accounts.debit, accounts.credit);
    }
    const Decimal amount = reversed ? -entry.amount : entry.amount;
    turnover_of(sum, accounts.debit).debit += amount;
    turnover_of(sum, accounts.credit).credit += amount;
    ++sum.postings;
    sum.late_postings += group.recorded_at < group.accounting_date ? 1U : 0U;
}

AccountSums change_by(const JournalEntry& entry) noexcept {
    return {change_in(entry, LedgerAccount::kOwed), change_in(entry, LedgerAccount::kPayout),
            change_in(entry, LedgerAccount::kPaid)};
}

StatementAmounts statement_amounts(const JournalEntry& entry) noexcept {
    const Decimal owed = change_in(entry, LedgerAccount::kOwed);
    const Decimal zero(0, owed.scale());  // all of one scale, because such sums are fast
    StatementAmounts amounts{zero, zero, zero, change_in(entry, LedgerAccount::kPaid)};
    switch (entry.reason) {
        case JournalReason::kAccrual:
        case JournalReason::kAttribution:
            amounts.earned = owed;
            break;
        case JournalReason::kPayout:
        case JournalReason::kVoid:
        case JournalReason::kFailed:
        case JournalReason::kReturned:
            amounts.paid_out = -owed;
            break;
        default:
            amounts.adjusted = owed;
            break;
    }
    return amounts;
}

AccountSums zero_books(Currency currency) noexcept {
    const Decimal zero = zero_amount(currency);
    return {zero, zero, zero};
}

std::string canonical_bytes(const JournalGroup& group, std::size_t index) {
    return std::string(Canonical(group).bytes(index));
}

void seal(JournalGroup& group, ChainHead& chain) {
    Canonical canonical(group);
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
        chain.hash = sha256(canonical.hashed(chain.hash, i));
    }
    chain.entries += group.entries.size();
    chain.last_group = group.first_entry;
    group.hash = chain.hash;
    group.last_change = chain.entries;
}

bool verify_seal(const JournalGroup& group, ChainHead& chain) {
    JournalGroup copy = group;
    seal(copy, chain);
    return copy.hash == group.hash && copy.last_change == group.last_change;
}

}  // namespace sluice

#include "core/lists/overview.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "core/ledger/paged_reads.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

/// Visits sums. The parts that the nodes have of one follow one another.
template <class Row, class IsSame>
void scan_sums(LedgerReader& ledger, const Row& first, KeyRange range, IsSame is_same,
               const Visitor<std::type_identity_t<Row>>& visit) {
    std::optional<Row> sum;
    bool more = true;
    ledger.scan(first, range, [&](const Row& part) {
        if (sum && is_same(*sum, part)) {
            add_columns(*sum, part);
            return true;
        }
        more = !sum || visit(*sum);
        sum = part;
        sum->node = 0;
        return more;
    });
    if (more && sum) {
        static_cast<void>(visit(*sum));
    }
}

/// Rows of all kinds have this order; those of one kind have it in their table.
bool is_newer(const Attention& a, const Attention& b) {
    return std::tie(b.since, b.kind, b.shop, b.order_id) <
           std::tie(a.since, a.kind, a.shop, a.order_id);
}

Timestamp just_after(Timestamp at) {
    constexpr std::uint32_t kLast = 999'999'999;
    return at.nanos == kLast ? Timestamp{at.seconds + 1, 0} : Timestamp{at.seconds, at.nanos + 1};
}

/// Returns where the rows of `kind` begin that come after `before` in the list.
std::pair<Attention, KeyRange> attention_range(AttentionKind kind, const Attention& before) {
    if (kind == before.kind) {
        return {before, {2, 5}};
    }
    // At the same instant, lower kinds come after `before`, and higher ones came before it.
    const Timestamp since = kind < before.kind ? just_after(before.since) : before.since;
    return {Attention{before.account, kind, since}, {2, 3}};
}

}  // namespace

std::uint64_t whole_number(const Decimal& number) noexcept {
    return static_cast<std::uint64_t>(std::max<Int128>(number.unscaled(), 0));
}

OrdersOfDay orders_of_day(LedgerReader& ledger, AccountNumber account, std::uint32_t day) {
    OrderDay sum{.account = account, .day = day};
    ledger.scan(OrderDay(sum), {2, 2}, [&sum](const OrderDay& part) { add_columns(sum, part); });
    return {whole_number(sum.orders), whole_number(sum.attributed)};
}

ClickFigures clicks_of_day(LedgerReader& ledger, AccountNumber account, std::uint32_t day) {
    ClickDay sum;
    sum.account = account;
    sum.day = day;
    ledger.scan(ClickDay(sum), {2, 2}, [&sum](const ClickDay& part) { sum += part; });
    return sum;
}

std::map<ShopNumber, DeviceCount> device_counts(LedgerReader& ledger, AccountNumber account,
                                                std::uint32_t first, std::uint32_t last) {
    std::map<ShopNumber, DeviceCount> counts;
    ledger.scan(ShopDay{.account = account}, {1, 1}, [&](const ShopDay& row) {
        if (first <= row.day && row.day <= last) {
            DeviceCount& count = counts[row.shop];
            count.orders += row.orders;
            count.with_device += row.with_device;
        }
    });
    return counts;
}

namespace {

/// Devices that clicked on a day, by program.
struct DevicesOfAccount {
    std::vector<ProgramRow> programs;
    std::map<ProgramId, Decimal> devices;

    DevicesOfAccount(LedgerReader& ledger, AccountNumber account, std::uint32_t day)
        : programs(ledger.programs(account)) {
        ClickDay first;
        first.account = account;
        first.day = day;
        ledger.scan(first, {2, 2},
                    [this](const ClickDay& row) { devices[row.program] += row.devices; });
    }

    [[nodiscard]] std::uint64_t of_shop(const ShopId& shop) const {
        Decimal sum;
        for (const ProgramRow& row : programs) {
            const auto found = devices.find(row.program.id);
            if (found != devices.end() && row.program.covers(shop.view())) {
                sum += found->second;
            }
        }
        return whole_number(sum);
    }
};

}  // namespace

std::vector<ShopWithoutDevices> shops_without_devices(LedgerReader& ledger,
                                                      const std::optional<AccountNumber>& account,
                                                      std::uint32_t day) {
    std::map<std::pair<AccountNumber, ShopNumber>, DeviceCount> counts;
    const ShopDay first{.account = account.value_or(AccountNumber())};
    const unsigned same = account ? 1 : 0;
    ledger.scan(first, {same, same}, [&](const ShopDay& row) {
        if (row.day == day) {
            DeviceCount& count = counts[{row.account, row.shop}];
            count.orders += row.orders;
            count.with_device += row.with_device;
        }
    });
    std::map<AccountNumber, DevicesOfAccount> accounts;
    std::vector<ShopWithoutDevices> shops;
    for (const auto& [key, count] : counts) {
        if (count.orders == 0 || count.with_device != 0) {
            continue;
        }
        const DevicesOfAccount& clicked =
            accounts.try_emplace(key.first, ledger, key.first, day).first->second;
        if (const std::uint64_t devices = clicked.of_shop(ledger.shop_id(key.second))) {
            shops.push_back({key.first, key.second, devices});
        }
    }
    return shops;
}

void scan_click_days(LedgerReader& ledger, const Visitor<ClickDay>& visit) {
    const auto is_same = [](const ClickDay& a, const ClickDay& b) {
        return a.account == b.account && a.day == b.day && a.program == b.program &&
               a.creator == b.creator && a.link == b.link;
    };
    scan_sums(ledger, ClickDay(), {0, 0}, is_same, visit);
}

void scan_link_days(LedgerReader& ledger, const Visitor<LinkDay>& visit) {
    const auto is_same = [](const LinkDay& a, const LinkDay& b) {
        return a.account == b.account && a.day == b.day && a.program == b.program &&
               a.creator == b.creator && a.link == b.link && a.currency == b.currency;
    };
    scan_sums(ledger, LinkDay(), {0, 0}, is_same, visit);
}

void scan_days(LedgerReader& ledger, AccountNumber account, std::uint32_t first, std::uint32_t last,
               const Visitor<DailySum>& visit) {
    const auto is_same = [](const DailySum& a, const DailySum& b) {
        return a.day == b.day && a.program == b.program && a.currency == b.currency;
    };
    DailySum from;
    from.account = account;
    from.day = first;
    scan_sums(ledger, from, {1, 2}, is_same,
              [&](const DailySum& sum) { return sum.day <= last && visit(sum); });
}

void scan_month(LedgerReader& ledger, AccountNumber account, std::uint32_t month,
                const CreatorId& creator, const Visitor<MonthlySum>& visit, KeyRange range) {
    const auto is_same = [](const MonthlySum& a, const MonthlySum& b) {
        return a.creator == b.creator && a.program == b.program && a.currency == b.currency;
    };
    MonthlySum first;
    first.account = account;
    first.month = month;
    first.creator = creator;
    scan_sums(ledger, first, range, is_same, visit);
}

Earned earned_by_month(LedgerReader& ledger, AccountNumber account, std::uint32_t month) {
    Earned earned;
    const auto add = [&](std::uint32_t of, Decimal EarnedByMonth::*column) {
        const auto visit = [&](const MonthlySum& sum) {
            const Decimal zero = zero_amount(sum.currency);
            EarnedAmounts& of_creator = earned[{sum.program, sum.creator}];
            value_at(of_creator, sum.currency, EarnedByMonth{zero, zero}).*column += sum.earned;
        };
        scan_month(ledger, account, of, {}, visit, {2, 2});
    };
    add(month, &EarnedByMonth::this_month);
    add(month_before(month), &EarnedByMonth::last_month);
    return earned;
}

std::map<AttentionKind, std::uint64_t> attention_counts(LedgerReader& ledger,
                                                        AccountNumber account) {
    std::map<AttentionKind, std::uint64_t> counts;
    const AttentionCount first{.account = account};
    // Between the parts of two nodes a count may be below 0, which wraps around and back.
    ledger.scan(first, {1, 1}, [&counts](const AttentionCount& part) {
        counts[part.kind] += part.begun - part.ended;
    });
    std::erase_if(counts, [](const auto& count) { return count.second == 0; });
    return counts;
}

std::vector<Attention> attention_before(LedgerReader& ledger, AccountNumber account,
                                        std::uint32_t kinds, const std::optional<Attention>& before,
                                        std::size_t max) {
    std::vector<Attention> found;
    for (std::size_t number = 0; number < kAnomalyKinds; ++number) {
        if ((kinds >> number & 1U) == 0) {
            continue;
        }
        const auto kind = static_cast<AttentionKind>(number);
        Attention first{account, kind};
        KeyRange range{2, 2};
        if (before) {
            std::tie(first, range) = attention_range(kind, *before);
        }
        const std::size_t end = found.size() + max;
        paged(ledger).scan_back(first, range, [&](const Attention& row) {
            found.push_back(row);
            return found.size() < end;
        });
    }
    std::ranges::sort(found, is_newer);
    found.resize(std::min(found.size(), max));
    return found;
}

}  // namespace sluice::lists

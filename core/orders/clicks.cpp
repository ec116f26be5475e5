#include "core/orders/clicks.hpp"

#include <algorithm>
#include <tuple>

#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

Click* find_same(std::vector<Click>& clicks, const Click& click) {
    return find_where(clicks, [&click](const Click& other) {
        return other.occurred_at == click.occurred_at && other.creator == click.creator;
    });
}

/// A row of ClickDay or ClickMonth.
template <class Row>
void add_to(LedgerTxn& txn, AccountNumber account, std::uint32_t Row::*span, std::uint32_t when,
            const Landed& through, const ClickFigures& figures) {
    Row row;
    static_cast<ClickFigures&>(row) = figures;
    row.account = account;
    row.*span = when;
    row.program = through.program;
    row.creator = through.creator;
    row.link = through.link;
    row.node = txn.head().number;
    txn.add_row(row);
}

Landed through(const Click& click) {
    return {click.program, click.creator, click.link};
}

void add_click(LedgerTxn& txn, const Click& click, int clicks, bool is_new_of_day,
               bool is_new_of_month) {
    const auto figures = [clicks](bool is_new) {
        return ClickFigures{Decimal(clicks, 0), Decimal(is_new ? 1 : 0, 0), Decimal()};
    };
    if (clicks != 0 || is_new_of_day) {
        add_to(txn, click.account, &ClickDay::day, day_of(click.occurred_at), through(click),
               figures(is_new_of_day));
    }
    if (clicks != 0 || is_new_of_month) {
        add_to(txn, click.account, &ClickMonth::month, month_of(click.occurred_at), through(click),
               figures(is_new_of_month));
    }
}

bool repeats(const Click* first, const Click& second) {
    return first != nullptr &&
           second.occurred_at <= first->occurred_at.plus_seconds(kClickRepeatSeconds);
}

/// Counts a new click, and takes back the count of the next one if that repeats it. So the order in
/// which clicks arrive does not matter.
/// @param others  The stored clicks of its device and program, in any order.
void count_click(const Click& click, const std::vector<Click>& others, LedgerTxn& txn) {
    bool is_new_of_day = true, is_new_of_month = true;
    const Click* before = nullptr;
    const Click* after = nullptr;
    for (const Click& other : others) {
        if (other.creator != click.creator || other.link != click.link) {
            continue;
        }
        is_new_of_day = is_new_of_day && day_of(other.occurred_at) != day_of(click.occurred_at);
        is_new_of_month =
            is_new_of_month && month_of(other.occurred_at) != month_of(click.occurred_at);
        const bool is_before = other.occurred_at < click.occurred_at;
        if (is_before && (before == nullptr || before->occurred_at < other.occurred_at)) {
            before = &other;
        } else if (!is_before && (after == nullptr || other.occurred_at < after->occurred_at)) {
            after = &other;
        }
    }
    add_click(txn, click, repeats(before, click) ? 0 : 1, is_new_of_day, is_new_of_month);
    if (after != nullptr && repeats(&click, *after) && !repeats(before, *after)) {
        add_click(txn, *after, -1, false, false);
    }
}

/// @param clicks  All of a device and program.
/// @return the number of clicks that were deleted.
std::size_t keep_newest(std::vector<Click> clicks, LedgerTxn& txn) {
    std::erase_if(clicks, [](const Click& click) { return click.source == ClickSource::kImport; });
    if (clicks.size() <= kClicksOfDeviceMax) {
        return 0;
    }
    std::ranges::sort(clicks, [](const Click& a, const Click& b) {
        return std::tie(a.occurred_at, a.creator) < std::tie(b.occurred_at, b.creator);
    });
    clicks.resize(clicks.size() - kClicksOfDeviceMax);
    for (const Click& old : clicks) {
        txn.erase_click(old);
    }
    return clicks.size();
}

}  // namespace

std::vector<Click> clicks_beside(const Click& click, LedgerTxn& txn) {
    std::vector<Click> clicks;
    txn.visit_clicks(click.account, click.anon, click.program, kEndOfTime,
                     [&clicks](const Click& other) { clicks.push_back(other); });
    return clicks;
}

StoredClick store_click(const Click& click, LedgerTxn& txn) {
    std::vector<Click> clicks = clicks_beside(click, txn);
    if (find_same(clicks, click) != nullptr) {
        return {false, 0};
    }
    txn.put_click(click);
    count_click(click, clicks, txn);
    clicks.push_back(click);
    return {true, keep_newest(std::move(clicks), txn)};
}

void import_click(const Click& click, std::vector<Click>& clicks, LedgerTxn& txn) {
    if (Click* const stored = find_same(clicks, click)) {
        stored->effective_from = std::min(stored->effective_from, click.effective_from);
        stored->imported = click.imported;
        stored->imported_row = click.imported_row;
        txn.put(*stored);
        return;
    }
    txn.put_click(click);
    count_click(click, clicks, txn);
    clicks.push_back(click);
}

std::size_t delete_clicks(AccountNumber account, Timestamp before, std::size_t max,
                          LedgerTxn& txn) {
    std::vector<Click> old;
    txn.scan(ClickByReceipt{.account = account}, {1, 1}, [&](const ClickByReceipt& row) {
        if (row.received_at >= before || old.size() == max) {
            return false;
        }
        Click& click = old.emplace_back();
        click.account = row.account;
        click.anon = row.anon;
        click.program = row.program;
        click.occurred_at = row.occurred_at;
        click.creator = row.creator;
        click.source = ClickSource::kPost;
        click.received_at = row.received_at;
        return true;
    });
    for (const Click& click : old) {
        txn.erase_click(click);
    }
    return old.size();
}

void count_landed(LedgerTxn& txn, AccountNumber account, Timestamp sold_at, const Landed& landed,
                  int sign) {
    const ClickFigures figures{Decimal(), Decimal(), Decimal(sign, 0)};
    add_to(txn, account, &ClickDay::day, day_of(sold_at), landed, figures);
    add_to(txn, account, &ClickMonth::month, month_of(sold_at), landed, figures);
}

}  // namespace sluice

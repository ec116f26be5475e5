#include "core/lists/clicks.hpp"

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "core/lists/names.hpp"
#include "core/lists/overview.hpp"

namespace sluice::lists {
namespace {

constexpr std::uint32_t kLastDay = 99'991'231;

/// Columns that are not grouped by are empty.
struct GroupKey {
    std::uint32_t when = 0;  ///< Day or month.
    ProgramId program;
    CreatorId creator;
    LinkId link;
    friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

struct Amounts {
    Decimal earned, adjusted;
};

struct Group {
    ClickFigures figures;
    std::map<Currency, Amounts> amounts;

    void operator+=(const ClickFigures& counted) { figures += counted; }
    void operator+=(const LinkDay& day) {
        Amounts& sums = amounts[day.currency];
        sums.earned += day.earned;
        sums.adjusted += day.adjusted;
    }
};

bool is_month(const std::optional<Timestamp>& at) {
    return !at || day_of(*at) % 100 == 1;
}

/// Returns an interval of ISO 8601 in which `..` is an open end, or nothing for all of time.
std::string interval_text(const ClickListing& listing) {
    if (!listing.from && !listing.to) {
        return {};
    }
    const auto end = [](const std::optional<Timestamp>& at) {
        return at ? day_text(day_of(*at)) : std::string("..");
    };
    return end(listing.from) + "/" + end(listing.to);
}

/// Adds up the rows that a listing covers.
class Collector {
public:
    Collector(LedgerReader& ledger, const ClickListing& listing)
        : ledger_(ledger),
          listing_(listing),
          first_day_(listing.from ? day_of(*listing.from) : 0),
          last_day_(listing.to ? day_of(listing.to->plus_days(-1)) : kLastDay) {}

    std::map<GroupKey, Group> collect() {
        // Devices are no sum of days, so months are read where they fit.
        if (listing_.by != ClicksBy::kDay && is_month(listing_.from) && is_month(listing_.to)) {
            read(&ClickMonth::month, first_day_ / 100, last_day_ / 100);
        } else {
            read(&ClickDay::day, first_day_, last_day_);
        }
        if (listing_.has_amounts) {
            read(&LinkDay::day, first_day_, last_day_);
        }
        return std::move(groups_);
    }

private:
    template <class Row>
    [[nodiscard]] bool covers(const Row& row) const {
        return (!listing_.program || *listing_.program == row.program) &&
               (!listing_.creator || *listing_.creator == row.creator) &&
               (!listing_.link || *listing_.link == row.link);
    }

    template <class Row>
    [[nodiscard]] GroupKey key_of(const Row& row, std::uint32_t when) const {
        if (listing_.unmatched) {
            return {0, row.program, row.creator, {}};
        }
        switch (listing_.by) {
            case ClicksBy::kDay:
                return {when, {}, {}, {}};
            case ClicksBy::kMonth:
                return {std::is_same_v<Row, ClickMonth> ? when : when / 100, {}, {}, {}};
            case ClicksBy::kLink:
                return {0, {}, {}, row.link};
            case ClicksBy::kCreator:
                break;
        }
        return {0, {}, row.creator, {}};
    }

    template <class Row>
    void read(std::uint32_t Row::*when, std::uint32_t first, std::uint32_t last) {
        Row begin;
        begin.account = listing_.account;
        begin.*when = first;
        ledger_.scan(begin, {1, 2}, [&](const Row& row) {
            if (row.*when > last) {
                return false;
            }
            if (covers(row)) {
                groups_[key_of(row, row.*when)] += row;
            }
            return true;
        });
    }

    LedgerReader& ledger_;
    const ClickListing& listing_;
    std::uint32_t first_day_, last_day_;
    std::map<GroupKey, Group> groups_;
};

/// Adds a row for each currency, the first of them with the counts.
void add_rows(ClickOf row, const Group& group, RowOutput& out) {
    if (group.amounts.empty()) {
        out.add(click_list().row(row));
    }
    for (const auto& [currency, amounts] : group.amounts) {
        row.currency = &currency;
        row.earned = amounts.earned;
        row.adjusted = amounts.adjusted;
        out.add(click_list().row(row));
        row.figures = nullptr;
    }
}

/// Returns whether the account has the program, and the program the creator, even if removed.
bool is_matched(LedgerReader& ledger, AccountNumber account, const GroupKey& key,
                const std::set<ProgramId>& programs) {
    return programs.contains(key.program) &&
           ledger.membership(account, key.program, key.creator).has_value();
}

}  // namespace

std::optional<std::string> conversion_of(const ClickFigures& figures) {
    constexpr Int128 kOne = 10'000;
    const Int128 devices = figures.devices.unscaled();
    if (devices <= 0 || figures.orders.is_negative()) {
        return std::nullopt;
    }
    std::string text =
        format_scaled(divide_half_even(figures.orders.unscaled() * kOne, devices), 4);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

const List<ClickOf>& click_list() {
    using Of = const ClickOf&;
    static const List<ClickOf> list{
        {"period", kText, kEveryone, [](Of of) { return or_null(of.period); }},
        {"program_id", kText, kEveryone, [](Of of) { return or_null(of.program); }},
        {"creator_id", kText, kEveryone, [](Of of) { return or_null(of.creator); }},
        {"link_id", kText, kEveryone, [](Of of) { return or_null(of.link); }},
        {"clicks", kInteger, kEveryone,
         [](Of of) { return of.figures == nullptr ? Value() : whole(of.figures->clicks); }},
        {"devices", kInteger, kEveryone,
         [](Of of) { return of.figures == nullptr ? Value() : whole(of.figures->devices); }},
        {"orders", kInteger, kEveryone,
         [](Of of) { return of.figures == nullptr ? Value() : whole(of.figures->orders); }},
        {"conversion", kRate, kEveryone,
         [](Of of) -> Value {
             auto text = of.figures == nullptr ? std::nullopt : conversion_of(*of.figures);
             return text ? Value(*std::move(text)) : Value();  // which owns it
         }},
        {"currency", kText, kLedger,
         [](Of of) { return of.currency == nullptr ? Value() : Value(of.currency->code()); }},
        {"earned", kAmount, kLedger,
         [](Of of) { return of.currency == nullptr ? Value() : Value(of.earned); }},
        {"adjusted", kAmount, kLedger,
         [](Of of) { return of.currency == nullptr ? Value() : Value(of.adjusted); }}};
    return list;
}

const List<DayOf<ClickDay>>& click_day_list() {
    using Of = const DayOf<ClickDay>&;
    static const List<DayOf<ClickDay>> list{
        {"account_id", kText, kEveryone, [](Of of) { return or_null(of.account); }},
        {"day", kDate, kEveryone, [](Of of) -> Value { return day_text(of.day.day); }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.day.program; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.day.creator; }},
        {"link_id", kText, kEveryone, [](Of of) { return or_null(of.day.link); }},
        {"clicks", kInteger, kEveryone, [](Of of) -> Value { return whole_number(of.day.clicks); }},
        {"devices", kInteger, kEveryone,
         [](Of of) -> Value { return whole_number(of.day.devices); }},
        {"orders", kInteger, kEveryone,
         [](Of of) -> Value { return whole_number(of.day.orders); }}};
    return list;
}

const List<DayOf<LinkDay>>& link_day_list() {
    using Of = const DayOf<LinkDay>&;
    static const List<DayOf<LinkDay>> list{
        {"account_id", kText, kEveryone, [](Of of) { return or_null(of.account); }},
        {"day", kDate, kEveryone, [](Of of) -> Value { return day_text(of.day.day); }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.day.program; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.day.creator; }},
        {"link_id", kText, kEveryone, [](Of of) { return or_null(of.day.link); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.day.currency.code(); }},
        {"earned", kAmount, kLedger, [](Of of) -> Value { return of.day.earned; }},
        {"adjusted", kAmount, kLedger, [](Of of) -> Value { return of.day.adjusted; }}};
    return list;
}

void write_clicks(LedgerReader& ledger, const ClickListing& listing, RowOutput& out) {
    const CreatorNames names(ledger, listing.account);
    const bool spans_all =
        listing.unmatched || listing.by == ClicksBy::kLink || listing.by == ClicksBy::kCreator;
    std::set<ProgramId> programs;
    for (const ProgramRow& row : ledger.programs(listing.account)) {
        programs.insert(row.program.id);
    }
    for (const auto& [key, group] : Collector(ledger, listing).collect()) {
        if (listing.unmatched && is_matched(ledger, listing.account, key, programs)) {
            continue;
        }
        const std::string period = spans_all                      ? interval_text(listing)
                                   : listing.by == ClicksBy::kDay ? day_text(key.when)
                                                                  : month_text(key.when);
        const CreatorId shown = names.shown(listing.account, key.creator);
        add_rows({period, key.program.view(), shown.view(), key.link.view(), &group.figures}, group,
                 out);
    }
}

Json click_months_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
                     Timestamp now) {
    constexpr std::size_t kMonths = 12;
    const std::vector<ProgramRow> programs = ledger.programs(account);
    std::vector<std::uint32_t> months{month_of(now)};
    while (months.size() < kMonths) {
        months.insert(months.begin(), month_before(months.front()));
    }
    Json list = Json::array();
    for (const std::uint32_t month : months) {
        ClickFigures sum;
        for (const ProgramRow& row : programs) {
            ClickMonth first;
            first.account = account;
            first.month = month;
            first.program = row.program.id;
            first.creator = creator;
            ledger.scan(first, {4, 4}, [&sum](const ClickMonth& part) { sum += part; });
        }
        list.push_back({{"month", month_text(month)},
                        {"clicks", whole_number(sum.clicks)},
                        {"devices", whole_number(sum.devices)},
                        {"orders", whole_number(sum.orders)},
                        {"conversion", text_or_null(conversion_of(sum).value_or(""))}});
    }
    return list;
}

}  // namespace sluice::lists

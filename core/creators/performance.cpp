// CreatorLedger::figures(): what links and codes brought.
//
// Rows of days and months begin with account and day, so those of one creator are found by one read
// for each of her programs and each day or month. Days of months without commission are not read
// for amounts.
#include <map>
#include <utility>

#include "core/creators/creator_ledger.hpp"
#include "core/creators/figures.hpp"
#include "core/creators/words.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/links.hpp"
#include "core/lists/overview.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {
namespace {

constexpr int kFigureDays = 30, kFigureMonths = 12;

struct Sums {
    ClickFigures figures;
    std::map<Currency, std::pair<Decimal, Decimal>> amounts;  ///< Earned and adjusted.

    template <class Day>
    void add(const Day& row) {
        auto& [earned, adjusted] = amounts[row.currency];
        earned += row.earned;
        adjusted += row.adjusted;
    }
};

/// The days of a span, and its months if it is whole ones.
struct Span {
    std::vector<Timestamp> days;
    std::vector<std::uint32_t> months;
};

Span span_of(const std::optional<lists::Month>& month, FiguresBy by, Timestamp now) {
    Span span;
    Timestamp first = start_of_day(now).plus_days(1 - kFigureDays);
    Timestamp until = start_of_day(now).plus_days(1);
    if (month) {
        first = month->from;
        until = month->to;
        span.months = {month_of(first)};
    } else if (by == FiguresBy::kMonth) {
        span.months = {month_of(now)};
        while (span.months.size() < kFigureMonths) {
            span.months.push_back(lists::month_before(span.months.back()));
        }
        first = start_of_day(span.months.back() * 100 + 1);
    }
    for (Timestamp day = first; day < until; day = day.plus_days(1)) {
        span.days.push_back(day);
    }
    return span;
}

}  // namespace

/// Adds up a creator's rows by the text by which they are shown.
class CreatorLedger::FigureReader {
public:
    FigureReader(CreatorLedger& own, FiguresBy by) : own_(own), by_(by) {
        for (const ProgramRow& row : own.ledger_.programs(own.scope_.account())) {
            if (own.ledger_.membership(own.scope_.account(), row.program.id,
                                       own.scope_.creator())) {
                programs_.push_back(row.program.id);
            }
        }
    }

    std::map<std::string, Sums> read(const Span& span) {
        if (by_ != FiguresBy::kCode) {
            add_clicks(span);
        }
        by_ == FiguresBy::kCode ? add_codes(span) : add_amounts(span);
        return std::move(sums_);
    }

private:
    void add_clicks(const Span& span) {
        const auto add = [&](const auto& row) { sums_[name_of(row)].figures += row; };
        for (const std::uint32_t month : span.months) {
            if (by_ != FiguresBy::kDay) {
                visit<ClickMonth>(&ClickMonth::month, month, add);
            }
        }
        for (const Timestamp day : span.days) {
            if (by_ == FiguresBy::kDay || span.months.empty()) {
                visit<ClickDay>(&ClickDay::day, day_of(day), add);
            }
        }
    }

    void add_amounts(const Span& span) {
        for (const Timestamp day : span.days) {
            if (has_amounts(month_of(day))) {
                visit<LinkDay>(&LinkDay::day, day_of(day),
                               [&](const LinkDay& row) { sums_[name_of(row)].add(row); });
            }
        }
    }

    void add_codes(const Span& span) {
        for (const Timestamp day : span.days) {
            visit<CodeDay>(&CodeDay::day, day_of(day), [&](const CodeDay& row) {
                Sums& sums = sums_[row.code];
                sums.figures.orders += row.orders;
                sums.add(row);
            });
        }
    }

    /// Visits her rows of one day or month.
    template <class Row, class Visit>
    void visit(std::uint32_t Row::*when, std::uint32_t value, const Visit& visit) {
        Row first;
        first.account = own_.scope_.account();
        first.*when = value;
        first.creator = own_.scope_.creator();
        for (const ProgramId& program : programs_) {
            first.program = program;
            own_.ledger_.scan(first, {4, 4}, [&](const Row& row) {
                own_.check(row.account, row.creator);
                visit(row);
            });
        }
    }

    template <class Row>
    [[nodiscard]] std::string name_of(const Row& row) const {
        if (by_ == FiguresBy::kLink) {
            return row.link.str();
        }
        if constexpr (requires { row.month; }) {
            return month_text(row.month);
        } else {
            return by_ == FiguresBy::kMonth ? month_text(row.day / 100)
                                            : day_of_creator(start_of_day(row.day));
        }
    }

    bool has_amounts(std::uint32_t month) {
        const auto known = months_.try_emplace(month, false);
        bool& has_sums = known.first->second;
        if (known.second) {
            lists::scan_month(own_.ledger_, own_.scope_.account(), month, own_.scope_.creator(),
                              [&has_sums](const MonthlySum&) { has_sums = true; });
        }
        return has_sums;
    }

    CreatorLedger& own_;
    FiguresBy by_;
    std::vector<ProgramId> programs_;
    std::map<std::uint32_t, bool> months_;
    std::map<std::string, Sums> sums_;
};

namespace {

void add_sums(CreatorFigures& shown, const Sums& sums) {
    if (!shown.code) {
        shown.clicks = lists::whole_number(sums.figures.clicks);
        shown.devices = lists::whole_number(sums.figures.devices);
        shown.conversion = lists::conversion_of(sums.figures);
    }
    shown.orders = lists::whole_number(sums.figures.orders);
    for (const auto& [currency, amounts] : sums.amounts) {
        const Decimal zero = zero_amount(currency);
        shown.amounts.push_back(
            {std::string(currency.code()), zero + amounts.first, zero + amounts.second});
    }
}

}  // namespace

/// Fills in a link of hers: where it leads, and its state.
void CreatorLedger::add_link(CreatorFigures& figures) {
    LinkRow link;
    link.link = LinkId(*figures.link);
    if (ledger_.load(link)) {
        check(link.account, link.creator);
        figures.to = link.destination;
        figures.state = lists::to_string(link.state);
    }
}

/// Returns the code as it was imported for her.
std::string CreatorLedger::spelled(const std::string& folded) {
    for (const CodeRow& owner : ledger_.code_owners(scope_.account(), code_digest(folded))) {
        if (owner.account == scope_.account() && owner.creator == scope_.creator()) {
            return owner.code;
        }
    }
    return folded;
}

CreatorFigures CreatorLedger::figures_of(FiguresBy by, const std::string& name) {
    CreatorFigures shown;
    switch (by) {
        case FiguresBy::kDay:
            shown.day = name;
            break;
        case FiguresBy::kMonth:
            shown.month = name;
            break;
        case FiguresBy::kCode:
            shown.code = spelled(name);
            break;
        case FiguresBy::kLink:
            if (!name.empty()) {
                shown.link = name;
                add_link(shown);
            }
    }
    return shown;
}

CreatorFigurePage CreatorLedger::figures(FiguresBy by, const std::optional<lists::Month>& month,
                                         const std::optional<std::string>& after, Timestamp now) {
    std::map<std::string, Sums> all = FigureReader(*this, by).read(span_of(month, by, now));
    if (by == FiguresBy::kLink) {
        LinkByCreator first{scope_.account(), scope_.creator()};
        ledger_.scan(first, {2, 2}, [&](const LinkByCreator& row) {
            check(row.account, row.creator);
            all.try_emplace(row.link.str());
        });
    }
    CreatorFigurePage page;
    std::string last;
    for (auto at = after ? all.upper_bound(*after) : all.begin(); at != all.end(); ++at) {
        const auto& [name, sums] = *at;
        CreatorFigures shown = figures_of(by, name);
        const bool is_idle =
            sums.amounts.empty() && sums.figures.clicks.is_zero() && sums.figures.orders.is_zero();
        if (is_idle && shown.state == lists::to_string(LinkState::kRemoved)) {
            continue;
        }
        if (page.rows.size() == kCreatorPageRows) {
            page.next = last;
            break;
        }
        last = name;
        add_sums(shown, sums);
        page.rows.push_back(std::move(shown));
    }
    return page;
}

}  // namespace sluice

// Links and clicks: what creators published, who followed it, and what it brought.
#include "core/lists/links.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/ledger/overview_rows.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/names.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/places.hpp"
#include "core/lists/report.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;

using lists::LinkPlace;

/// Links of an account that are sorted by clicks.
constexpr std::size_t kLinksSortedMax = 10'000;
/// Orders of a link's creator that are read in search of those of the link.
constexpr std::size_t kOrdersOfCreatorMax = 2000;
constexpr std::size_t kCreatorOrdersAtOnce = 100;
constexpr std::size_t kLinkOrdersListed = 10;

lists::ClicksBy by_of(const Arguments& arguments) {
    return arguments.is("by", "month")     ? lists::ClicksBy::kMonth
           : arguments.is("by", "link")    ? lists::ClicksBy::kLink
           : arguments.is("by", "creator") ? lists::ClicksBy::kCreator
                                           : lists::ClicksBy::kDay;
}

/// Selects the rows of a list of links.
struct LinkFilter {
    std::optional<CreatorId> creator;
    std::optional<ProgramId> program;
    std::optional<TextPart> part;

    explicit LinkFilter(Read& read) : creator(creator_of(read)), program(program_id_of(read)) {
        if (const auto text = read.arguments.text("q")) {
            part.emplace(*text);
        }
    }

    [[nodiscard]] bool covers(const LinkRow& link) const {
        return (!program || *program == link.program) &&
               (!part || part->is_in(link.link.view()) || part->is_in(link.destination));
    }
};

std::string place_key(const LinkRow& link) {
    return join_key({link.creator.str(), link.link.str()});
}

/// By creator and id.
std::vector<LinkRow> links_by_id(Read& read, const LinkFilter& filter, Page& page) {
    constexpr std::size_t kPlacesAtOnce = 500;
    std::optional<LinkPlace> after;
    if (read.after) {
        const auto parts = key_parts(*read.after, 2);
        after = {
            CreatorId(parts[0]),
            from_cursor(is_link_id(parts[1]) ? std::optional(LinkId(parts[1])) : std::nullopt)};
    }
    ReadLimit limit(read);
    std::vector<LinkRow> links;
    for (bool more = true; more && !page.next_key;) {
        const auto places = lists::link_places(read.ledger, read.grant.account, filter.creator,
                                               after, kPlacesAtOnce);
        for (LinkRow& link : lists::links_at(read.ledger, places)) {
            if (!limit.admits(place_key(link), page, links.size())) {
                break;
            }
            if (filter.covers(link)) {
                links.push_back(std::move(link));
            }
        }
        more = places.size() == kPlacesAtOnce;
        if (more) {
            after = places.back();
        }
    }
    return links;
}

/// Returns whole clicks of this month, at least 0.
std::uint64_t clicks_of(const lists::FiguresOfLinks& month, const LinkId& link) {
    const ClickFigures* const figures = find_value(month, link);
    return figures == nullptr ? 0 : lists::whole_number(figures->clicks);
}

/// Returns the links that the filter covers, with the most clicks of this month first, and of
/// equal ones by creator and id.
std::vector<LinkRow> best_links(Read& read, const LinkFilter& filter) {
    const auto places = lists::link_places(
        read.ledger, read.grant.account, filter.creator, std::nullopt,
        filter.creator ? std::numeric_limits<std::size_t>::max() : kLinksSortedMax + 1);
    if (!filter.creator && places.size() > kLinksSortedMax) {
        throw Refusal{parameter_problem(
            {{"sort", "the account has over 10,000 links; state a creator, or sort by id"}})};
    }
    std::vector<LinkRow> links = lists::links_at(read.ledger, places);
    std::erase_if(links, [&filter](const LinkRow& link) { return !filter.covers(link); });
    const auto month = lists::link_figures_of_month(read.ledger, links, month_of(read.now));
    std::ranges::sort(links, [&month](const LinkRow& a, const LinkRow& b) {
        const std::uint64_t of_a = clicks_of(month, a.link);
        const std::uint64_t of_b = clicks_of(month, b.link);
        return of_a != of_b ? of_b < of_a
                            : LinkPlace{a.creator, a.link} < LinkPlace{b.creator, b.link};
    });
    return links;
}

/// A page of them. Between two pages a link that is clicked more moves, and others with it.
std::vector<LinkRow> best_links_of_page(Read& read, const LinkFilter& filter, Page& page) {
    std::vector<LinkRow> links = best_links(read, filter);
    const std::uint64_t begin =
        read.after ? key_number(key_parts(*read.after, 1).front()) : std::uint64_t{0};
    const auto first = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(begin, links.size()));
    links.erase(links.begin(), links.begin() + first);
    if (links.size() > read.limit()) {
        links.resize(read.limit());
        page.next_key = join_key({std::to_string(begin + read.limit())});
    }
    return links;
}

/// The days that a link's figures are made of, the oldest first. Adds them to `total`.
Json days_of(Read& read, const LinkRow& link, ClickFigures& total) {
    return Json::list(lists::link_days(read.ledger, link, read.now), [&](const auto& day) -> Json {
        const ClickFigures& sum = day.second;
        total += sum;
        return {{"day", day_text(day.first)},
                {"clicks", lists::whole_number(sum.clicks)},
                {"devices", lists::whole_number(sum.devices)},
                {"orders", lists::whole_number(sum.orders)}};
    });
}

/// Commission of the orders of a link in these days, by currency.
Json amounts_of(Read& read, const LinkRow& link) {
    std::map<Currency, std::pair<Decimal, Decimal>> sums;
    for (std::int64_t day = 1 - lists::kLinkFigureDays; day <= 0; ++day) {
        const LinkDay first{.account = link.account,
                            .day = day_of(read.now.plus_days(day)),
                            .program = link.program,
                            .creator = link.creator,
                            .link = link.link};
        read.ledger.scan(first, {5, 5}, [&sums](const LinkDay& part) {
            auto& [earned, adjusted] = sums[part.currency];
            earned += part.earned;
            adjusted += part.adjusted;
        });
    }
    return Json::list(sums, [](const auto& sum) -> Json {
        return {{"currency", sum.first.code()},
                {"earned", sum.second.first.to_string()},
                {"adjusted", sum.second.second.to_string()}};
    });
}

/// The newest orders that the creator has by a click through the link.
/// @param is_cut  Set if only the newest orders of the creator were read, and there are more.
Json newest_orders(Read& read, const LinkRow& link, bool& is_cut) {
    const Shops shops(read);
    lists::OrderRows rows(read.ledger);
    lists::OrderListing listing{read.grant.account, link.creator};
    Json list = Json::array();
    for (std::size_t seen = 0; list.items().size() < kLinkOrdersListed;
         seen += kCreatorOrdersAtOnce) {
        const auto places = lists::order_places(read.ledger, listing, kCreatorOrdersAtOnce);
        is_cut = !places.empty() && seen >= kOrdersOfCreatorMax;
        if (places.empty() || is_cut) {
            break;
        }
        lists::visit_places(read.ledger, listing.account, places, [&](const OrderState& order) {
            const auto landed =
                order.live ? landed_by(order.position()->attribution) : std::nullopt;
            const ShopRow* const shop = shops.find(order.key.shop);
            if (landed && landed->link == link.link && shop != nullptr) {
                list.push_back(
                    object_of(lists::order_list().columns(), rows.row(*shop, order, read.now)));
            }
            return list.items().size() < kLinkOrdersListed;
        });
        listing.after = places.back();
    }
    return list;
}

Page list_clicks(Read& read) {
    lists::ClickListing listing{read.grant.account};
    listing.program = program_id_of(read);
    listing.creator = creator_of(read);
    listing.link = read.arguments.id<LinkId>("link");
    listing.from = read.arguments.time("from");
    listing.to = read.arguments.time("to");
    listing.by = by_of(read.arguments);
    listing.unmatched = read.arguments.flag("unmatched").value_or(false);
    listing.has_amounts = read.sees_ledger();
    PageOfAll page(read, lists::click_list().columns(),
                   "period program_id creator_id link_id currency");
    lists::write_clicks(read.ledger, listing, page);
    return std::move(page).take();
}

Page list_links(Read& read) {
    const LinkFilter filter(read);
    Page page;
    const std::vector<LinkRow> links = read.arguments.is("sort", "-clicks")
                                           ? best_links_of_page(read, filter, page)
                                           : links_by_id(read, filter, page);
    page.rows = lists::link_rows(read.ledger, links, read.now);
    const auto month = lists::link_figures_of_month(read.ledger, links, month_of(read.now));
    Json clicks = Json::array();
    std::set<std::string> creators;
    for (const LinkRow& link : links) {
        clicks.push_back(clicks_of(month, link.link));
        creators.insert(link.creator.str());
    }
    page.extras.emplace_back("clicks_this_month", std::move(clicks));
    page.extras.emplace_back("names", names_of(read, creators));
    return page;
}

Json show_link(Read& read) {
    const LinkRow link = own_row(read, LinkRow{LinkId(read.arguments.required("link"))});
    ClickFigures total;
    Json days = days_of(read, link, total);
    Json shown =
        lists::link_list().object({link, shown_id(read.ledger, link.account, link.creator), total});
    shown["days"] = std::move(days);
    shown["conversion"] = text_or_null(lists::conversion_of(total).value_or(""));
    shown["amounts"] = read.sees_ledger() ? amounts_of(read, link) : Json();
    bool is_cut = false;
    shown["newest_orders"] = newest_orders(read, link, is_cut);
    shown["newest_orders_cut"] = is_cut;
    shown["names"] = names_in(read, shown);
    return shown;
}

}  // namespace

Json best_links_of(Read& read, const CreatorId& creator) {
    constexpr std::size_t kListed = 10;
    LinkFilter filter(read);
    filter.creator = creator;
    std::vector<LinkRow> links = best_links(read, filter);
    links.resize(std::min(links.size(), kListed));
    return lists::objects_of(lists::link_list().columns(),
                             lists::link_rows(read.ledger, links, read.now));
}

namespace {

Columns link_members() {
    return lists::link_list().columns() + extra("conversion", kRate) +
           extra("days", kObjects, texts("day") + integers("clicks devices orders")) +
           Columns{{"amounts", kObjects, kLedger,
                    texts("currency") + columns_of(kAmount, kLedger, "earned adjusted")}} +
           extra("newest_orders", kObjects, lists::order_list().columns()) +
           extra("newest_orders_cut", kFlag) + extra("names", kObject);
}

}  // namespace

std::vector<Resource> link_resources() {
    return {Resource("clicks", kReadOrders,
                     "Clicks, devices and orders of links; earned and adjusted need read_ledger",
                     {program_parameter(),
                      creator_parameter(),
                      {"link", ValueKind::kLink, "Link"},
                      {"from", ValueKind::kDay, "First instant of the first UTC day (RFC 3339)"},
                      {"to", ValueKind::kDay, "First instant of the UTC day after the last"},
                      word_parameter("by", "What the rows are grouped by (default: day)",
                                     {"day", "month", "link", "creator"}),
                      {"unmatched", ValueKind::kFlag,
                       "true: programs and creators of clicks that do not count, because the "
                       "account lacks the program, or the program the creator"}},
                     lists::click_list().columns(), list_clicks, kCsv),
            Resource("links", kReadOrders,
                     "Creators' links with the figures of their last 30 days, by creator and link",
                     {creator_parameter(),
                      program_parameter(),
                      {"q", ValueKind::kText, "A part of the link's id or URL"},
                      word_parameter("sort",
                                     "Order of the rows (default: id); -clicks is by this month's "
                                     "clicks, for up to 10,000 links, or those of one creator",
                                     {"id", "-clicks"})},
                     lists::link_list().columns(), list_links, kCsv,
                     extra("clicks_this_month", kObjects) + extra("names", kObject)),
            Resource("link", kReadOrders,
                     "One link with the figures of its last 30 days, by day, and its newest "
                     "orders; amounts need read_ledger",
                     {{"link", ValueKind::kLink, "Link", true}}, link_members(), show_link)};
}

}  // namespace sluice::serve

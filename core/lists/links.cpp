#include "core/lists/links.hpp"

#include "core/ledger/paged_reads.hpp"
#include "core/lists/names.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

/// Adds up the figures of the last days by link. Devices of several days are counted in each.
FiguresOfLinks figures_of_links(LedgerReader& ledger, AccountNumber account, Timestamp now) {
    FiguresOfLinks sums;
    ClickDay begin;
    begin.account = account;
    begin.day = day_of(now.plus_days(1 - kLinkFigureDays));
    const std::uint32_t last = day_of(now);
    ledger.scan(begin, {1, 2}, [&](const ClickDay& row) {
        if (row.day > last) {
            return false;
        }
        if (!row.link.empty()) {
            sums[row.link] += row;
        }
        return true;
    });
    return sums;
}

/// Returns the last days that figures are shown of, the oldest first.
std::vector<std::uint32_t> figure_days(Timestamp now) {
    std::vector<std::uint32_t> days;
    for (std::int64_t day = 1 - kLinkFigureDays; day <= 0; ++day) {
        days.push_back(day_of(now.plus_days(day)));
    }
    return days;
}

/// Visits the parts that nodes have of links in days or months. Reads some thousand keys at once.
template <class Row>
void visit_parts(LedgerReader& ledger, std::span<const LinkRow> links, std::uint32_t Row::*when,
                 std::span<const std::uint32_t> spans, const Visitor<Row>& visit) {
    constexpr std::size_t kAtOnce = 5000;
    std::vector<std::uint32_t> nodes;
    ledger.scan_heads([&nodes](const LedgerHead& head) { nodes.push_back(head.number); });
    std::vector<Row> parts;
    const auto read = [&] {
        load_all(ledger, parts);
        for (const Row& part : parts) {
            static_cast<void>(visit(part));
        }
        parts.clear();
    };
    for (const LinkRow& link : links) {
        for (const std::uint32_t span : spans) {
            for (const std::uint32_t node : nodes) {
                Row& part = parts.emplace_back();
                part.account = link.account;
                part.*when = span;
                part.program = link.program;
                part.creator = link.creator;
                part.link = link.link;
                part.node = node;
            }
        }
        if (parts.size() >= kAtOnce) {
            read();
        }
    }
    read();
}

}  // namespace

std::string_view to_string(LinkState state) noexcept {
    return state == LinkState::kActive    ? "active"
           : state == LinkState::kStopped ? "stopped"
                                          : "removed";
}

const List<LinkOf>& link_list() {
    using Of = const LinkOf&;
    static const List<LinkOf> list{
        {"link_id", kText, kEveryone, [](Of of) -> Value { return of.link.link; }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.link.program; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.creator; }},
        {"to", kText, kEveryone, [](Of of) -> Value { return of.link.destination; }},
        {"deep", kFlag, kEveryone, [](Of of) -> Value { return of.link.deep; }},
        {"state", kText, kEveryone, [](Of of) -> Value { return to_string(of.link.state); }},
        {"created_at", kTime, kEveryone, [](Of of) -> Value { return of.link.created_at; }},
        {"clicks", kInteger, kEveryone, [](Of of) { return whole(of.figures.clicks); }},
        {"devices", kInteger, kEveryone, [](Of of) { return whole(of.figures.devices); }},
        {"orders", kInteger, kEveryone, [](Of of) { return whole(of.figures.orders); }}};
    return list;
}

const List<LinkOf>& exported_link_list() {
    static const List<LinkOf> list = List<LinkOf>{
        {"account_id", kText, kEveryone, [](const LinkOf& of) -> Value {
             return or_null(of.account);
         }}}.then(link_list().only("link_id program_id creator_id to deep state created_at"));
    return list;
}

FiguresOfLinks link_figures_of_month(LedgerReader& ledger, std::span<const LinkRow> links,
                                     std::uint32_t month) {
    FiguresOfLinks sums;
    visit_parts<ClickMonth>(ledger, links, &ClickMonth::month, std::span(&month, 1),
                            [&sums](const ClickMonth& part) { sums[part.link] += part; });
    return sums;
}

std::map<std::uint32_t, ClickFigures> link_days(LedgerReader& ledger, const LinkRow& link,
                                                Timestamp now) {
    std::map<std::uint32_t, ClickFigures> sums;
    const std::vector<std::uint32_t> days = figure_days(now);
    for (const std::uint32_t day : days) {
        sums.try_emplace(day);
    }
    visit_parts<ClickDay>(ledger, std::span(&link, 1), &ClickDay::day, days,
                          [&sums](const ClickDay& part) { sums[part.day] += part; });
    return sums;
}

std::vector<Row> link_rows(LedgerReader& ledger, std::span<const LinkRow> links, Timestamp now) {
    if (links.empty()) {
        return {};
    }
    FiguresOfLinks sums;
    visit_parts<ClickDay>(ledger, links, &ClickDay::day, figure_days(now),
                          [&sums](const ClickDay& part) { sums[part.link] += part; });
    const CreatorNames names(ledger, links.front().account);
    return mapped(links, [&](const LinkRow& link) {
        return link_list().row(
            {link, names.shown(link.account, link.creator), value_or(sums, link.link)});
    });
}

std::vector<LinkPlace> link_places(LedgerReader& ledger, AccountNumber account,
                                   const std::optional<CreatorId>& creator,
                                   const std::optional<LinkPlace>& after, std::size_t max) {
    LinkByCreator first{.account = account, .creator = creator.value_or(CreatorId())};
    const unsigned same = creator ? 2 : 1;
    if (after) {
        first.creator = after->creator;
        first.link = after->link;
    }
    std::vector<LinkPlace> places;
    ledger.scan(first, {same, after ? 3 : same}, [&](const LinkByCreator& row) {
        LinkPlace place{row.creator, row.link};
        if (!after || *after < place) {
            places.push_back(std::move(place));
        }
        return places.size() < max;
    });
    return places;
}

std::vector<LinkRow> links_at(LedgerReader& ledger, std::span<const LinkPlace> places) {
    std::vector<LinkRow> links(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        links[i].link = places[i].link;
    }
    load_all(ledger, links);
    return links;
}

void write_links(LedgerReader& ledger, AccountNumber account,
                 const std::optional<CreatorId>& creator, Timestamp now, RowOutput& out) {
    constexpr std::size_t kAtOnce = 1000;
    const CreatorNames names(ledger, account);
    const FiguresOfLinks figures = figures_of_links(ledger, account, now);
    std::optional<LinkPlace> after;
    for (bool more = true; more;) {
        const auto places = link_places(ledger, account, creator, after, kAtOnce);
        for (const LinkRow& link : links_at(ledger, places)) {
            out.add(link_list().row(
                {link, names.shown(account, link.creator), value_or(figures, link.link)}));
        }
        more = places.size() == kAtOnce;
        if (more) {
            after = places.back();
        }
    }
}

Result<Json> link_object(LedgerReader& ledger, const LinkId& id, Timestamp now) {
    LinkRow link{.link = id};
    if (!ledger.load(link)) {
        return not_found("there is no link " + id.str());
    }
    return object_of(link_list().columns(), link_rows(ledger, std::span(&link, 1), now).front());
}

}  // namespace sluice::lists

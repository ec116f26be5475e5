#include "core/reports/links.hpp"

#include <map>
#include <string>
#include <vector>

#include "core/reports/names.hpp"

namespace sluice::reports {
namespace {

Value whole(const Decimal& number) {
    return Json(static_cast<std::int64_t>(number.unscaled()));
}

/// Adds up the figures of the last days by link. Devices of several days are counted in each.
std::map<LinkId, ClickFigures> figures_of_links(LedgerReader& ledger, AccountNumber account,
                                                Timestamp now) {
    std::map<LinkId, ClickFigures> sums;
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

}  // namespace

using enum ColumnType;
using enum Scope;

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

void write_links(LedgerReader& ledger, AccountNumber account,
                 const std::optional<CreatorId>& creator, Timestamp now, RowOutput& out) {
    const CreatorNames names(ledger, account);
    const std::map<LinkId, ClickFigures> figures = figures_of_links(ledger, account, now);
    LinkByCreator first;
    first.account = account;
    first.creator = creator.value_or(CreatorId());
    const unsigned same = creator ? 2 : 1;
    std::vector<LinkId> ids;
    ledger.scan(first, {same, same}, [&ids](const LinkByCreator& row) { ids.push_back(row.link); });
    for (const LinkId& id : ids) {
        LinkRow link;
        link.link = id;
        if (ledger.load(link)) {
            const auto sums = figures.find(id);
            out.add(link_list().row({link, names.shown(account, link.creator),
                                     sums == figures.end() ? ClickFigures() : sums->second}));
        }
    }
}

Result<Json> link_object(LedgerReader& ledger, const LinkId& id, Timestamp now) {
    LinkRow link;
    link.link = id;
    if (!ledger.load(link)) {
        return Error{ErrorCode::kNotFound, "there is no link " + id.str()};
    }
    const CreatorNames names(ledger, link.account);
    const std::map<LinkId, ClickFigures> figures = figures_of_links(ledger, link.account, now);
    const auto sums = figures.find(id);
    return link_list().object({link, names.shown(link.account, link.creator),
                               sums == figures.end() ? ClickFigures() : sums->second});
}

}  // namespace sluice::reports

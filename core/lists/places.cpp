#include "core/lists/places.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/ledger/list_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

/// Rows of a list that are read before what they name.
constexpr std::size_t kRowsAtOnce = 500;

/// @param row  Its first `same` key columns are set; time, shop and order follow them.
template <class Row>
std::vector<OrderPlace> places_of(LedgerReader& ledger, Row row, unsigned same,
                                  const OrderListing& listing, std::size_t max) {
    std::vector<OrderPlace> places;
    const auto add = [&](const Row& found) {
        const bool in_range = (!listing.from || *listing.from <= found.ordered_at) &&
                              (!listing.to || found.ordered_at < *listing.to);
        OrderPlace place{found.ordered_at, found.shop, found.order_id};
        if (in_range && listing.after != place) {
            places.push_back(std::move(place));
        }
        return in_range && places.size() < max;
    };
    KeyRange range{same, same};
    const std::optional<Timestamp>& bound = listing.newest_first ? listing.to : listing.from;
    if (listing.after) {
        row.ordered_at = listing.after->ordered_at;
        row.shop = listing.after->shop;
        row.order_id = listing.after->order_id;
        range.from = same + 3;
    } else if (bound) {
        row.ordered_at = *bound;
        range.from = same + 1;
    }
    if (listing.newest_first) {
        paged(ledger).scan_back(row, range, add);
    } else {
        ledger.scan(row, range, add);
    }
    return places;
}

std::vector<std::string> with_prefix(LedgerReader& ledger, const PayoutListing& listing,
                                     std::size_t max) {
    std::vector<std::string> ids;
    const Payout first{.payout_id = std::max(listing.after, listing.prefix)};
    ledger.scan(first, {0, 1}, [&](const Payout& payout) {
        if (!std::string_view(payout.payout_id).starts_with(listing.prefix)) {
            return false;
        }
        if (payout.account == listing.account && payout.payout_id != listing.after) {
            ids.push_back(payout.payout_id);
        }
        return ids.size() < max;
    });
    return ids;
}

/// @param first  Its key is set up to the id.
template <class Row>
void add_ids(LedgerReader& ledger, Row first, const PayoutListing& listing, std::size_t max,
             std::vector<std::string>& ids) {
    const std::size_t before = ids.size();
    first.payout_id = listing.after;
    ledger.scan(first, {2, 3}, [&](const Row& row) {
        if (row.payout_id != listing.after) {
            ids.push_back(row.payout_id);
        }
        return ids.size() - before < max;
    });
}

}  // namespace

std::vector<OrderPlace> order_places(LedgerReader& ledger, const OrderListing& listing,
                                     std::size_t max) {
    if (listing.creator) {
        OrderByCreator row{.account = listing.account, .creator = *listing.creator};
        return places_of(ledger, std::move(row), 2, listing, max);
    }
    if (listing.code) {
        OrderByCode row{.account = listing.account,
                        .code = code_number(code_digest(*listing.code))};
        return places_of(ledger, std::move(row), 2, listing, max);
    }
    OrderByTime row{.account = listing.account};
    return places_of(ledger, std::move(row), 1, listing, max);
}

void visit_places(LedgerReader& ledger, AccountNumber account,
                  const std::vector<OrderPlace>& places, const Visitor<OrderState>& visit) {
    const std::vector<OrderKey> keys = mapped(places, [account](const OrderPlace& place) {
        return OrderKey{account, place.shop, place.order_id};
    });
    ledger.expect_orders(keys);
    OrderState order;
    for (const OrderKey& key : keys) {
        if (!ledger.load_order(key, order)) {
            throw DamagedRow(row_name("orders", key), "a list names it, and it is missing", key);
        }
        if (!visit(order)) {
            return;
        }
    }
}

std::vector<std::string> payout_ids(LedgerReader& ledger, const PayoutListing& listing,
                                    std::size_t max) {
    if (!listing.prefix.empty()) {
        return with_prefix(ledger, listing, max);
    }
    std::vector<std::string> ids;
    if (listing.creator) {
        add_ids(ledger, PayoutByCreator{listing.account, *listing.creator, {}}, listing, max, ids);
        return ids;
    }
    for (unsigned i = 1; i <= static_cast<unsigned>(PayoutState::kReturned); ++i) {
        const auto state = static_cast<PayoutState>(i);
        if (!listing.state || *listing.state == state) {
            add_ids(ledger, PayoutByAccount{listing.account, state, {}}, listing, max, ids);
        }
    }
    std::ranges::sort(ids);
    ids.resize(std::min(ids.size(), max));
    return ids;
}

std::vector<std::string> newest_payout_ids(LedgerReader& ledger, AccountNumber account,
                                           std::size_t max) {
    std::vector<std::string> ids;
    for (const auto& [state, name] : kNamesOf<PayoutState>) {
        const std::size_t before = ids.size();
        paged(ledger).scan_back(PayoutByAccount{account, state, {}}, {2, 2},
                                [&](const PayoutByAccount& row) {
                                    ids.push_back(row.payout_id);
                                    return ids.size() - before < max;
                                });
    }
    std::ranges::sort(ids, std::greater<>());
    ids.resize(std::min(ids.size(), max));
    return ids;
}

void visit_payouts(LedgerReader& ledger, std::span<const std::string> ids,
                   const Visitor<Payout>& visit) {
    for (std::size_t at = 0; at < ids.size(); at += kRowsAtOnce) {
        std::vector<Payout> payouts;
        for (const std::string& id : ids.subspan(at, std::min(kRowsAtOnce, ids.size() - at))) {
            payouts.emplace_back().payout_id = id;
        }
        load_all(ledger, payouts);
        if (!std::ranges::all_of(payouts, visit)) {
            return;
        }
    }
}

void scan_payouts_in(LedgerReader& ledger, AccountNumber account, PayoutState state,
                     const std::function<void(const Payout&)>& visit) {
    PayoutListing listing{.account = account, .state = state};
    for (bool more = true; more;) {
        const std::vector<std::string> ids = payout_ids(ledger, listing, kRowsAtOnce);
        more = ids.size() == kRowsAtOnce;
        visit_payouts(ledger, ids, visit);
        listing.after = ids.empty() ? std::string() : ids.back();
    }
}

std::vector<PayoutRun> runs_before(LedgerReader& ledger, AccountNumber account,
                                   const std::string& before, std::size_t max) {
    std::vector<PayoutRun> runs;
    paged(ledger).scan_back(RunByAccount{account, before}, {1, before.empty() ? 1U : 2U},
                            [&](const RunByAccount& row) {
                                runs.emplace_back().payout_run = row.payout_run;
                                return runs.size() < max;
                            });
    load_all(ledger, runs);
    return runs;
}

}  // namespace sluice::lists

// Search: what a text names, exact hits first.
#include <algorithm>
#include <set>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/reports/lists.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/statements/statements.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using reports::Json;

constexpr std::size_t kHitsMax = 20;

/// Collects hits, each once. A code is a hit for each of its owners, whom the sentence names.
class Hits {
public:
    explicit Hits(Read& read) : read_(read), judge_(read.ledger), names_(read.ledger) {}

    [[nodiscard]] bool is_full() const noexcept { return page_.rows.size() >= kHitsMax; }
    [[nodiscard]] Page take() && { return std::move(page_); }

    void add(const char* kind, const std::string& id, Json shop, const std::string& sentence,
             Json creator = {}) {
        const bool is_new = seen_.insert(join_key({kind, shop.cell(), id, sentence})).second;
        if (is_new && page_.rows.size() < kHitsMax) {
            page_.rows.push_back({kind, id, std::move(shop), sentence, std::move(creator)});
        }
    }
    void add_order(const ShopRow& shop, const OrderState& order) {
        const std::string status(judge_.status(order, read_.now));
        const std::string amount = order.amount + " " + std::string(order.currency.code());
        const std::string creator =
            order.live ? names_.shown(shop.account, order.position()->attribution.creator).str()
                       : "";
        add("order", order.key.order_id.str(), shop.shop_id.str(),
            amount + (creator.empty() ? ", no creator" : ", creator " + creator) + ", " + status,
            reports::text_or_null(creator));
    }
    void add_creator(const CreatorRow& row) {
        const std::string shown = names_.shown(row.account, row.creator).str();
        add("creator", shown, Json(), row.name.empty() ? "creator " + shown : row.name, shown);
    }
    [[nodiscard]] const reports::CreatorNames& names() const noexcept { return names_; }

private:
    Read& read_;
    OrderJudge judge_;
    reports::CreatorNames names_;
    std::set<std::string> seen_;
    Page page_;
};

/// The account's shops, which are read once.
class Shops {
public:
    explicit Shops(Read& read) : rows_(shops_of(read)) {
        for (const ShopRow& row : rows_) {
            numbers_.push_back(row.shop);
        }
    }
    /// By shop id.
    [[nodiscard]] const std::vector<ShopNumber>& numbers() const noexcept { return numbers_; }
    [[nodiscard]] const ShopRow* find(ShopNumber number) const {
        const auto found = std::ranges::find(rows_, number, &ShopRow::shop);
        return found == rows_.end() ? nullptr : &*found;
    }

private:
    std::vector<ShopRow> rows_;
    std::vector<ShopNumber> numbers_;
};

/// Adds those of the orders that the ledger has. They are read together.
void add_orders(Read& read, const Shops& shops, const std::vector<OrderKey>& keys, Hits& hits) {
    read.ledger.expect_orders(keys);
    OrderState order;
    for (const OrderKey& key : keys) {
        const ShopRow* const shop = shops.find(key.shop);
        if (shop != nullptr && read.ledger.load_order(key, order)) {
            hits.add_order(*shop, order);
        }
    }
}

void find_orders(Read& read, const Shops& shops, const std::string& text, bool exact, Hits& hits) {
    if (!exact) {
        if (!hits.is_full()) {
            add_orders(read, shops,
                       paged(read.ledger)
                           .orders_beginning(read.grant.account, shops.numbers(), text, kHitsMax),
                       hits);
        }
        return;
    }
    std::vector<OrderKey> keys;
    for (const ShopNumber shop : shops.numbers()) {
        keys.push_back({read.grant.account, shop, OrderId(text)});
    }
    add_orders(read, shops, keys, hits);
}

void find_creators(Read& read, const std::string& text, bool exact, Hits& hits) {
    CreatorRow row{read.grant.account, CreatorId(text), {}, {}, {}};
    if (exact) {
        row.creator = first_id(read.ledger, read.grant.account, row.creator);
        if (read.ledger.load(row)) {
            hits.add_creator(row);
        }
        return;
    }
    read.ledger.scan(row, {1, 2}, [&](const CreatorRow& found) {
        if (!found.creator.view().starts_with(text) || hits.is_full()) {
            return false;
        }
        hits.add_creator(found);
        return true;
    });
}

/// The code's owners with their dates, and the newest orders that carry it, with or without a
/// creator.
void find_code(Read& read, const Shops& shops, const std::string& text, Hits& hits) {
    const Digest256 digest = code_digest(text);
    for (const CodeRow& owner : read.ledger.code_owners(read.grant.account, digest)) {
        const std::string creator = hits.names().shown(owner.account, owner.creator).str();
        hits.add("code", owner.code, Json(),
                 "code of " + creator + " in " + owner.program.str() + " from " +
                     owner.valid_from.to_string() +
                     (owner.valid_until ? " until " + owner.valid_until->to_string() : ""),
                 creator);
    }
    reports::OrderListing listing;
    listing.account = read.grant.account;
    listing.code = text;
    const auto places = reports::order_places(read.ledger, listing, kHitsMax);
    reports::visit_places(read.ledger, listing.account, places, [&](const OrderState& order) {
        const ShopRow* const shop = shops.find(order.key.shop);
        if (shop != nullptr && has_code(order, digest)) {
            hits.add_order(*shop, order);
        }
        return true;
    });
}

/// Payouts, payout runs and commands.
void find_ids(Read& read, const std::string& text, Hits& hits) {
    Payout payout;
    payout.payout_id = text;
    if (read.ledger.load(payout) && payout.account == read.grant.account) {
        hits.add("payout", text, Json(),
                 payout.amount.to_string() + " " + std::string(payout.currency.code()) + " for " +
                     hits.names().shown(payout.account, payout.creator).str() + ", " +
                     std::string(to_string(payout.state)));
    }
    PayoutRun run;
    run.payout_run = text;
    if (read.ledger.load(run) && run.account == read.grant.account) {
        hits.add(
            "payout_run", text, Json(),
            std::to_string(run.payouts_count) + " payouts, closed on " + run.closed_at.to_string());
    }
    PendingApproval pending;
    pending.account = read.grant.account;
    pending.command_id = text;
    MoneyCommand money;
    money.command_id = text;
    if (read.ledger.load(pending)) {
        hits.add("command", text, Json(), std::string(to_string(pending.topic)));
    } else if (read.ledger.load(money) && money.account == read.grant.account) {
        hits.add("command", text, Json(),
                 std::string(to_string(money.topic)) + " of " + money.amount.to_string() + " " +
                     std::string(money.currency.code()));
    }
}

}  // namespace

std::vector<reports::Column> search_columns() {
    return {{"kind"}, {"id"}, {"shop_id"}, {"sentence"}, {"creator_id"}};
}

Page search(Read& read) {
    const std::string text = read.arguments.required("q");
    Hits hits(read);
    const Shops shops(read);
    find_orders(read, shops, text, true, hits);
    find_creators(read, text, true, hits);
    if (read.sees_ledger()) {
        find_ids(read, text, hits);
    }
    find_code(read, shops, text, hits);
    find_creators(read, text, false, hits);
    find_orders(read, shops, text, false, hits);
    return std::move(hits).take();
}

}  // namespace sluice::serve

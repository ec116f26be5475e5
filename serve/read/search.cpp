// Search: what a text names: exact hits first, then what begins with the text, then what has it
// inside an id or name.
#include <set>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/links.hpp"
#include "core/lists/places.hpp"
#include "core/lists/report.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/protocol/order_numbers.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/code_book.hpp"
#include "core/statements/statements.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;
using lists::List;
using lists::Value;

constexpr std::size_t kHitsMax = 20;
/// The newest orders of which the middle of the id is compared.
constexpr std::size_t kOrderIdsMax = 20'000;
/// The newest orders of which the amounts are compared.
constexpr std::size_t kOrdersMax = 2'000;
/// The newest payouts of which reference and amount are compared.
constexpr std::size_t kPayoutsMax = 20'000;

/// How a hit matches.
constexpr const char* kExact = "exact";
constexpr const char* kBeginning = "beginning";
constexpr const char* kPart = "part";
constexpr const char* kCode = "code";
constexpr const char* kByAmount = "amount";
constexpr const char* kReference = "bank reference";

/// A hit of a search.
struct HitOf {
    std::string_view kind, id;
    Json shop;
    std::string_view sentence;
    Json creator;
    std::string_view match;  ///< How it matches.
    Json order{};            ///< The order that a command took effect on.
};

const List<HitOf>& search_list() {
    using Of = const HitOf&;
    static const List<HitOf> list{
        {"kind", kText, kEveryone, [](Of of) -> Value { return of.kind; }},
        {"id", kText, kEveryone, [](Of of) -> Value { return of.id; }},
        {"shop_id", kText, kEveryone, [](Of of) -> Value { return of.shop; }},
        {"sentence", kText, kEveryone, [](Of of) -> Value { return of.sentence; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.creator; }},
        {"match", kText, kEveryone, [](Of of) -> Value { return of.match; }},
        {"order_id", kText, kEveryone, [](Of of) -> Value { return of.order; }}};
    return list;
}

/// Collects hits, each once. A code is a hit for each of its owners, whom the sentence names.
class Hits {
public:
    explicit Hits(Read& read)
        : read_(read), judge_(read.ledger), names_(read.ledger, read.grant.account) {}

    [[nodiscard]] bool is_full() const noexcept { return page_.rows.size() >= kHitsMax; }
    [[nodiscard]] Page take() && {
        page_.extras.emplace_back("searched", std::move(searched_));
        return std::move(page_);
    }

    void add(const char* match, const char* kind, const std::string& id, Json shop,
             const std::string& sentence, Json creator = {}) {
        add(HitOf{kind, id, std::move(shop), sentence, std::move(creator), match});
    }
    /// Notes what was compared with the text.
    void note_searched(std::string what) { searched_.push_back(Json(std::move(what))); }
    /// @param commission  What the order was found by, or nothing if that is not its commission.
    void add_order(const char* match, const ShopRow& shop, const OrderState& order,
                   const std::optional<Money>& commission = std::nullopt) {
        const std::string status(judge_.status(order, read_.now));
        const std::string amount =
            (commission ? "commission " + to_string(*commission) + " of " : "") + order.amount +
            " " + std::string(order.currency.code());
        const std::string creator =
            order.live ? names_.shown(shop.account, order.position()->attribution.creator).str()
                       : "";
        add(match, "order", order.key.order_id.str(), shop.shop_id.str(),
            amount + (creator.empty() ? ", no creator" : ", creator " + creator) + ", " + status,
            text_or_null(creator));
    }
    void add_creator(const char* match, const CreatorRow& row) {
        const std::string shown = names_.shown(row.account, row.creator).str();
        add(match, "creator", shown, Json(), row.name.empty() ? "creator " + shown : row.name,
            shown);
    }
    void add_payout(const char* match, const Payout& payout) {
        add(match, "payout", payout.payout_id, Json(),
            payout.amount.to_string() + " " + std::string(payout.currency.code()) + " for " +
                names_.shown(payout.account, payout.creator).str() + ", " +
                std::string(to_string(payout.state)) +
                (payout.bank_ref.empty() ? "" : ", bank reference " + payout.bank_ref));
    }
    /// Adds a command that took effect, with the order or the creator that shows its effect.
    void add_command(const char* match, const MoneyCommand& command) {
        const std::string sentence = std::string(to_string(command.topic)) + " of " +
                                     command.amount.to_string() + " " +
                                     std::string(command.currency.code());
        add(HitOf{"command", command.command_id, text_or_null(command.shop_id.str()), sentence,
                  text_or_null(names_.shown(command.account, command.creator).str()), match,
                  text_or_null(command.order_id.str())});
    }
    void add_link(const char* match, const LinkRow& link) {
        const std::string creator = names_.shown(link.account, link.creator).str();
        add(match, "link", link.link.str(), Json(),
            "link of " + creator + " in " + link.program.str() +
                (link.state == LinkState::kActive
                     ? ""
                     : ", " + std::string(lists::to_string(link.state))),
            creator);
    }
    void add_code(const char* match, const CodeRow& owner) {
        const std::string creator = names_.shown(owner.account, owner.creator).str();
        add(match, "code", owner.code, Json(),
            "code of " + creator + " in " + owner.program.str() + " from " +
                owner.valid_from.to_string() +
                (owner.valid_until ? " until " + owner.valid_until->to_string() : ""),
            creator);
    }

private:
    void add(const HitOf& hit) {
        const std::string key = join_key({std::string(hit.kind), hit.shop.cell(),
                                          std::string(hit.id), std::string(hit.sentence)});
        if (seen_.insert(key).second && page_.rows.size() < kHitsMax) {
            page_.rows.push_back(search_list().row(hit));
        }
    }

    Read& read_;
    OrderJudge judge_;
    lists::CreatorNames names_;
    std::set<std::string> seen_;
    Json searched_ = Json::array();
    Page page_;
};

/// Adds the orders that the ledger has. They are read together.
void add_orders(const char* match, Read& read, const Shops& shops,
                const std::vector<OrderKey>& keys, Hits& hits) {
    read.ledger.expect_orders(keys);
    OrderState order;
    for (const OrderKey& key : keys) {
        const ShopRow* const shop = shops.find(key.shop);
        if (shop != nullptr && read.ledger.load_order(key, order)) {
            hits.add_order(match, *shop, order);
        }
    }
}

void find_orders(Read& read, const Shops& shops, const std::string& text, bool exact, Hits& hits) {
    if (!exact) {
        if (!hits.is_full()) {
            add_orders(kBeginning, read, shops,
                       paged(read.ledger)
                           .orders_beginning(read.grant.account, shops.numbers(), text, kHitsMax),
                       hits);
        }
        return;
    }
    const auto keys = mapped(shops.numbers(), [&](ShopNumber shop) {
        return OrderKey{read.grant.account, shop, OrderId(text)};
    });
    add_orders(kExact, read, shops, keys, hits);
}

/// Orders with this number.
void find_order_numbers(Read& read, const Shops& shops, const std::string& text, Hits& hits) {
    if (!is_order_number(text)) {
        return;
    }
    std::vector<OrderKey> keys;
    for (const ShopNumber shop : shops.numbers()) {
        const OrderByNumber first{read.grant.account, shop, order_number_digest(text), OrderId()};
        read.ledger.scan(first, {3, 3}, [&keys](const OrderByNumber& row) {
            keys.push_back({row.account, row.shop, row.order_id});
            return keys.size() < kHitsMax;
        });
    }
    add_orders(kExact, read, shops, keys, hits);
}

/// Orders with the text in the middle of their id, of the newest.
void find_order_parts(Read& read, const Shops& shops, const TextPart& part, Hits& hits) {
    constexpr std::size_t kAtOnce = 1000;
    lists::OrderListing listing{read.grant.account};
    std::vector<OrderKey> keys;
    for (std::size_t seen = 0; seen < kOrderIdsMax && keys.size() < kHitsMax; seen += kAtOnce) {
        const auto places = lists::order_places(read.ledger, listing, kAtOnce);
        for (const lists::OrderPlace& place : places) {
            if (part.is_in(place.order_id.view()) && keys.size() < kHitsMax) {
                keys.push_back({read.grant.account, place.shop, place.order_id});
            }
        }
        if (places.size() < kAtOnce) {
            break;
        }
        listing.after = places.back();
    }
    add_orders(kPart, read, shops, keys, hits);
}

/// Orders and payouts of an amount, of the newest.
void find_amount(Read& read, const Shops& shops, const Money& money, Hits& hits) {
    const AccountNumber account = read.grant.account;
    const auto places = lists::order_places(read.ledger, {account}, kOrdersMax);
    lists::visit_places(read.ledger, account, places, [&](const OrderState& order) {
        const ShopRow* const shop = shops.find(order.key.shop);
        const auto sale = Decimal::parse(order.amount);
        const Money commission = commission_amount(order);
        const bool is_sale = sale && order.currency == money.currency && *sale == money.amount;
        const bool is_commission = order.live && commission.currency == money.currency &&
                                   commission.amount == money.amount;
        if (shop != nullptr && (is_sale || is_commission)) {
            hits.add_order(kByAmount, *shop, order,
                           is_sale ? std::nullopt : std::optional(commission));
        }
        return !hits.is_full();
    });
    hits.note_searched("amounts and commissions of the newest " + std::to_string(kOrdersMax) +
                       " orders");
}

/// Payouts with the amount, or with the text in their bank reference.
void find_payouts(Read& read, const std::optional<Money>& money, const TextPart& part, Hits& hits) {
    std::vector<Payout> found;
    const auto ids = lists::newest_payout_ids(read.ledger, read.grant.account, kPayoutsMax);
    lists::visit_payouts(read.ledger, ids, [&](const Payout& payout) {
        const bool has_amount =
            money && payout.currency == money->currency && payout.amount == money->amount;
        const bool has_reference =
            !money && !payout.bank_ref.empty() && part.is_in(payout.bank_ref);
        if (has_amount || has_reference) {
            found.push_back(payout);
        }
        return found.size() < kHitsMax;
    });
    for (const Payout& payout : found) {
        hits.add_payout(money ? kByAmount : kReference, payout);
    }
    hits.note_searched(std::string(money ? "amounts" : "bank references") + " of the newest " +
                       std::to_string(kPayoutsMax) + " payouts");
}

void find_creators(Read& read, const std::string& text, bool exact, Hits& hits) {
    CreatorRow row{read.grant.account, CreatorId(text), {}, {}, {}};
    if (exact) {
        row.creator = first_id(read.ledger, read.grant.account, row.creator);
        if (read.ledger.load(row)) {
            hits.add_creator(kExact, row);
        }
        return;
    }
    read.ledger.scan(row, {1, 2}, [&](const CreatorRow& found) {
        if (!found.creator.view().starts_with(text) || hits.is_full()) {
            return false;
        }
        hits.add_creator(kBeginning, found);
        return true;
    });
}

/// Creators with the text in their name or in one of their ids, and codes that have it.
void find_people(Read& read, const TextPart& part, Hits& hits) {
    std::vector<CreatorRow> creators;
    read.ledger.scan(CreatorRow{read.grant.account, {}, {}, {}, {}}, {1, 1},
                     [&](const CreatorRow& row) {
                         if (part.is_in(row.name) || part.is_in(row.creator.view()) ||
                             part.is_in(row.shown_as.view())) {
                             creators.push_back(row);
                         }
                         return creators.size() < kHitsMax;
                     });
    for (const CreatorRow& row : creators) {
        hits.add_creator(kPart, row);
    }
    std::vector<CodeRow> codes;
    for (const ProgramRow& program : read.ledger.programs(read.grant.account)) {
        read.ledger.scan_codes(read.grant.account, program.program.id, [&](const CodeRow& code) {
            if (part.is_in(code.code)) {
                codes.push_back(code);
            }
            return codes.size() < kHitsMax;
        });
    }
    for (const CodeRow& code : codes) {
        hits.add_code(kPart, code);
    }
}

/// Returns how an id matches, or null.
const char* match_of(std::string_view id, const std::string& text, const TextPart& part) {
    return id == text                                ? kExact
           : id.starts_with(text)                    ? kBeginning
           : part.is_long_enough() && part.is_in(id) ? kPart
                                                     : nullptr;
}

void find_link(Read& read, const std::string& text, Hits& hits) {
    LinkRow link{LinkId(text)};
    if (is_link_id(text) && read.ledger.load(link) && link.account == read.grant.account) {
        hits.add_link(kExact, link);
    }
}

/// Links with the text in their id.
void find_link_parts(Read& read, const std::string& text, const TextPart& part, Hits& hits) {
    std::vector<lists::LinkPlace> places;
    read.ledger.scan(LinkByCreator{read.grant.account, {}}, {1, 1}, [&](const LinkByCreator& row) {
        if (part.is_in(row.link.view())) {
            places.push_back({row.creator, row.link});
        }
        return places.size() < kHitsMax;
    });
    for (const LinkRow& link : lists::links_at(read.ledger, places)) {
        hits.add_link(match_of(link.link.view(), text, part), link);
    }
}

void find_shops_and_programs(Read& read, const std::string& text, const TextPart& part,
                             Hits& hits) {
    for (const store::RegisteredShop& shop : registered_shops(read)) {
        if (const char* const how = match_of(shop.shop_id.view(), text, part)) {
            hits.add(how, "shop", shop.shop_id.str(), shop.shop_id.str(),
                     shop.suspended ? "shop, suspended" : "shop");
        }
    }
    for (const ProgramRow& row : read.ledger.programs(read.grant.account)) {
        if (const char* const how = match_of(row.program.id.view(), text, part)) {
            hits.add(how, "program", row.program.id.str(), Json(), "program");
        }
    }
}

/// The code's owners with their dates, and the newest orders that carry it, with or without a
/// creator.
void find_code(Read& read, const Shops& shops, const std::string& text, Hits& hits) {
    const Digest256 digest = code_digest(text);
    for (const CodeRow& owner : read.ledger.code_owners(read.grant.account, digest)) {
        if (!owns_nothing(owner)) {
            hits.add_code(kExact, owner);
        }
    }
    const AccountNumber account = read.grant.account;
    const auto places = lists::order_places(read.ledger, {account, {}, text}, kHitsMax);
    lists::visit_places(read.ledger, account, places, [&](const OrderState& order) {
        const ShopRow* const shop = shops.find(order.key.shop);
        if (shop != nullptr && has_code(order, digest)) {
            hits.add_order(kCode, *shop, order);
        }
    });
}

/// Payouts; and for a caller with read_ledger, payout runs and commands.
void find_ids(Read& read, const std::string& text, Hits& hits) {
    Payout payout{text};
    if (read.ledger.load(payout) && payout.account == read.grant.account) {
        hits.add_payout(kExact, payout);
    }
    if (!read.sees_ledger()) {
        return;
    }
    PayoutRun run{text};
    if (read.ledger.load(run) && run.account == read.grant.account) {
        hits.add(
            kExact, "payout_run", text, Json(),
            std::to_string(run.payouts_count) + " payouts, closed on " + run.closed_at.to_string());
    }
    PendingApproval pending{read.grant.account, text};
    MoneyCommand money{text};
    if (read.ledger.load(pending)) {
        hits.add(kExact, "command", text, Json(), std::string(to_string(pending.topic)));
    } else if (read.ledger.load(money) && money.account == read.grant.account) {
        hits.add_command(kExact, money);
    }
}

Page search(Read& read) {
    const std::string given = read.arguments.required("q");
    // Shops print an order as #8862.
    const std::string text = given.size() > 1 && given.front() == '#' ? given.substr(1) : given;
    const TextPart part(text);
    const auto parsed = parse_money(text);
    const std::optional<Money> money = parsed ? std::optional(*parsed) : std::nullopt;
    Hits hits(read);
    const Shops shops(read);
    find_orders(read, shops, given, true, hits);
    find_orders(read, shops, text, true, hits);
    find_order_numbers(read, shops, given, hits);
    find_creators(read, text, true, hits);
    find_link(read, text, hits);
    if (read.sees_creators()) {
        find_ids(read, text, hits);
    }
    find_code(read, shops, text, hits);
    find_shops_and_programs(read, text, part, hits);
    find_creators(read, text, false, hits);
    find_orders(read, shops, text, false, hits);
    hits.note_searched(
        "ids and numbers of orders, ids of creators, links, shops and programs, and discount "
        "codes");
    if (part.is_long_enough() && !hits.is_full()) {
        find_people(read, part, hits);
        find_link_parts(read, text, part, hits);
        find_order_parts(read, shops, part, hits);
        hits.note_searched("parts of names, of codes and links, and of the newest " +
                           std::to_string(kOrderIdsMax) + " order ids");
    }
    if (money && !hits.is_full()) {
        find_amount(read, shops, *money, hits);
    }
    if (read.sees_creators() && part.is_long_enough() && !hits.is_full()) {
        find_payouts(read, money, part, hits);
    }
    return std::move(hits).take();
}

}  // namespace

std::vector<Resource> search_resources() {
    return {Resource(
        "search", kReadOrders,
        "Orders, creators, codes, links, shops, programs, payouts, payout runs and "
        "commands that a text names: by id, by a part of an id or name, by bank reference, "
        "or by an amount",
        {{"q", ValueKind::kText, "Text to look for, such as 8862, ann or 12.50 EUR", true}},
        search_list().columns(), search, kUnpaged, extra("searched", kTexts))};
}

}  // namespace sluice::serve

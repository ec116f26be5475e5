// sluice reconcile

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "core/protocol/order_event.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/named_file.hpp"
#include "tool/reconcile/list_form.hpp"
#include "tool/reconcile/listed_id.hpp"
#include "tool/reconcile/listed_orders.hpp"
#include "tool/reconcile/order_list.hpp"
#include "tool/reconcile/verdict.hpp"
#include "tool/shops/source_options.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kOrdersAtOnce = 256;
constexpr std::uint64_t kSettleSeconds = 600;

struct ReconcileCommand {
    std::string file, events_file, ledger;
    std::string header_prefix = "X-SVC-";
    ShopId shop;
    std::optional<Timestamp> since, until;
    ListMap map;
    OrderSource source;
    std::optional<char> separator;
    std::uint64_t settle_seconds = kSettleSeconds;
    unsigned classes = (1U << kListedClasses) - 1;  ///< Bits 1 << OrderClass.
    bool check = false, no_wait = false;
    Format format = Format::kTable;

    [[nodiscard]] bool lists(OrderClass kind) const {
        return (classes & (1U << static_cast<unsigned>(kind))) != 0;
    }
};

Result<unsigned> parse_classes(std::string_view text) {
    unsigned classes = 0;
    while (!text.empty()) {
        const std::string_view name = text.substr(0, text.find(','));
        text.remove_prefix(std::min(name.size() + 1, text.size()));
        const auto* const end = kClassNames.begin() + kListedClasses;
        const auto* const known = std::find(kClassNames.begin(), end, name);
        if (known == end) {
            return invalid(
                "expected missing, stale, newer, different, extra, unreadable, or several "
                "of them with commas");
        }
        classes |= 1U << static_cast<unsigned>(known - kClassNames.begin());
    }
    return classes;
}

// ---- The comparison -----------------------------------------------------------------------------

class Comparison {
public:
    Comparison(const ReconcileCommand& command, const store::RegisteredShop& shop,
               LedgerReader& ledger, OrderList& list, std::optional<OutputFile>& events)
        : command_(command),
          shop_(shop),
          ledger_(ledger),
          list_(list),
          events_(events),
          settled_until_(now().plus_seconds(-static_cast<std::int64_t>(command.settle_seconds))),
          listing_(command.format,
                   left("class") + right("line") + left("order_id field file ledger note")) {}

    Status run() {
        for (bool more = true; more;) {
            auto read = read_batch();
            if (!read.ok()) {
                return read.error();
            }
            more = *read;
            if (Status judged = judge_batch(); !judged.ok()) {
                return judged;
            }
        }
        if (command_.since) {
            list_extra();
        }
        listing_.finish();
        return Status::success();
    }

    [[nodiscard]] std::string summary() const {
        std::string text;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            text += (i == 0 ? "" : ", ") + grouped(counts_[i]) + " " + std::string(kClassNames[i]);
        }
        return text;
    }
    [[nodiscard]] bool agrees() const {
        return count(OrderClass::kMissing) + count(OrderClass::kStale) +
                   count(OrderClass::kDifferent) + count(OrderClass::kExtra) +
                   count(OrderClass::kUnreadable) ==
               0;
    }
    [[nodiscard]] std::uint64_t unsent() const noexcept { return unsent_; }

private:
    [[nodiscard]] std::uint64_t count(OrderClass kind) const {
        return counts_[static_cast<std::size_t>(kind)];
    }

    /// Returns false at the end of the list.
    Result<bool> read_batch() {
        batch_.resize(kOrdersAtOnce);
        std::size_t filled = 0;
        for (; filled < kOrdersAtOnce; ++filled) {
            const auto got = list_.next(batch_[filled]);
            if (!got.ok()) {
                return got.error();
            }
            if (!*got) {
                break;
            }
        }
        batch_.resize(filled);
        return filled == kOrdersAtOnce;
    }

    Status judge_batch() {
        load_batch();
        find_longer_ids();
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            const ListedOrder& listed = batch_[i];
            if (command_.since) {
                if (listed_.is_full()) {
                    return Error{ErrorCode::kLimit,
                                 "the file has more than 10,000,000 orders: split it by --since "
                                 "and --until, or leave them out"};
                }
                listed_.add_id(listed.order_id);
                listed_.add_id(listed.plain_id);
            }
            if (!listed.problem.empty()) {
                list_unreadable(listed);
                continue;
            }
            if (is_repeated_[i]) {
                continue;
            }
            const OrderVerdict verdict =
                judge(listed, stored_[i] ? &*stored_[i] : nullptr, settled_until_);
            if (Status listed_it = list_verdict(listed, verdict); !listed_it.ok()) {
                return listed_it;
            }
        }
        return Status::success();
    }

    [[nodiscard]] OrderKey key_of(std::string_view id) const {
        return {shop_.account_number, shop_.number, OrderId(id)};
    }

    /// Loads the ledger's orders, each under the id without what exports write around it if the
    /// ledger has none under the id itself.
    void load_batch() {
        std::vector<OrderKey> keys;
        for (const ListedOrder& listed : batch_) {
            for (const std::string& id : {listed.order_id, listed.plain_id}) {
                if (!id.empty()) {
                    keys.push_back(key_of(id));
                }
            }
        }
        ledger_.expect_orders(keys);
        stored_.assign(batch_.size(), std::nullopt);
        is_repeated_.assign(batch_.size(), false);
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            ListedOrder& listed = batch_[i];
            is_repeated_[i] = listed.problem.empty() && is_repeated(listed);
            if (!listed.problem.empty() || is_repeated_[i]) {
                continue;
            }
            OrderState state;
            bool known = ledger_.load_order(key_of(listed.order_id), state);
            if (!known && !listed.plain_id.empty()) {
                listed.order_id = listed.plain_id;
                known = ledger_.load_order(key_of(listed.order_id), state);
            }
            if (known) {
                stored_[i] = std::move(state);
            } else if (const auto rounding = rounding_of(listed.order_id)) {
                refuse_id(listed, *rounding);
            }
        }
    }

    /// A row for each item of an order repeats what the order is. One that says something else
    /// cannot be read.
    bool is_repeated(ListedOrder& listed) {
        const ListedOrders::Seen seen = listed_.add(listed);
        if (seen.as == ListedOrders::Seen::As::kOther) {
            listed.problem =
                "line " + std::to_string(seen.line) + " has other values of this order";
        }
        return seen.as == ListedOrders::Seen::As::kSame;
    }

    /// Finds the orders of which a spreadsheet removed the zeros in front of the id.
    void find_longer_ids() {
        std::vector<OrderKey> keys;
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            if (batch_[i].problem.empty() && !stored_[i] && !is_repeated_[i]) {
                for (const std::string& id : ids_with_zeros(batch_[i].order_id)) {
                    keys.push_back(key_of(id));
                    rows.push_back(i);
                }
            }
        }
        ledger_.expect_orders(keys);
        OrderState state;
        for (std::size_t k = 0; k < keys.size(); ++k) {
            ListedOrder& listed = batch_[rows[k]];
            if (listed.problem.empty() && ledger_.load_order(keys[k], state)) {
                listed.plain_id = keys[k].order_id.str();
                refuse_id(listed, "the ledger has " + listed.plain_id +
                                      ": a spreadsheet removes such zeros; export the ids as text");
            }
        }
    }

    static void refuse_id(ListedOrder& listed, std::string why) {
        listed.problem = std::move(why);
        listed.bad_field = name_of(ListField::kId);
    }

    void add(OrderClass kind, Row row) {
        row.insert(row.begin(), Json(to_string(kind)));
        listing_.add(row);
    }

    void list_unreadable(const ListedOrder& listed) {
        ++counts_[static_cast<std::size_t>(OrderClass::kUnreadable)];
        if (command_.lists(OrderClass::kUnreadable)) {
            add(OrderClass::kUnreadable,
                {listed.line, text_or_null(listed.order_id), text_or_null(listed.bad_field),
                 text_or_null(listed.bad_value), Json(), listed.problem});
        }
    }

    Status list_verdict(const ListedOrder& listed, const OrderVerdict& verdict) {
        ++counts_[static_cast<std::size_t>(verdict.kind)];
        if (!command_.lists(verdict.kind)) {
            return Status::success();
        }
        std::string note;
        if (events_ &&
            (verdict.kind == OrderClass::kMissing || verdict.kind == OrderClass::kStale)) {
            if (Status written = write_event(listed, note); !written.ok()) {
                return written;
            }
        }
        for (const FieldDifference& one : verdict.differences) {
            add(verdict.kind, {listed.line, listed.order_id, one.field, one.listed, one.stored,
                               text_or_null(note)});
        }
        if (verdict.differences.empty()) {
            add(verdict.kind,
                {listed.line, listed.order_id, Json(), Json(), Json(), text_or_null(note)});
        }
        return Status::success();
    }

    /// Writes a whole payload. One that the server would refuse is noted instead.
    Status write_event(const ListedOrder& listed, std::string& note) {
        if (parser_.parse(listed.payload, Topic::kOrderCreate, {}) == nullptr) {
            const FieldError& error = parser_.errors().front();
            note = "not written: " + error.field + ": " + error.message;
            ++unsent_;
            return Status::success();
        }
        return events_->write(listed.payload + "\n");
    }

    void list_extra() {
        ledger_.scan_orders(shop_.account_number, shop_.number, [this](const OrderState& order) {
            if (order.ordered_at >= *command_.since && order.ordered_at < *command_.until &&
                !listed_.has(order.key.order_id.view())) {
                const OrderClass kind =
                    order.version > settled_until_ ? OrderClass::kRecent : OrderClass::kExtra;
                ++counts_[static_cast<std::size_t>(kind)];
                if (command_.lists(kind)) {
                    add(kind, {Json(), order.key.order_id.str(), name_of(ListField::kOrderedAt),
                               Json(), order.ordered_at.to_string(), Json()});
                }
            }
        });
    }

    const ReconcileCommand& command_;
    const store::RegisteredShop& shop_;
    LedgerReader& ledger_;
    OrderList& list_;
    std::optional<OutputFile>& events_;
    Timestamp settled_until_;
    Listing listing_;
    OrderEventParser parser_;
    std::vector<ListedOrder> batch_;
    std::vector<std::optional<OrderState>> stored_;  ///< The ledger's orders of the batch.
    std::vector<bool> is_repeated_;                  ///< Rows that repeat another one.
    ListedOrders listed_;
    std::array<std::uint64_t, kClassNames.size()> counts_{};
    std::uint64_t unsent_ = 0;
};

// ---- The subcommand -------------------------------------------------------------------------

Status check_options(const ReconcileCommand& command, const OrderList& list) {
    if (command.since && *command.since >= *command.until) {
        return invalid("expected --since before --until");
    }
    if (!command.events_file.empty() && !list.has_payloads()) {
        return invalid(command.file +
                       ": --write-events needs the whole orders: use a file of NDJSON payloads");
    }
    return Status::success();
}

Status report(const ReconcileCommand& command, const OrderList& list,
              const Comparison& comparison) {
    const std::string text = comparison.summary();
    const std::vector<std::string> empty = list.columns_without_values(command.map);
    for (const std::string& column : empty) {
        std::fprintf(stderr,
                     "sluice: warning: no row has a value in '%s', which --map names: it was not "
                     "compared\n",
                     printable(column).c_str());
    }
    if (comparison.unsent() != 0) {
        std::fprintf(stderr, "sluice: %s orders were not written: their rows are no whole orders\n",
                     grouped(comparison.unsent()).c_str());
    }
    if (command.check && (!comparison.agrees() || !empty.empty())) {
        return conflict(command.file + ": " + text);
    }
    std::fprintf(command.format == Format::kTable ? stdout : stderr, "%s\n", text.c_str());
    return Status::success();
}

/// @param left_out  Counts the orders of a platform's file that are not compared.
Result<std::unique_ptr<OrderList>> open_list(const ReconcileCommand& command,
                                             const store::RegisteredShop& shop, LeftOut& left_out) {
    if (command.source.platform == Platform::kNone) {
        return open_order_list(command.file, command.map, command.separator);
    }
    if (shop.source.platform != Platform::kNone &&
        shop.source.platform != command.source.platform) {
        return invalid("shop " + command.shop.str() + " is on " +
                       std::string(to_string(shop.source.platform)));
    }
    OrderSource source = command.source;
    source.settings = shop.source.settings;
    return open_platform_list(command.file, source, anon_field_name(command.header_prefix),
                              left_out);
}

Status run_reconcile(const Frame& frame, const ReconcileCommand& command) {
    const auto shop = ask_registry(
        frame, [&](store::Registry& registry) { return find_shop(registry, command.shop); });
    if (!shop.ok()) {
        return shop.error();
    }
    LeftOut left_out;
    auto list = open_list(command, *shop, left_out);
    if (Status fits = list.ok() ? check_options(command, **list) : list.error(); !fits.ok()) {
        return fits;
    }
    std::optional<OutputFile> events;
    if (!command.events_file.empty()) {
        if (Status created = assign(events, OutputFile::create(command.events_file));
            !created.ok()) {
            return created;
        }
    }
    if (!command.no_wait) {
        if (Status applied = wait_for_inputs(frame, command.ledger); !applied.ok()) {
            return applied;
        }
    }
    return with_snapshot(frame, command.ledger, ReadFrom::kPrimary,
                         [&](LedgerReader& ledger) -> Status {
                             Comparison comparison(command, *shop, ledger, **list, events);
                             if (Status done = comparison.run(); !done.ok()) {
                                 return done;
                             }
                             if (events) {
                                 if (Status placed = events->place(); !placed.ok()) {
                                     return placed;
                                 }
                                 events->keep();
                             }
                             left_out.print();
                             return report(command, **list, comparison);
                         });
}

}  // namespace

void declare_reconcile(Subcommand app) {
    auto [reconcile, command] = add_command(
        app, "reconcile", "Compare a shop's own list of orders with the ledger", run_reconcile);
    add_file(reconcile, "FILE", "FILE", command.file, FileUse::kInput,
             "The shop's orders: CSV with a header line, or NDJSON of order payloads")
        .required();
    add_id(reconcile, "--shop", "S", command.shop, "Shop").required();
    const Option since =
        add_value(reconcile, "--since", "T", command.since, parse_time,
                  "Also list the ledger's orders from T on that are not in the file");
    const Option until = add_value(reconcile, "--until", "T", command.until, parse_time,
                                   "End of these orders, itself left out");
    since.needs(until);
    until.needs(since);
    const Option source = add_source(reconcile, command.source);
    const Option map =
        add_value(reconcile, "--map", "FIELD=COLUMN,...", command.map, parse_list_map,
                  "Columns of the file that have the payload's fields");
    source.excludes(map);
    add_value(reconcile, "--separator", "CHAR", command.separator, parse_separator,
              "Character between the cells of CSV: ';', tab (default: a comma)");
    add_value(reconcile, "--settle", "D", command.settle_seconds, parse_span,
              "Only count orders that are younger: 10m, 2h, 0s (default: 10m)");
    add_value(reconcile, "--only", "CLASS,...", command.classes, parse_classes,
              "Classes that are listed: missing, stale, newer, different, extra, unreadable "
              "(default: all)");
    add_file(reconcile, "--write-events", "OUT", command.events_file, FileUse::kOutput,
             "Write the payloads of the listed missing and stale orders, for `sluice send events`");
    add_header_prefix(reconcile, command.header_prefix);
    add_flag(reconcile, "--check", command.check,
             "Exit with 1 if a row is missing, stale, different, extra or unreadable, or a mapped "
             "column has no value");
    add_flag(reconcile, "--no-wait", command.no_wait,
             "Do not wait until the inputs that exist now are applied");
    add_ledger(reconcile, command.ledger);
    add_format(reconcile, command.format);
}

}  // namespace sluice::cli

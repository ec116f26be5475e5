// sluice translate
#include <cstdio>
#include <optional>

#include "core/protocol/order_event.hpp"
#include "core/protocol/record.hpp"
#include "core/shops/source_rows.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/shops/source_options.hpp"
#include "tool/shops/stored_orders.hpp"
#include "tool/shops/translated_orders.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

struct TranslateCommand {
    std::string file = "-";
    OrderSource source;
    std::string header_prefix = "X-SVC-";
    std::optional<ShopId> shop;
    bool explain = false;
    Format format = Format::kTable;
    bool stored = false;
    std::optional<Timestamp> since;
    std::optional<std::uint64_t> dead;
    std::string ledger;
};

/// Prints orders, one on each line, or with `--explain` a row for each value that was read.
class OrderOutput {
public:
    explicit OrderOutput(const TranslateCommand& command) {
        if (command.explain) {
            rows_.emplace(command.format,
                          left("order platform_field platform_value field value rule"));
        }
    }

    /// @param name  Names the order among others.
    void add(const std::string& name, std::string_view order) {
        if (!rows_) {
            std::printf("%.*s\n", static_cast<int>(order.size()), order.data());
            return;
        }
        for (const SourceRow& row : source_rows(order)) {
            rows_->add({name, row.platform_field, row.platform_value, text_or_null(row.field),
                        text_or_null(row.value), text_or_null(row.rule)});
        }
    }
    /// Adds an order that has faults, of which the values alone are printed.
    void add_faulty(const std::string& name, std::string_view order) {
        if (rows_) {
            add(name, order);
        }
    }
    void finish() {
        if (rows_) {
            rows_->finish();
        }
    }

private:
    std::optional<Listing> rows_;
};

void print_fault(const std::string& name, const std::string& text) {
    std::fprintf(stderr, "order %s: %s\n", printable(name).c_str(), printable(text).c_str());
}

/// Prints each reason why an order has no translation.
void print_faults(const std::string& name, const Translation& found) {
    if (found.kind == TranslationKind::kUnreadable) {
        print_fault(name, problem_of(found));
    }
    for (const FieldError& fault : found.faults) {
        print_fault(name,
                    fault.field + ": " + std::string(to_string(fault.code)) + ": " + fault.message);
    }
}

/// Prints the order, or why there is none. Returns whether the order could be read.
bool print(const std::string& name, const Translation& found, OrderOutput& out) {
    switch (found.kind) {
        case TranslationKind::kFaults:
        case TranslationKind::kUnreadable:
            print_faults(name, found);
            out.add_faulty(name, found.body);
            return false;
        case TranslationKind::kIgnored:
            print_fault(name, "ignored: " + std::string(to_string(found.ignored)));
            return true;
        case TranslationKind::kOtherShop:
            print_fault(name,
                        "the links of the order are not those of the shop's "
                        "--platform-shop: a webhook of it is refused");
            return true;
        case TranslationKind::kOrder:
        case TranslationKind::kDeletion:
        case TranslationKind::kPrivacy:
            break;
    }
    out.add(name, found.body);
    return true;
}

/// Takes platform and settings from the shop that the command names.
Status read_shop(const Frame& frame, TranslateCommand& command) {
    const auto shop = ask_registry(
        frame, [&](store::Registry& registry) { return find_shop(registry, *command.shop); });
    if (!shop.ok()) {
        return shop.error();
    }
    if (shop->source.platform == Platform::kNone) {
        return invalid("shop " + command.shop->str() +
                       " has no platform: `sluice shop set` names one");
    }
    if (command.source.platform != Platform::kNone &&
        command.source.platform != shop->source.platform) {
        return invalid("shop " + command.shop->str() + " is on " +
                       std::string(to_string(shop->source.platform)));
    }
    command.source.platform = shop->source.platform;
    command.source.settings = shop->source.settings;
    return Status::success();
}

Status translate_file(const TranslateCommand& command) {
    auto orders = TranslatedOrders::open(command.file, command.source,
                                         anon_field_name(command.header_prefix));
    if (!orders.ok()) {
        return orders.error();
    }
    OrderOutput out(command);
    std::uint64_t wrong = 0;
    Translation found;
    while (orders->next(found)) {
        wrong += print(std::to_string(orders->number()), found, out) ? 0U : 1U;
    }
    out.finish();
    return wrong == 0 ? Status::success()
                      : invalid(std::to_string(wrong) + " orders cannot be read");
}

Status translate_stored(const Frame& frame, const TranslateCommand& command) {
    const auto fixes =
        find_fixes(frame.paths(), *command.shop, command.source.settings, command.since);
    if (!fixes.ok()) {
        return fixes.error();
    }
    OrderOutput out(command);
    for (const auto& [order_id, order] : fixes->orders) {
        out.add(order_id, order);
    }
    out.finish();
    std::string words = std::to_string(fixes->orders.size()) + " of " +
                        std::to_string(fixes->read) + " orders are read otherwise today";
    const auto add = [&words](std::uint64_t count, const char* what) {
        words += count == 0 ? "" : "; " + std::to_string(count) + what;
    };
    add(fixes->without_values, " kept no values");
    add(fixes->with_faults, " cannot be read today");
    add(fixes->otherwise, " would be ignored or deleted today");
    std::fprintf(stderr, "sluice: %s\n", words.c_str());
    return Status::success();
}

Result<DeadLetter> find_letter(const Frame& frame, const TranslateCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Result<DeadLetter> {
        auto letter = ledger.dead_letter({*command.dead});
        return letter ? Result(*std::move(letter))
                      : not_found("there is no dead letter " + std::to_string(*command.dead));
    });
}

Status translate_dead(const Frame& frame, TranslateCommand& command) {
    const auto letter = find_letter(frame, command);
    if (!letter.ok()) {
        return letter.error();
    }
    const std::string letter_name = "dead letter " + std::to_string(*command.dead);
    const std::string name = "of " + letter_name;
    const auto record = decode_record(letter->record);
    if (!record.ok() || !record->meta.source || !is_order(record->meta.topic)) {
        return invalid(letter_name + " is not an order of a platform");
    }
    command.shop = ShopId(letter->shop_id);
    if (Status known = read_shop(frame, command); !known.ok()) {
        return known;
    }
    StoredTranslator translator;
    const AgainKind kind =
        translator.translate(*record->meta.source,
                             record->meta.bulk ? std::string_view(letter->bulk_body) : record->body,
                             command.source.settings);
    OrderOutput out(command);
    switch (kind) {
        case AgainKind::kOrder:
            out.add(name, translator.body());
            out.finish();
            return Status::success();
        case AgainKind::kFaults:
            print_faults(name, translator.translation());
            out.add_faulty(name, translator.body());
            out.finish();
            return invalid(
                "the order cannot be read: correct it in the shop, which sends it again");
        case AgainKind::kNoValues:
        case AgainKind::kOtherwise:
            break;
    }
    return invalid(letter_name + (kind == AgainKind::kNoValues
                                      ? " kept no values: correct the order in the shop"
                                      : " would be ignored or deleted today"));
}

Status run_translate(const Frame& frame, const TranslateCommand& given) {
    TranslateCommand command = given;
    if (command.dead) {
        return translate_dead(frame, command);
    }
    if (command.shop) {
        if (Status known = read_shop(frame, command); !known.ok()) {
            return known;
        }
    }
    return command.stored ? translate_stored(frame, command) : translate_file(command);
}

}  // namespace

void declare_translate(Subcommand app) {
    auto [translate, command] =
        add_command(app, "translate", "Print how a platform's orders are read, in our own format",
                    run_translate);
    const Option file =
        add_file(translate, "FILE", "", command.file, FileUse::kInput,
                 "Body of a webhook, or orders of the platform's API (default: standard input)");
    const Option source = add_source(translate, command.source);
    const Option topic = add_text(translate, "--topic", "T", command.source.topic,
                                  "Topic of the webhook, such as orders/delete (default: an "
                                  "updated order)");
    const Option shop = add_id(translate, "--shop", "S", command.shop,
                               "Shop of the store, whose platform and settings count");
    add_header_prefix(translate, command.header_prefix);
    const Option stored = add_flag(translate, "--stored", command.stored,
                                   "Translate again what the store keeps: print the orders of "
                                   "--shop that are read otherwise today, or the one of --dead");
    const Option since = add_value(translate, "--since", "T", command.since, parse_time,
                                   "Only orders received since then");
    const Option dead = add_count(translate, "--dead", "SEQ", command.dead, 1, UINT64_MAX,
                                  "The dead letter of this number");
    const Option explain = add_flag(translate, "--explain", command.explain,
                                    "Print a row for each value: where it went, and by which rule");
    add_format(translate, command.format, "Output format of --explain (default: table)")
        .needs(explain);
    add_ledger(translate, command.ledger).needs(dead);
    stored.excludes(file).excludes(source).excludes(topic);
    since.needs(stored).needs(shop);
    dead.needs(stored).excludes(shop);
    translate.require([source, shop, stored, dead] {
        if (stored.is_given()) {
            return shop.is_given() || dead.is_given() ? "" : "--stored with --shop or --dead";
        }
        return source.is_given() || shop.is_given() ? "" : "one of --source, --shop";
    });
}

}  // namespace sluice::cli

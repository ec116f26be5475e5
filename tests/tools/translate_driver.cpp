// Translates one line of standard input after the other, for tests/model/test_shop_translation.py:
// the fields of a request and of its settings, separated by tabs, the body last. Each gets a line
// of JSON.
#include <array>
#include <iostream>
#include <string>

#include "core/json/writer.hpp"
#include "core/shops/translator.hpp"

namespace {

constexpr std::array kKinds{"order",  "deletion",   "privacy",   "ignored",
                            "faults", "other_shop", "unreadable"};

enum Field : std::size_t {
    kPlatform,
    kTopic,
    kTriggeredAt,
    kFromFile,
    kFrom,
    kPlatformShop,
    kPresentment,
    kTestOrders,
    kGiftCards,
    kBody,
    kFieldCount,
};

std::array<std::string_view, kFieldCount> fields_of(std::string_view line) {
    std::array<std::string_view, kFieldCount> fields;
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
        const std::size_t tab = line.find('\t');
        fields[i] = line.substr(0, tab);
        line = line.substr(tab + 1);
    }
    fields.back() = line;
    return fields;
}

}  // namespace

int main() {
    sluice::Translator translator;
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto fields = fields_of(line);
        sluice::SourceRequest request;
        request.platform = *sluice::parse_name<sluice::Platform>(fields[kPlatform]);
        request.topic = fields[kTopic];
        request.body = fields[kBody];
        request.anon_field = "svc_anon_id";
        request.triggered_at = sluice::Timestamp::parse(fields[kTriggeredAt]);
        request.is_from_file = fields[kFromFile] == "1";
        sluice::SourceSettings settings;
        settings.from = sluice::Timestamp::parse(fields[kFrom]);
        settings.platform_shop = std::stoull(std::string(fields[kPlatformShop]));
        settings.presentment_money = fields[kPresentment] == "1";
        settings.counts_test_orders = fields[kTestOrders] == "1";
        settings.counts_gift_cards = fields[kGiftCards] == "1";
        const sluice::Translation found = translator.translate(request, settings);
        std::string text;
        sluice::JsonWriter json(text);
        json.begin_object().field("kind", kKinds[static_cast<std::size_t>(found.kind)]);
        if (found.kind == sluice::TranslationKind::kIgnored) {
            json.field("ignored", to_string(found.ignored));
        }
        if (!found.body.empty()) {
            json.key("body").raw(found.body);
        }
        json.field("anon_id", found.anon_id).end_object();
        std::cout << text << std::endl;
    }
}

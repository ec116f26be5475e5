// Rows that people's commands and the catalog write.
#include <utility>

#include "core/ledger/valid.hpp"
#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/row_value.hpp"

namespace sluice::store {
namespace {

using Texts = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

std::vector<std::string> strings_of(const Texts* stored) {
    std::vector<std::string> strings;
    if (stored != nullptr) {
        strings.reserve(stored->size());
        for (const flatbuffers::String* text : *stored) {
            strings.emplace_back(view_of(text));
        }
    }
    return strings;
}

bool decode_rate(const fbs::Rate& stored, Rate& rate) {
    rate.kind = static_cast<RateKind>(stored.kind());
    return from_wide(*stored.value(), rate.value) && is_valid(rate) &&
           from_money3(*stored.currency(), rate.currency);
}

bool decode_rule(const fbs::Rule& stored, Rule& rule) {
    rule.match = static_cast<RuleMatch>(stored.match());
    rule.value = view_of(stored.value());
    return stored.match() >= 1 && stored.match() <= 7 && decode_rate(*stored.rate(), rule.rate);
}

}  // namespace

std::string_view RowValue::encode(const CodeRow& code) {
    builder_.Clear();
    const auto as_imported = text(code.code);
    const auto creator = text(code.creator.view());
    return finish(fbs::CreateCode(builder_, as_imported, creator));
}

bool RowValue::decode(std::string_view value, CodeRow& code) {
    const auto* stored = copy_.verified<fbs::Code>(value);
    if (stored == nullptr) {
        return false;
    }
    code.code = view_of(stored->code());
    assign(code.creator, view_of(stored->creator()));
    return true;
}

std::string_view RowValue::encode(const Membership& membership) {
    builder_.Clear();
    return finish(fbs::CreateMembership(builder_, membership.removed, membership.changed_by.value));
}

bool RowValue::decode(std::string_view value, Membership& membership) {
    const auto* stored = copy_.verified<fbs::Membership>(value);
    if (stored == nullptr) {
        return false;
    }
    membership.removed = stored->removed();
    membership.changed_by = {stored->changed_by()};
    return true;
}

std::string_view RowValue::encode(const Touch& touch) {
    builder_.Clear();
    return finish(fbs::CreateTouch(builder_, touch.imported.value, touch.imported_row));
}

bool RowValue::decode(std::string_view value, Touch& touch) {
    const auto* stored = copy_.verified<fbs::Touch>(value);
    if (stored == nullptr) {
        return false;
    }
    touch.imported = {stored->imported()};
    touch.imported_row = stored->imported_row();
    return true;
}

flatbuffers::Offset<fbs::Rate> RowValue::rate(const Rate& rate) {
    const fbs::Wide value = to_wide(rate.value);
    const fbs::Money3 currency = to_money3(rate.currency);
    return fbs::CreateRate(builder_, static_cast<std::uint8_t>(rate.kind), &value, &currency);
}

std::string_view RowValue::encode(const ProgramRow& row) {
    builder_.Clear();
    const Program& program = row.program;
    std::vector<flatbuffers::Offset<fbs::Rule>> rules;
    for (const Rule& rule : program.rules) {
        const auto value = text(rule.value);
        const auto rule_rate = rate(rule.rate);
        rules.push_back(
            fbs::CreateRule(builder_, static_cast<std::uint8_t>(rule.match), value, rule_rate));
    }
    std::vector<std::uint8_t> precedence;
    for (const AttributionType type : program.precedence) {
        precedence.push_back(static_cast<std::uint8_t>(type));
    }
    const auto account_id = text(program.account_id.view());
    const auto shops = builder_.CreateVectorOfStrings(program.shops);
    const auto types = builder_.CreateVector(precedence);
    const auto default_rate = rate(program.default_rate);
    const auto all_rules = builder_.CreateVector(rules);
    const fbs::Instant applied_at = to_instant(row.applied_at);
    return finish(fbs::CreateProgram(builder_, program.account.value, account_id, shops,
                                     program.window_days, static_cast<std::uint8_t>(program.base),
                                     types, program.hold_days, default_rate, all_rules, row.version,
                                     row.applied_by.value, &applied_at));
}

bool RowValue::decode(std::string_view value, ProgramRow& row) {
    const auto* stored = copy_.verified<fbs::Program>(value);
    if (stored == nullptr || stored->base() < 1 || stored->base() > 2) {
        return false;
    }
    Program& program = row.program;
    program.account = {stored->account()};
    assign(program.account_id, view_of(stored->account_id()));
    program.shops = strings_of(stored->shops());
    program.window_days = stored->window_days();
    program.base = static_cast<BaseKind>(stored->base());
    program.hold_days = stored->hold_days();
    row.version = stored->version();
    row.applied_by = {stored->applied_by()};
    row.applied_at = from_instant(*stored->applied_at());
    program.precedence.clear();
    bool ok = decode_rate(*stored->default_rate(), program.default_rate);
    if (stored->precedence() != nullptr) {
        for (const std::uint8_t type : *stored->precedence()) {
            program.precedence.push_back(static_cast<AttributionType>(type));
            ok = ok && (type == 1 || type == 2);
        }
    }
    program.rules.clear();
    if (stored->rules() != nullptr) {
        for (const fbs::Rule* rule : *stored->rules()) {
            ok = ok && decode_rule(*rule, program.rules.emplace_back());
        }
    }
    return ok;
}

std::string_view RowValue::encode(const CatalogRecord& record) {
    builder_.Clear();
    const auto product_id = cut_id(record.key.product_id.view(), kIdBytesWhole);
    const auto json = text(record.json);
    const auto brand = record.brand ? text(*record.brand) : 0;
    const auto collections = builder_.CreateVectorOfStrings(record.collections);
    const auto tags = builder_.CreateVectorOfStrings(record.tags);
    const auto variants = builder_.CreateVectorOfStrings(record.variant_skus);
    return finish(
        fbs::CreateCatalogRecord(builder_, product_id, json, brand, collections, tags, variants));
}

bool RowValue::decode(std::string_view value, CatalogRecord& record) {
    const auto* stored = copy_.verified<fbs::CatalogRecord>(value);
    if (stored == nullptr || !complete_id(record.key.product_id, stored->product_id())) {
        return false;
    }
    record.json = view_of(stored->json());
    record.brand.reset();
    if (stored->brand() != nullptr) {
        record.brand = view_of(stored->brand());
    }
    record.collections = strings_of(stored->collections());
    record.tags = strings_of(stored->tags());
    record.variant_skus = strings_of(stored->variant_skus());
    return true;
}

std::string_view RowValue::encode(const ShopRow& row) {
    builder_.Clear();
    const auto account_id = text(row.account_id.view());
    const auto shop_id = text(row.shop_id.view());
    return finish(fbs::CreateShop(builder_, row.account.value, account_id, shop_id));
}

bool RowValue::decode(std::string_view value, ShopRow& row) {
    const auto* stored = copy_.verified<fbs::Shop>(value);
    if (stored == nullptr) {
        return false;
    }
    row.account = {stored->account()};
    assign(row.account_id, view_of(stored->account_id()));
    assign(row.shop_id, view_of(stored->shop_id()));
    return true;
}

std::string_view RowValue::encode(const Payout& payout) {
    builder_.Clear();
    const auto payout_id = text(payout.payout_id);
    const auto program = text(payout.program.view());
    const auto creator = text(payout.creator.view());
    const auto actor = text(payout.actor);
    const fbs::Money3 currency = to_money3(payout.currency);
    const fbs::Wide amount = to_wide(payout.amount);
    const fbs::Instant until = to_instant(payout.until);
    const fbs::Instant closed_at = to_instant(payout.closed_at);
    return finish(fbs::CreatePayout(builder_, payout_id, payout.account.value, program, creator,
                                    &currency, &amount, &until, &closed_at, payout.orders_count,
                                    actor));
}

bool RowValue::decode(std::string_view value, Payout& payout) {
    const auto* stored = copy_.verified<fbs::Payout>(value);
    if (stored == nullptr) {
        return false;
    }
    payout.payout_id = view_of(stored->payout_id());
    payout.account = {stored->account()};
    assign(payout.program, view_of(stored->program()));
    assign(payout.creator, view_of(stored->creator()));
    payout.until = from_instant(*stored->until());
    payout.closed_at = from_instant(*stored->closed_at());
    payout.orders_count = stored->orders_count();
    payout.actor = view_of(stored->actor());
    return from_money3(*stored->currency(), payout.currency) &&
           from_wide(*stored->amount(), payout.amount);
}

}  // namespace sluice::store

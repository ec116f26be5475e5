#include "pg_store/rows/position_row.hpp"

#include <algorithm>
#include <cstdint>

#include "pg_store/rows/list_columns.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {
namespace {

// ---- Items of positions -------------------------------------------------------------------------

/// An item, and the number of the position that it belongs to.
template <class Item>
struct Numbered {
    std::uint32_t position = 0;
    Item item{};
};
template <class Item>
using Items = std::vector<Item> Position::*;

template <class Item>
std::vector<Numbered<const Item*>> numbered(const std::vector<Position>& positions,
                                            Items<Item> items) {
    std::vector<Numbered<const Item*>> all;
    for (std::uint32_t i = 0; i < positions.size(); ++i) {
        for (const Item& item : positions[i].*items) {
            all.push_back({i + 1, &item});
        }
    }
    return all;
}

template <class All>
void write_positions(RowWriter& row, const All& all) {
    integers(row, all, [](const auto& of) { return of.position; });
}

Position& position_of(std::vector<Position>& positions, std::uint32_t number) {
    if (number == 0 || number > positions.size()) {
        throw_damaged("it has no position " + std::to_string(number));
    }
    return positions[number - 1];
}

template <class Item>
void read_positions(RowReader& row, std::vector<Numbered<Item>>& all) {
    read_first(row, all, [](Numbered<Item>& of, const Field& f) { of.position = u4_of(f); });
}

template <class Item>
void distribute(std::vector<Numbered<Item>>& all, std::vector<Position>& positions,
                Items<Item> items) {
    for (Numbered<Item>& of : all) {
        (position_of(positions, of.position).*items).push_back(std::move(of.item));
    }
}

// ---- Attribution --------------------------------------------------------------------------------

void encode_attributions(const std::vector<Position>& all, RowWriter& row) {
    texts(row, all, [](const Position& p) { return p.attribution.program.view(); });
    texts(row, all, [](const Position& p) { return p.attribution.creator.view(); });
    shorts(row, all, [](const Position& p) { return p.attribution.types; });
    longs(row, all, [](const Position& p) { return p.attribution.cause.value; });
    texts(row, all, [](const Position& p) { return std::string_view(p.attribution.command_id); });
    shorts(row, all, [](const Position& p) { return p.attribution.cause_topic; });
    instants(row, all, [](const Position& p) { return p.attribution.at; });
    list(Type::kBytes, row, all, [](RowWriter& out, const Position& p) {
        out.bytes(pack_candidates(p.attribution.candidates));
    });
}

void decode_attributions(RowReader& row, std::vector<Position>& all) {
    read_first(row, all,
               [](Position& p, const Field& f) { p.attribution.program = id_of<ProgramId>(f); });
    read_next(row, all,
              [](Position& p, const Field& f) { p.attribution.creator = id_of<CreatorId>(f); });
    read_next(row, all, [](Position& p, const Field& f) { p.attribution.types = u1_of(f); });
    read_next(row, all, [](Position& p, const Field& f) { p.attribution.cause = {to_count(f)}; });
    read_next(row, all, [](Position& p, const Field& f) { p.attribution.command_id = to_text(f); });
    read_next(row, all,
              [](Position& p, const Field& f) { p.attribution.cause_topic = to_enum<Topic>(f); });
    read_next_instants(row, all, [](Position& p) -> Timestamp& { return p.attribution.at; });
    read_next(row, all, [](Position& p, const Field& f) {
        p.attribution.candidates = unpack_candidates(to_text(f));
    });
}

void encode_facts(const std::vector<Position>& all, RowWriter& row) {
    list(Type::kNumeric, row, all, [](RowWriter& out, const Position& p) {
        p.facts.volume ? out.numeric(p.facts.volume->amount) : out.null();
    });
    list(Type::kText, row, all, [](RowWriter& out, const Position& p) {
        p.facts.volume ? out.text(p.facts.volume->currency.code()) : out.null();
    });
    shorts(row, all, [](const Position& p) { return p.facts.customer; });
    texts(row, all, [](const Position& p) { return std::string_view(p.facts.group); });
    instants(row, all, [](const Position& p) { return p.last_posted; });
    std::vector<Numbered<const Money*>> caps;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        for (const Money& cap : all[i].facts.caps) {
            caps.push_back({i + 1, &cap});
        }
    }
    write_positions(row, caps);
    texts(row, caps, [](const auto& of) { return of.item->currency.code(); });
    amounts(row, caps, [](const auto& of) { return of.item->amount; });
}

void decode_facts(RowReader& row, std::vector<Position>& all) {
    read_next(row, all, [](Position& p, const Field& f) {
        if (f) {
            p.facts.volume.emplace().amount = to_decimal(f);
        }
    });
    read_next(row, all, [](Position& p, const Field& f) {
        if (f.has_value() != p.facts.volume.has_value()) {
            throw_damaged("a volume has no currency, or a currency no volume");
        }
        if (f) {
            p.facts.volume->currency = to_currency(f);
        }
    });
    read_next(row, all,
              [](Position& p, const Field& f) { p.facts.customer = to_enum<CustomerKind>(f); });
    read_next(row, all, [](Position& p, const Field& f) { p.facts.group = to_text(f); });
    read_next_instants(row, all, [](Position& p) -> Timestamp& { return p.last_posted; });
    std::vector<Numbered<Money>> caps;
    read_positions(row, caps);
    read_next(row, caps, [](auto& of, const Field& f) { of.item.currency = to_currency(f); });
    read_next(row, caps, [](auto& of, const Field& f) { of.item.amount = to_decimal(f); });
    for (const Numbered<Money>& of : caps) {
        position_of(all, of.position).facts.caps.push_back(of.item);
    }
}

// ---- Rates: each is written once, and lines refer to it -----------------------------------------

bool has_currency(const Rate& rate) noexcept {
    return rate.kind == RateKind::kFixed || rate.kind == RateKind::kPerOrder;
}

void encode_rates(const std::vector<FrozenRate>& rates, RowWriter& row) {
    shorts(row, rates, [](const FrozenRate& rate) { return rate.rate.kind; });
    amounts(row, rates, [](const FrozenRate& rate) { return rate.rate.value; });
    texts(row, rates, [](const FrozenRate& rate) {
        return has_currency(rate.rate) ? rate.rate.currency.code() : std::string_view();
    });
    shorts(row, rates, [](const FrozenRate& rate) { return rate.base; });
    shorts(row, rates, [](const FrozenRate& rate) { return rate.match; });
    integers(row, rates, [](const FrozenRate& rate) { return rate.program_version; });
    integers(row, rates, [](const FrozenRate& rate) { return rate.rule; });
    list(Type::kInt2, row, rates, [](RowWriter& out, const FrozenRate& rate) {
        rate.tier ? out.i2(*rate.tier) : out.null();
    });
    integers(row, rates, [](const FrozenRate& rate) { return rate.shared_with; });
}

std::vector<FrozenRate> decode_rates(RowReader& row) {
    std::vector<FrozenRate> rates;
    read_first(row, rates,
               [](FrozenRate& rate, const Field& f) { rate.rate.kind = to_enum<RateKind>(f); });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& f) { rate.rate.value = to_decimal(f); });
    read_next(row, rates, [](FrozenRate& rate, const Field& f) {
        if (has_currency(rate.rate)) {
            rate.rate.currency = to_currency(f);
        } else if (!to_text(f).empty()) {
            throw_damaged("a rate of no amount has a currency");
        }
    });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& f) { rate.base = to_enum<BaseKind>(f); });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& f) { rate.match = to_enum<RuleMatch>(f); });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& f) { rate.program_version = u4_of(f); });
    read_next(row, rates, [](FrozenRate& rate, const Field& f) { rate.rule = u4_of(f); });
    read_next(row, rates, [](FrozenRate& rate, const Field& f) {
        if (f) {
            rate.tier = u1_of(f);
        }
    });
    read_next(row, rates, [](FrozenRate& rate, const Field& f) { rate.shared_with = u4_of(f); });
    return rates;
}

void encode_frozen(const std::vector<Position>& positions, RowWriter& row) {
    std::vector<FrozenRate> rates;
    const auto rate_number = [&rates](const FrozenRate& rate) {
        auto found = std::find(rates.begin(), rates.end(), rate);
        if (found == rates.end()) {
            found = rates.insert(rates.end(), rate);
        }
        return static_cast<std::uint32_t>(found - rates.begin()) + 1;
    };
    const auto all = numbered(positions, &Position::frozen);
    write_positions(row, all);
    texts(row, all, [](const auto& of) { return of.item->line.view(); });
    integers(row, all, [&](const auto& of) { return rate_number(of.item->rate); });
    encode_rates(rates, row);
}

void decode_frozen(RowReader& row, std::vector<Position>& positions) {
    std::vector<Numbered<FrozenLine>> all;
    read_positions(row, all);
    read_next(row, all, [](auto& of, const Field& f) { of.item.line = id_of<LineItemId>(f); });
    std::vector<std::uint64_t> numbers;
    read_next(row, all, [&](auto&, const Field& f) { numbers.push_back(to_count(f)); });
    const std::vector<FrozenRate> rates = decode_rates(row);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (numbers[i] == 0 || numbers[i] > rates.size()) {
            throw_damaged("a line has no such rate");
        }
        all[i].item.rate = rates[numbers[i] - 1];
    }
    distribute(all, positions, &Position::frozen);
}

// ---- Accruals and allocations -------------------------------------------------------------------

void encode_accruals(const std::vector<Position>& positions, RowWriter& row) {
    const auto all = numbered(positions, &Position::accruals);
    write_positions(row, all);
    texts(row, all, [](const auto& of) { return of.item->line.view(); });
    texts(row, all, [](const auto& of) { return of.item->currency.code(); });
    amounts(row, all, [](const auto& of) { return of.item->accrued; });
    amounts(row, all, [](const auto& of) { return of.item->allocated; });
    longs(row, all, [](const auto& of) { return of.item->first_entry; });
}

void decode_accruals(RowReader& row, std::vector<Position>& positions) {
    std::vector<Numbered<LineAccrual>> all;
    read_positions(row, all);
    read_next(row, all, [](auto& of, const Field& f) { of.item.line = id_of<LineItemId>(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.currency = to_currency(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.accrued = to_decimal(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.allocated = to_decimal(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.first_entry = to_count(f); });
    distribute(all, positions, &Position::accruals);
}

void encode_allocations(const std::vector<Position>& positions, RowWriter& row) {
    const auto all = numbered(positions, &Position::payouts);
    write_positions(row, all);
    texts(row, all, [](const auto& of) { return std::string_view(of.item->payout_id); });
    texts(row, all, [](const auto& of) { return of.item->currency.code(); });
    amounts(row, all, [](const auto& of) { return of.item->amount; });
    amounts(row, all, [](const auto& of) { return of.item->commission; });
    flags(row, all, [](const auto& of) { return of.item->has_commission; });
    flags(row, all, [](const auto& of) { return of.item->active; });
}

void decode_allocations(RowReader& row, std::vector<Position>& positions) {
    std::vector<Numbered<PositionPayout>> all;
    read_positions(row, all);
    read_next(row, all, [](auto& of, const Field& f) { of.item.payout_id = to_text(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.currency = to_currency(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.amount = to_decimal(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.commission = to_decimal(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.has_commission = to_boolean(f); });
    read_next(row, all, [](auto& of, const Field& f) { of.item.active = to_boolean(f); });
    distribute(all, positions, &Position::payouts);
}

}  // namespace

void encode_positions(const std::vector<Position>& positions, RowWriter& row) {
    encode_attributions(positions, row);
    encode_facts(positions, row);
    encode_frozen(positions, row);
    encode_accruals(positions, row);
    encode_allocations(positions, row);
}

void decode_positions(RowReader& row, std::vector<Position>& positions) {
    decode_attributions(row, positions);
    decode_facts(row, positions);
    decode_frozen(row, positions);
    decode_accruals(row, positions);
    decode_allocations(row, positions);
}

}  // namespace sluice::pg

#include "worker/read/masks.hpp"

#include <algorithm>
#include <array>

namespace sluice::serve {
namespace {

using reports::Json;

constexpr std::array<std::string_view, 3> kPayees{"payee", "old_payee", "new_payee"};
constexpr std::array<std::string_view, 8> kPrivate{
    "payee", "old_payee", "new_payee", "actor", "note", "reason", "earned", "acknowledged_by"};

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

void mask_one(std::string_view name, Json& value, bool sees_ledger) {
    if (!sees_ledger && std::find(kPrivate.begin(), kPrivate.end(), name) != kPrivate.end()) {
        value = Json();
    } else if (std::find(kPayees.begin(), kPayees.end(), name) != kPayees.end() &&
               !value.is_null()) {
        value = masked_payee(value.cell());
    }
}

}  // namespace

std::string masked_payee(std::string_view payee) {
    constexpr std::string_view kDots = "••••";
    constexpr std::size_t kShown = 4, kShortest = 8;
    const auto count =
        std::count_if(payee.begin(), payee.end(), [](char c) { return !is_continuation(c); });
    if (static_cast<std::size_t>(count) < kShortest) {
        return std::string(kDots);
    }
    std::size_t at = payee.size();
    for (std::size_t shown = 0; shown < kShown; shown += is_continuation(payee[at]) ? 0U : 1U) {
        --at;
    }
    return std::string(kDots) + std::string(payee.substr(at));
}

void mask_members(Json& object, bool sees_ledger) {
    object.change_members(
        [sees_ledger](std::string_view name, Json& value) { mask_one(name, value, sees_ledger); });
}

void mask_approval(Json& approval) {
    bool is_payee = false;
    approval["differences"].change_members([&is_payee](std::string_view name, Json& value) {
        if (name == "field") {
            is_payee = value.cell().ends_with(".payee");
        } else if (is_payee && !value.is_null()) {
            value = masked_payee(value.cell());
        }
    });
    if (approval["command"].cell() != "creator import" || approval["fields"].is_null()) {
        return;
    }
    Json rows = Json::array();
    for (const Json& row : approval["fields"]["rows"].items()) {
        Json masked = Json::array();
        for (const Json& cell : row.items()) {
            const bool is_last = &cell == &row.items().back();  // the payee
            masked.push_back(is_last && !cell.is_null() ? Json(masked_payee(cell.cell())) : cell);
        }
        rows.push_back(std::move(masked));
    }
    approval["fields"]["rows"] = std::move(rows);
}

void mask_cell(std::string_view column, Json& value, bool sees_ledger) {
    mask_one(column, value, sees_ledger);
    mask_members(value, sees_ledger);
}

}  // namespace sluice::serve

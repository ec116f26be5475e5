#include "serve/read/masks.hpp"

#include <algorithm>
#include <array>

namespace sluice::serve {
namespace {

using lists::Column;
using lists::ColumnType;
using lists::Scope;

constexpr std::array<std::string_view, 3> kPayees{"payee", "old_payee", "new_payee"};

/// Members that no list declares, such as those of a command's fields, have payees by name.
bool is_payee(std::string_view name) {
    return std::ranges::find(kPayees, name) != kPayees.end();
}

}  // namespace

void Masks::mask_members(Json& value, const std::vector<Column>& members) const {
    const std::vector<std::string>& names = value.names();
    for (std::size_t i = 0; i < value.items().size(); ++i) {
        Json& item = value.items()[i];
        if (names.empty()) {
            mask_members(item, members);
            continue;
        }
        if (names[i] == "cut" || names[i] == "names") {
            continue;  // the mark of an answer that was cut; names of creators, which are no secret
        }
        const auto found = std::ranges::find(members, names[i], &Column::name);
        static const Column private_member{"", ColumnType::kJson, Scope::kLedger};
        static const Column private_payee{"", ColumnType::kText, Scope::kPayee};
        mask_cell(found != members.end() ? *found
                  : is_payee(names[i])   ? private_payee
                                         : private_member,
                  item);
    }
}

void Masks::mask_cell(const Column& column, Json& value) const {
    if (value.is_null() || (!sees_ledger_ && column.scope != Scope::kEveryone)) {
        value = {};
    } else if (column.scope == Scope::kPayee) {
        value = masked_payee(value.cell());
    } else {
        mask_members(value, column.members);
    }
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

}  // namespace sluice::serve

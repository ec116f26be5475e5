#include "core/apply/import_reply.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {
namespace {

/// Which of a row's fields a list names.
enum class Named : std::uint8_t { kCode, kCreator, kBoth };

std::string name_of(const CreatorImport::Row& row, Named named) {
    return named == Named::kCode                          ? row.code
           : named == Named::kCreator || row.code.empty() ? row.creator.str()
                                                          : row.creator.str() + " " + row.code;
}

/// Returns `; <what>: line 3 BEN, line 4 ann SAVE`, or nothing if there are no rows.
std::string list_text(const ImportRows& rows, Named named, const std::string& what) {
    constexpr std::size_t kShownMax = 20;
    if (rows.empty()) {
        return {};
    }
    std::string text = "; " + what + ": ";
    for (std::size_t i = 0; i < std::min(rows.size(), kShownMax); ++i) {
        text += (i == 0 ? "line " : ", line ") + std::to_string(rows[i]->line) + " " +
                name_of(*rows[i], named);
    }
    return rows.size() > kShownMax
               ? text + " and " + std::to_string(rows.size() - kShownMax) + " more"
               : text;
}

}  // namespace

Reply import_reply(const CreatorImport& command, const ClaimedRows& claimed) {
    ImportRows unchanged;
    const auto is_among = [](const ImportRows& rows, const CreatorImport::Row& row) {
        return std::binary_search(rows.begin(), rows.end(), &row);
    };
    for (const CreatorImport::Row& row : command.rows) {
        if (!claimed.changed.contains(&row) && !is_among(claimed.codes, row) &&
            !is_among(claimed.creators, row)) {
            unchanged.push_back(&row);
        }
    }
    const bool has_code = std::any_of(unchanged.begin(), unchanged.end(),
                                      [](const auto* row) { return !row->code.empty(); });
    const std::size_t imported = claimed.changed.size();
    const std::string text =
        (imported == 0 ? "no change: no row was" : counted(imported, "row", "rows")) + " imported" +
        list_text(claimed.codes, Named::kCode,
                  counted(claimed.codes.size(),
                          "code that was removed or has ended stays so without dates",
                          "codes that were removed or have ended stay so without dates")) +
        list_text(claimed.creators, Named::kCreator,
                  counted(claimed.creators.size(),
                          "row of a creator who was removed stays out without dates",
                          "rows of creators who were removed stay out without dates")) +
        list_text(unchanged, Named::kBoth,
                  counted(unchanged.size(), "row states what is stored already",
                          "rows state what is stored already")) +
        (command.effective_from && has_code
             ? "; --effective-from dates new codes only: valid_from dates a code that is stored"
             : "");
    return done(text);
}

}  // namespace sluice

#include "core/protocol/source_note.hpp"

namespace sluice {

std::string_view to_string(SourceNote note) noexcept {
    switch (note) {
        case SourceNote::kRefundNotByLine:
            return "REFUND_NOT_BY_LINE";
        case SourceNote::kTotalsDiffer:
            return "TOTALS_DIFFER";
        case SourceNote::kQuantityRounded:
            return "QUANTITY_ROUNDED";
    }
    return {};
}

Parsed<SourceNote> parse_source_note(std::string_view text) noexcept {
    for (const SourceNote note : kSourceNotes) {
        if (to_string(note) == text) {
            return note;
        }
    }
    return std::nullopt;
}

}  // namespace sluice

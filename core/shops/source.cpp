#include "core/shops/source.hpp"

#include "core/json/slices.hpp"
#include "core/values/texts.hpp"

namespace sluice {

std::string platform_domain(std::string_view text) {
    std::string host = ascii_lower(text);
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (host.starts_with(scheme)) {
            host.erase(0, scheme.size());
        }
    }
    if (host.ends_with('/')) {
        host.pop_back();
    }
    return host;
}

SourceNotes read_source_notes(std::string_view order) {
    SourceNotes notes;
    for (const JsonMember& member : json_members(order)) {
        if (member.key != "source") {
            continue;
        }
        for (const JsonMember& stated : json_members(member.value)) {
            if (stated.key != "notes") {
                continue;
            }
            for (const std::string_view text : json_elements(stated.value)) {
                if (const std::optional<SourceNote> note =
                        parse_name<SourceNote>(json_string(text))) {
                    notes.add(*note);
                }
            }
        }
    }
    return notes;
}

}  // namespace sluice

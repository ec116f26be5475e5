#include "core/shops/source.hpp"

#include <algorithm>
#include <iterator>

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

std::vector<JsonMember> source_members(std::string_view order) {
    std::vector<JsonMember> members;
    for (const JsonMember& member : json_members(order)) {
        if (member.key == "source") {
            std::ranges::move(json_members(member.value), std::back_inserter(members));
        }
    }
    return members;
}

SourceNotes read_source_notes(std::string_view order) {
    SourceNotes notes;
    for (const JsonMember& member : source_members(order)) {
        if (member.key != "notes") {
            continue;
        }
        for (const std::string_view text : json_elements(member.value)) {
            if (const std::optional<SourceNote> note = parse_name<SourceNote>(json_string(text))) {
                notes.add(*note);
            }
        }
    }
    return notes;
}

}  // namespace sluice

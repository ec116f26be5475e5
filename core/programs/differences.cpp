#include "core/programs/differences.hpp"

#include <map>
#include <set>
#include <utility>

#include "core/json/slices.hpp"

namespace sluice {
namespace {

using Members = std::map<std::string, std::string>;

Members members_of(std::string_view json) {
    Members members;
    if (!json.empty()) {
        for (const JsonMember& member : json_members(json)) {
            members.emplace(member.key, std::string(member.value));
        }
    }
    members.erase("account_number");
    return members;
}

/// The value as a program file has it, cut between two characters.
std::string shown(const Members& members, const std::string& name) {
    constexpr std::size_t kBytesMax = 120;
    constexpr unsigned char kContinues = 0x80, kContinuesMask = 0xc0;
    const auto found = members.find(name);
    if (found == members.end() || found->second == "[]") {
        return "not set";
    }
    const std::string& value = found->second;
    if (value.size() <= kBytesMax) {
        return value;
    }
    std::size_t end = kBytesMax;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & kContinuesMask) == kContinues) {
        --end;
    }
    return value.substr(0, end) + "...";
}

}  // namespace

std::string differences_text(std::string_view before, std::string_view after) {
    const Members was = members_of(before);
    const Members is = members_of(after);
    std::set<std::string> names;
    for (const Members* members : {&was, &is}) {
        for (const auto& [name, value] : *members) {
            names.insert(name);
        }
    }
    std::string text;
    for (const std::string& name : names) {
        const std::string old = shown(was, name);
        const std::string now = shown(is, name);
        const auto old_member = was.find(name);
        const auto new_member = is.find(name);
        const bool same = old_member != was.end() && new_member != is.end()
                              ? old_member->second == new_member->second
                              : old == now;
        if (!same && name != "account") {
            text += (text.empty() ? "" : ", ") + name + " " + old + " -> " + now;
        }
    }
    return text;
}

}  // namespace sluice

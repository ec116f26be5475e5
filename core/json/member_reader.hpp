// Member reader: takes what a MemberWriter wrote, by the same list of members. A body is accepted
// as a whole or refused.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/json/member_writer.hpp"
#include "core/values/money.hpp"
#include "core/values/parsed.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Thrown by a MemberReader, and caught within the decoders, because each of many fields may be
/// wrong.
struct Malformed {};

inline void expect(bool sound) {
    if (!sound) {
        throw Malformed{};
    }
}

/// Returns the value of an optional or a Result. Throws Malformed if there is none.
template <class Maybe>
auto require(Maybe&& value) {
    if (!value) {
        throw Malformed{};
    }
    return *std::forward<Maybe>(value);
}

class MemberReader {
public:
    using Element = simdjson::dom::element;
    static constexpr bool kReads = true;
    explicit MemberReader(const Element& object) : object_(object) {}

    /// Reads a member. One that is absent leaves an optional without value, and a flag not set.
    /// @param parse  Parses the text of the value, or of each item of a list.
    template <class Value, class Parse = NoParser>
    void operator()(const char* name, Value& value, Parse parse = {}) const {
        constexpr bool kMayBeAbsent =
            json_detail::kIsOptional<Value> || std::is_same_v<Value, bool>;
        Element member;
        const bool is_there = object_[name].get(member) == simdjson::SUCCESS;
        if (!is_there && !kMayBeAbsent) {
            throw Malformed{};
        }
        if (is_there) {
            take(member, value, parse);
        }
    }
    template <class Value, class Parse = NoParser>
    void or_null(const char* name, std::optional<Value>& value, Parse parse = {}) const {
        const Element element = member(name);
        value.reset();
        if (!element.is_null()) {
            take(element, value, parse);
        }
    }
    template <class Value, class Parse = NoParser>
    void unless_default(const char* name, Value& value, Parse parse = {}) const {
        if (wants(name, true)) {
            (*this)(name, value, parse);
        }
    }
    [[nodiscard]] bool wants(const char* name, bool /*is_there*/) const {
        return object_[name].error() == simdjson::SUCCESS;
    }

    template <class Value>
    void item(Value& value) {
        const Element element = next();
        if constexpr (json_detail::kIsOptional<Value>) {
            if (element.is_null()) {
                return;
            }
        }
        take(element, value, NoParser{});
    }
    template <class Rows, class Items>
    void rows(const char* name, Rows& rows, Items&& items) const {
        for (const Element element : array_of(member(name))) {
            MemberReader members(element);
            const simdjson::dom::array values = array_of(element);
            members.at_ = values.begin();
            members.end_ = values.end();
            items(members, rows.emplace_back());
            if (members.at_ != members.end_) {
                throw Malformed{};
            }
        }
    }
    /// Returns the next item of a row.
    [[nodiscard]] Element next() {
        if (at_ == end_) {
            throw Malformed{};
        }
        const Element element = *at_;
        ++at_;
        return element;
    }
    [[nodiscard]] Element member(const char* name) const {
        Element member;
        if (object_[name].get(member) != simdjson::SUCCESS) {
            throw Malformed{};
        }
        return member;
    }

private:
    template <class Value>
    static Value get(const Element& element) {
        Value value;
        if (element.get(value) != simdjson::SUCCESS) {
            throw Malformed{};
        }
        return value;
    }
    static simdjson::dom::array array_of(const Element& element) {
        return get<simdjson::dom::array>(element);
    }
    template <class Value, class Parse>
    static void take(const Element& element, Value& value, Parse parse) {
        if constexpr (json_detail::kIsOptional<Value>) {
            take(element, value.emplace(), parse);
        } else if constexpr (requires { parse.text(value); }) {
            value = require(parse(get<std::string_view>(element)));
        } else if constexpr (json_detail::List<Value>) {
            value.clear();
            for (const Element each : array_of(element)) {
                typename Value::value_type item{};
                take(each, item, parse);
                value.insert(value.end(), std::move(item));
            }
        } else if constexpr (!std::is_same_v<Parse, NoParser>) {
            value = static_cast<Value>(require(parse(get<std::string_view>(element))));
        } else if constexpr (std::is_same_v<Value, bool>) {
            value = get<bool>(element);
        } else if constexpr (std::is_integral_v<Value>) {
            const auto number = get<std::uint64_t>(element);
            if (number > std::numeric_limits<Value>::max()) {
                throw Malformed{};
            }
            value = static_cast<Value>(number);
        } else if constexpr (std::is_same_v<Value, SequenceNumber>) {
            value.value = get<std::uint64_t>(element);
        } else if constexpr (std::is_same_v<Value, Timestamp>) {
            value = require(Timestamp::parse(get<std::string_view>(element)));
        } else if constexpr (std::is_same_v<Value, Money>) {
            value = require(parse_money(get<std::string_view>(element)));
        } else if constexpr (requires(MemberReader members) { each_member(members, value); }) {
            MemberReader members(element);
            each_member(members, value);
        } else {
            value = Value(get<std::string_view>(element));
        }
    }

    Element object_;
    simdjson::dom::array::iterator at_{}, end_{};  ///< Items of a row.
};

/// Reads an object that encode_json() wrote. Returns nullopt for anything else.
template <class Value>
[[nodiscard]] Parsed<Value> decode_json(std::string_view text) {
    simdjson::dom::parser parser;
    MemberReader::Element root;
    if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    try {
        Value value{};
        MemberReader members(root);
        each_member(members, value);
        return value;
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

}  // namespace sluice

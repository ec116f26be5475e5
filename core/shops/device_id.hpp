// Device id: where a platform's order carries the anonymous id of the customer's device.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Returns whether the text is an id as the click script makes them: 8 to 128 of
/// `A-Z a-z 0-9 . _ ~ -`.
[[nodiscard]] bool is_device_id(std::string_view text) noexcept;

/// Returns whether an attribute is named `field` or `_field`.
[[nodiscard]] bool names_device(std::string_view attribute, std::string_view field) noexcept;

/// Returns the device id in the first parameter `field` of a URL's query, or nothing.
[[nodiscard]] std::string device_of_url(std::string_view url, std::string_view field);

}  // namespace sluice

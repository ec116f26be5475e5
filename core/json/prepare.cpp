#include "core/json/prepare.hpp"

#include <simdjson.h>

namespace sluice {

void prepare_json() noexcept {
    static_cast<void>(simdjson::get_active_implementation()->name());
}

}  // namespace sluice

// Interface: the base of an abstract class.
#pragma once

namespace sluice {

/// Held by reference or by pointer, never copied.
class Interface {
public:
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
};

}  // namespace sluice

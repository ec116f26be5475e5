// Writes orders as Shopify's webhook sends them, one on each line, for bench/load/make_requests.py.
#include <cstdio>
#include <cstdlib>

#include "bench/shopify_order.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: shopify_orders COUNT LINES BYTES\n");
        return 2;
    }
    const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
    for (std::uint64_t order = 0; order < count; ++order) {
        std::puts(sluice::bench::shopify_order(order, std::atoi(argv[2]),
                                               std::strtoull(argv[3], nullptr, 10))
                      .c_str());
    }
    return 0;
}

#include "tool/send/order_source.hpp"

#include <utility>

namespace sluice::cli {
namespace {

class PlatformRecords : public RecordSource {
public:
    PlatformRecords(TranslatedOrders orders, LeftOut& left_out)
        : orders_(std::move(orders)), left_out_(left_out) {}

    Result<bool> next(SendRecord& record) override {
        Translation found;
        const std::uint64_t begin = orders_.bytes_read();
        do {
            if (!orders_.next(found)) {
                return false;
            }
        } while (left_out_.add(found));
        record = {orders_.number(), 0, orders_.bytes_read() - begin, std::string(found.body), {}};
        if (found.kind != TranslationKind::kOrder) {
            record.problem = problem_of(found);
        }
        return true;
    }
    std::uint64_t bytes_total() const noexcept override { return orders_.bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return orders_.bytes_read(); }

private:
    TranslatedOrders orders_;
    LeftOut& left_out_;
};

}  // namespace

Result<std::unique_ptr<RecordSource>> open_orders(const std::string& path,
                                                  const OrderSource& source,
                                                  const std::string& anon_field,
                                                  LeftOut& left_out) {
    auto orders = TranslatedOrders::open(path, source, anon_field);
    if (!orders.ok()) {
        return orders.error();
    }
    return std::unique_ptr<RecordSource>(new PlatformRecords(std::move(orders).value(), left_out));
}

}  // namespace sluice::cli

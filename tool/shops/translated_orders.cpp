#include "tool/shops/translated_orders.hpp"

#include <utility>

namespace sluice::cli {

TranslatedOrders::TranslatedOrders(PlatformFile file, const OrderSource& source,
                                   std::string anon_field)
    : file_(std::move(file)), source_(source), anon_field_(std::move(anon_field)) {}

Result<TranslatedOrders> TranslatedOrders::open(const std::string& path, const OrderSource& source,
                                                std::string anon_field) {
    auto file = PlatformFile::open(path);
    if (!file.ok()) {
        return file.error();
    }
    return TranslatedOrders(std::move(file).value(), source, std::move(anon_field));
}

bool TranslatedOrders::next(Translation& translation) {
    if (next_ >= file_.orders().size()) {
        return false;
    }
    SourceRequest request;
    request.platform = source_.platform;
    request.topic = !source_.topic.empty()                   ? std::string_view(source_.topic)
                    : source_.platform == Platform::kShopify ? "orders/updated"
                                                             : "order.updated";
    request.body = file_.orders()[next_++];
    request.anon_field = anon_field_;
    request.is_from_file = true;
    translation = translator_.translate(request, source_.settings);
    return true;
}

std::uint64_t TranslatedOrders::bytes_read() const noexcept {
    const std::string_view first = file_.orders().front();
    return next_ == 0 ? 0
                      : static_cast<std::uint64_t>(text().data() + text().size() - first.data());
}

std::string problem_of(const Translation& translation) {
    if (translation.kind == TranslationKind::kUnreadable) {
        return "not an order: " + std::string(translation.error);
    }
    const FieldError& first = translation.faults.front();
    const std::size_t more = translation.faults.size() - 1;
    return first.field + ": " + std::string(to_string(first.code)) + ": " + first.message +
           (more == 0 ? "" : " (and " + std::to_string(more) + " more)");
}

bool LeftOut::add(const Translation& translation) {
    if (translation.kind == TranslationKind::kIgnored) {
        ++ignored_[static_cast<std::size_t>(translation.ignored)];
        return true;
    }
    if (translation.kind == TranslationKind::kDeletion) {
        ++deleted_;
        return true;
    }
    return false;
}

std::string LeftOut::words() const {
    std::uint64_t all = deleted_;
    std::string reasons;
    const auto add = [&reasons](std::uint64_t count, std::string_view reason) {
        if (count != 0) {
            reasons += (reasons.empty() ? "" : ", ") + std::to_string(count) + " ";
            reasons += reason;
        }
    };
    for (std::size_t i = 0; i < ignored_.size(); ++i) {
        all += ignored_[i];
        add(ignored_[i], to_string(static_cast<IgnoredReason>(i)));
    }
    add(deleted_, "without lines");
    return all == 0 ? "" : std::to_string(all) + " orders left out: " + reasons;
}

}  // namespace sluice::cli

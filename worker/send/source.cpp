#include "worker/send/source.hpp"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "worker/cli/csv_reader.hpp"
#include "worker/send/csv_product.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

/// An input file, and how much of it there is.
class Input {
public:
    static Result<Input> open(const std::string& path) {
        auto file = open_for_reading(path);
        if (!file.ok()) {
            return file.error();
        }
        struct stat info {};
        const bool sized = ::fstat(::fileno(file->get()), &info) == 0 && info.st_size > 0;
        return Input(std::move(file).value(), path, sized ? static_cast<double>(info.st_size) : 0);
    }

    [[nodiscard]] std::FILE* file() const noexcept { return file_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] double fraction() const noexcept {
        return bytes_ <= 0 ? 0 : static_cast<double>(::ftello(file_.get())) / bytes_;
    }

private:
    Input(UniqueFile file, std::string path, double bytes)
        : file_(std::move(file)), path_(std::move(path)), bytes_(bytes) {}

    UniqueFile file_;
    std::string path_;
    double bytes_;
};

class NdjsonSource : public RecordSource {
public:
    explicit NdjsonSource(Input input) : input_(std::move(input)) {}
    ~NdjsonSource() override { std::free(buffer_); }
    NdjsonSource(const NdjsonSource&) = delete;
    NdjsonSource& operator=(const NdjsonSource&) = delete;

    Result<bool> next(SendRecord& record) override {
        while (true) {
            const ssize_t got = ::getline(&buffer_, &capacity_, input_.file());
            if (got < 0) {
                return std::ferror(input_.file()) == 0
                           ? Result<bool>(false)
                           : Error{ErrorCode::kIo, input_.path() + ": cannot be read"};
            }
            ++line_;
            std::string_view text(buffer_, static_cast<std::size_t>(got));
            for (const char end : {'\n', '\r'}) {
                if (!text.empty() && text.back() == end) {
                    text.remove_suffix(1);
                }
            }
            if (text.find_first_not_of(" \t") != std::string_view::npos) {
                record = {line_, std::string(text), {}};
                return true;
            }
        }
    }
    double fraction() const noexcept override { return input_.fraction(); }

private:
    Input input_;
    char* buffer_ = nullptr;
    std::size_t capacity_ = 0;
    std::uint64_t line_ = 0;
};

class ProductCsvSource : public RecordSource {
public:
    ProductCsvSource(Input input, CsvReader reader, CsvProducts products)
        : input_(std::move(input)), reader_(std::move(reader)), products_(std::move(products)) {}

    Result<bool> next(SendRecord& record) override {
        CsvRow row;
        auto got = reader_.next(row);
        if (!got.ok() || !got.value()) {
            return got;
        }
        auto text = products_.to_json(row.fields);
        record = {row.line, text.ok() ? std::move(text).value() : std::string(),
                  text.ok() ? std::string() : text.error().message};
        return true;
    }
    double fraction() const noexcept override { return input_.fraction(); }

private:
    Input input_;
    CsvReader reader_;
    CsvProducts products_;
};

}  // namespace

Result<std::unique_ptr<RecordSource>> open_ndjson(const std::string& path) {
    auto input = Input::open(path);
    if (!input.ok()) {
        return input.error();
    }
    return std::unique_ptr<RecordSource>(new NdjsonSource(std::move(input).value()));
}

Result<std::unique_ptr<RecordSource>> open_product_csv(const std::string& path) {
    auto input = Input::open(path);
    if (!input.ok()) {
        return input.error();
    }
    CsvReader reader(input->file(), path);
    CsvRow header;
    auto got = reader.next(header);
    if (!got.ok()) {
        return got.error();
    }
    auto products =
        CsvProducts::from_header(got.value() ? header.fields : std::vector<std::string>());
    if (!products.ok()) {
        return reader.error_at(1, products.error().message);
    }
    return std::unique_ptr<RecordSource>(new ProductCsvSource(
        std::move(input).value(), std::move(reader), std::move(products).value()));
}

}  // namespace sluice::cli

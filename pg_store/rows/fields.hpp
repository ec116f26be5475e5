// Fields: visitors of described columns (core/ledger/tables.hpp) that list, write and read them in
// SQL. Internal to this room; pure.
//
// What may be absent is null; of an absent instant both columns are.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ledger/rows.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/rows/key_text.hpp"

namespace sluice::pg {

/// A column of SQL. An instant is two of them.
struct SqlColumn {
    std::string name;
    Type type = Type::kText;
    unsigned described = 0;  ///< Its place among the described columns of key or rest.
};

/// A visitor that lists the columns of SQL.
class ColumnList {
public:
    template <class Value>
    void operator()(const char* name, const Value& /*value*/) {
        add(name, static_cast<const Value*>(nullptr));
        ++described_;
    }
    void bytes(const char* name, const std::string& /*value*/) {
        push(name, Type::kBytes);
        ++described_;
    }
    [[nodiscard]] std::vector<SqlColumn> take() && { return std::move(columns_); }

private:
    void push(std::string name, Type type) {
        columns_.push_back({std::move(name), type, described_});
    }
    void add(const char* name, const std::uint32_t*) { push(name, Type::kInt4); }
    void add(const char* name, const std::uint64_t*) { push(name, Type::kInt8); }
    void add(const char* name, const bool*) { push(name, Type::kBool); }
    void add(const char* name, const AccountNumber*) { push(name, Type::kInt4); }
    void add(const char* name, const ShopNumber*) { push(name, Type::kInt4); }
    void add(const char* name, const SequenceNumber*) { push(name, Type::kInt8); }
    void add(const char* name, const std::string*) { push(name, Type::kText); }
    void add(const char* name, const Currency*) { push(name, Type::kText); }
    void add(const char* name, const Decimal*) { push(name, Type::kNumeric); }
    void add(const char* name, const Timestamp*) {
        push(std::string(name) + "_s", Type::kInt8);
        push(std::string(name) + "_ns", Type::kInt4);
    }
    template <std::size_t N>
    void add(const char* name, const std::array<std::uint8_t, N>*) {
        push(name, Type::kBytes);
    }
    template <class Tag>
    void add(const char* name, const TextId<Tag>*) {
        push(name, Type::kText);
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void add(const char* name, const Enum*) { push(name, Type::kInt2); }
    template <class Value>
    void add(const char* name, const std::optional<Value>*) {
        add(name, static_cast<const Value*>(nullptr));
    }

    std::vector<SqlColumn> columns_;
    unsigned described_ = 0;
};

/// A visitor that writes fields, one for each column of SQL, each to the writer that `next` gives.
template <class Next>
class FieldWriter {
public:
    /// @param columns  How many described columns are written.
    explicit FieldWriter(Next next, unsigned columns = ~0U)
        : next_(std::move(next)), left_(columns) {}

    template <class Value>
    void operator()(const char* /*name*/, const Value& value) {
        if (left_ != 0) {
            --left_;
            write(value);
        }
    }
    void bytes(const char* /*name*/, const std::string& value) {
        if (left_ != 0) {
            --left_;
            next_().bytes(value);
        }
    }

private:
    void write(std::uint32_t value) { next_().u4(value); }
    void write(std::uint64_t value) { next_().u8(value); }
    void write(bool value) { next_().boolean(value); }
    void write(AccountNumber value) { next_().u4(value.value); }
    void write(ShopNumber value) { next_().u4(value.value); }
    void write(SequenceNumber value) { next_().u8(value.value); }
    void write(const std::string& value) { next_().text(clean_text(value)); }
    void write(const Currency& value) { next_().text(value.code()); }
    void write(const Decimal& value) { next_().numeric(value); }
    void write(const Timestamp& at) {
        next_().i8(at.seconds);
        next_().u4(at.nanos);
    }
    template <std::size_t N>
    void write(const std::array<std::uint8_t, N>& digest) {
        next_().digest(digest);
    }
    template <class Tag>
    void write(const TextId<Tag>& id) {
        next_().text(id.view());
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void write(Enum value) { next_().i2(static_cast<std::int16_t>(value)); }
    template <class Value>
    void write(const std::optional<Value>& value) {
        if (value) {
            write(*value);
            return;
        }
        next_().null();
        if constexpr (std::is_same_v<Value, Timestamp>) {
            next_().null();
        }
    }

    Next next_;
    unsigned left_;
};

/// A visitor that reads fields. Throws DamagedField.
class FieldReader {
public:
    explicit FieldReader(RowReader& row) : row_(row) {}

    template <class Value>
    void operator()(const char* name, Value& value) {
        try {
            read(value);
        } catch (const DamagedField& damaged) {
            throw_damaged(std::string(name) + ": " + damaged.wrong);
        }
    }
    void bytes(const char* /*name*/, std::string& value) { value = row_.text(); }

private:
    void read(std::uint32_t& value) { value = row_.u4(); }
    void read(std::uint64_t& value) { value = row_.u8(); }
    void read(bool& value) { value = row_.boolean(); }
    void read(AccountNumber& value) { value = {row_.u4()}; }
    void read(ShopNumber& value) { value = {row_.u4()}; }
    void read(SequenceNumber& value) { value = {row_.u8()}; }
    void read(std::string& value) { value = row_.text(); }
    void read(Currency& value) { value = row_.currency(); }
    void read(Decimal& value) { value = row_.numeric(); }
    void read(Timestamp& value) { value = row_.instant(); }
    template <std::size_t N>
    void read(std::array<std::uint8_t, N>& value) {
        value = to_digest<std::array<std::uint8_t, N>>(row_.next());
    }
    template <class Tag>
    void read(TextId<Tag>& value) {
        value = TextId<Tag>(row_.text());
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void read(Enum& value) { value = to_enum<Enum>(row_.next()); }
    template <class Value>
    void read(std::optional<Value>& value) {
        if (!row_.next_is_null()) {
            read(value.emplace());
            return;
        }
        row_.skip(1);
        value.reset();
        if constexpr (std::is_same_v<Value, Timestamp>) {
            if (!row_.next_is_null()) {
                throw_damaged("an instant has no seconds");
            }
            row_.skip(1);
        }
    }

    RowReader& row_;
};

}  // namespace sluice::pg

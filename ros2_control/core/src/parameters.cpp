// SPDX-License-Identifier: Apache-2.0
#include "opspace_core/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace opspace_core
{

namespace
{

std::size_t size_of(const opspace_field & field) { return std::size_t{field.rows} * field.columns; }

bool is_flag(const opspace_field & field) { return field.kind == 'b'; }

bool may_be_empty(const opspace_field & field) { return field.kind == 'O'; }

bool is_list(const opspace_field & field) { return field.kind == 'D' || field.kind == 'S' || may_be_empty(field); }

/// What is valid, for a message.
std::string valid(const opspace_field & field)
{
  const std::vector<std::string> choices = choices_of(field);
  if (!choices.empty()) {
    return (is_list(field) ? "some of " : "one of ") + listed(choices);
  }
  if (is_flag(field)) {
    return "true or false";
  }
  std::ostringstream text;
  const std::string none = may_be_empty(field) ? "none, " : "";
  text << (is_list(field) ? none + "1 or " + std::to_string(size_of(field)) + " numbers" : "one number") << " from "
       << field.least << " to " << field.most;
  return text.str();
}

[[noreturn]] void refuse(const opspace_field & field)
{
  throw Error(std::string(field.name) + ": valid is " + valid(field));
}

/// A list as long as the field, of one that may be shorter.
std::vector<double> spread(const opspace_field & field, const std::vector<double> & given)
{
  const std::size_t size = size_of(field);
  if (given.size() == size) {
    return given;
  }
  if (given.size() == 1) {
    return std::vector<double>(size, given[0]);
  }
  if (given.size() == 2 && size == 6) {
    return {given[0], given[0], given[0], given[1], given[1], given[1]};
  }
  refuse(field);
}

/// Takes a value of any kind.
struct Numbers
{
  const opspace_field & field;

  std::vector<double> operator()(bool flag) const
  {
    return is_flag(field) ? std::vector<double>{flag ? 1.0 : 0.0} : nothing();
  }
  std::vector<double> operator()(int64_t number) const { return (*this)(static_cast<double>(number)); }
  std::vector<double> operator()(double number) const { return (*this)(std::vector<double>{number}); }
  std::vector<double> operator()(const std::vector<double> & numbers) const
  {
    const bool fits = is_list(field) || numbers.size() == 1;
    return fits && choices_of(field).empty() && !is_flag(field) ? spread(field, numbers) : nothing();
  }
  std::vector<double> operator()(const std::string & word) const
  {
    const std::vector<std::string> choices = choices_of(field);
    return choices.empty() || is_list(field)
             ? nothing()
             : std::vector<double>{static_cast<double>(place_of(word, choices, field.name))};
  }
  std::vector<double> operator()(const std::vector<std::string> & words) const
  {
    const std::vector<std::string> choices = choices_of(field);
    if (!is_list(field) || choices.size() != size_of(field)) {
      return nothing();
    }
    std::vector<double> flags(choices.size(), 0.0);
    for (const std::string & word : words) {
      flags[place_of(word, choices, field.name)] = 1.0;
    }
    return flags;
  }
  std::vector<double> nothing() const { refuse(field); }
};

}  // namespace

std::vector<std::string> choices_of(const opspace_field & field)
{
  std::vector<std::string> words;
  std::stringstream text(field.choices);
  for (std::string word; std::getline(text, word, '|');) {
    words.push_back(word);
  }
  return words;
}

Value value_of(const Robot & robot, const opspace_field & field)
{
  std::vector<double> numbers(size_of(field));
  robot.library().check(robot.library().get(robot.get(), &field, numbers.data(), numbers.size()), field.name);
  const std::vector<std::string> choices = choices_of(field);
  if (!choices.empty() && !is_list(field)) {
    return choices.at(static_cast<std::size_t>(numbers[0]));
  }
  if (!choices.empty()) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(numbers.size(), choices.size()); i++) {
      if (numbers[i] != 0.0) {
        words.push_back(choices[i]);
      }
    }
    return words;
  }
  if (is_flag(field)) {
    return numbers[0] != 0.0;
  }
  if (!is_list(field)) {
    return field.kind == 'i' ? Value(static_cast<int64_t>(numbers[0])) : Value(numbers[0]);
  }
  if (may_be_empty(field) && std::isnan(numbers[0])) {
    return std::vector<double>();
  }
  return numbers;
}

std::vector<double> numbers_of(const opspace_field & field, const Value & value)
{
  const auto * list = std::get_if<std::vector<double>>(&value);
  if (list && list->empty() && may_be_empty(field)) {
    return std::vector<double>(size_of(field), std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<double> numbers = std::visit(Numbers{field}, value);
  for (double number : numbers) {  // NaN is none of them: an empty list says that nothing is given
    if (!(number >= field.least && number <= field.most)) {
      refuse(field);
    }
  }
  return numbers;
}

}  // namespace opspace_core

// SPDX-License-Identifier: Apache-2.0
// Parameters as users have them (words, flags, lists) and as an image has them (numbers).
#ifndef OPSPACE_CORE__PARAMETERS_HPP_
#define OPSPACE_CORE__PARAMETERS_HPP_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "opspace_core/robot.hpp"

namespace opspace_core
{

using Value = std::variant<bool, int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

/// The value of a parameter as the image has it now: of the kind that users have it in.
Value value_of(const Robot & robot, const opspace_field & field);

/// The numbers that a value stands for, one an entry of the field. One number counts for all entries; two for the three
/// linear and the three angular axes of six; an empty list, where that is valid, is NaN in all of them. Error: a wrong
/// kind, size or word, or a number out of range, which NaN is.
std::vector<double> numbers_of(const opspace_field & field, const Value & value);

/// The words of a choice.
std::vector<std::string> choices_of(const opspace_field & field);

}  // namespace opspace_core

#endif  // OPSPACE_CORE__PARAMETERS_HPP_

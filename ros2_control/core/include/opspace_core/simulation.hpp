// SPDX-License-Identifier: Apache-2.0
// A simulated robot, stepped as fast as cycles ask for it.
#ifndef OPSPACE_CORE__SIMULATION_HPP_
#define OPSPACE_CORE__SIMULATION_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "opspace_core/robot.hpp"

namespace opspace_core
{

/// Steps of an image that `opspace export --simulator` wrote. After the constructor nothing allocates.
class Simulation
{
public:
  /// Error: as Robot; or the image is that of a controller.
  Simulation(const std::string & library, const std::string & image);

  /// Back to the initial state.
  void reset();

  /// Go on by a period [ns]: as many steps as are due, at most a tenth of a second of them, with efforts in the order of
  /// `Robot::joints`; null: those that leave the joints where they are. False: the motion has left the range of numbers.
  bool advance(const double * efforts, int64_t period);

  const Robot & robot() const { return robot_; }
  const std::vector<double> & q() const { return q_; }    ///< (nq) the joints last
  const std::vector<double> & v() const { return v_; }    ///< (nv)
  const std::vector<double> & tau() const { return tau_; }  ///< efforts of the last step, after the limits
  double position(std::size_t joint) const { return q_[q_.size() - tau_.size() + joint]; }
  double velocity(std::size_t joint) const { return v_[v_.size() - tau_.size() + joint]; }

private:
  void look();

  Robot robot_;
  const Library & library_;
  int64_t step_;     ///< [ns]
  int64_t due_ = 0;  ///< [ns] that have passed and are not simulated yet
  std::vector<double> q_, v_, tau_, hold_;
};

}  // namespace opspace_core

#endif  // OPSPACE_CORE__SIMULATION_HPP_

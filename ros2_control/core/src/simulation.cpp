// SPDX-License-Identifier: Apache-2.0
#include "opspace_core/simulation.hpp"

#include <algorithm>
#include <cmath>

namespace opspace_core
{

namespace
{

constexpr int64_t MOST = 100'000'000;  // [ns] that are made up for after a pause

}  // namespace

Simulation::Simulation(const std::string & library, const std::string & image)
: robot_(library, image),
  library_(robot_.library()),
  step_(std::llround(1e9 * library_.sim_period(robot_.get()))),
  q_(robot_.nq()),
  v_(robot_.nv()),
  tau_(robot_.joints().size()),
  hold_(robot_.joints().size())
{
  if (step_ <= 0) {
    throw Error(image + " is no simulated robot: `opspace export PARAMS.yaml --simulator` writes one");
  }
  reset();
}

void Simulation::reset()
{
  library_.check(library_.sim_reset(robot_.get(), nullptr, nullptr), "reset");
  due_ = 0;
  look();
}

void Simulation::look() { library_.sim_state(robot_.get(), q_.data(), v_.data(), tau_.data(), nullptr); }

bool Simulation::advance(const double * efforts, int64_t period)
{
  due_ = std::min(due_ + std::max<int64_t>(period, 0), MOST);
  int status = OPSPACE_OK;
  for (; status == OPSPACE_OK && 2 * due_ >= step_; due_ -= step_) {  // cycles that jitter round a step make one each
    if (!efforts) {
      library_.sim_hold(robot_.get(), hold_.data());
    }
    status = library_.sim_step(robot_.get(), efforts ? efforts : hold_.data());
  }
  look();
  return status == OPSPACE_OK;
}

}  // namespace opspace_core

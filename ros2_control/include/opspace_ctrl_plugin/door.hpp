// SPDX-License-Identifier: Apache-2.0
// Callbacks in the executor's threads, and the end of what they use.
#ifndef OPSPACE_CTRL_PLUGIN__DOOR_HPP_
#define OPSPACE_CTRL_PLUGIN__DOOR_HPP_

#include <memory>
#include <mutex>
#include <shared_mutex>

namespace opspace_ctrl
{

/// Callbacks go through it, any number at once; when it has been closed, all have left, and none enters.
///
/// When a controller is cleaned up, another thread of the executor may be in one of its callbacks, or before it.
class Door
{
public:
  using Inside = std::shared_lock<std::shared_mutex>;

  /// To be kept while inside; false if the door is closed.
  Inside enter()
  {
    Inside inside(mutex_);
    if (!is_open_) {
      inside.unlock();
    }
    return inside;
  }

  void close()
  {
    const std::unique_lock<std::shared_mutex> alone(mutex_);
    is_open_ = false;
  }

private:
  std::shared_mutex mutex_;
  bool is_open_ = true;
};

using DoorPtr = std::shared_ptr<Door>;

}  // namespace opspace_ctrl

#endif  // OPSPACE_CTRL_PLUGIN__DOOR_HPP_

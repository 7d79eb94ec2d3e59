// SPDX-License-Identifier: Apache-2.0
#include "opspace_core/library.hpp"

#include <dlfcn.h>

namespace opspace_core
{

namespace
{

void * function(void * handle, const std::string & path, const char * name)
{
  void * found = dlsym(handle, name);
  if (!found) {
    throw Error(path + " has no " + name + ": it is no libopspace of this version; export the library again");
  }
  return found;
}

}  // namespace

Library::Library(const std::string & path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
{
  if (!handle_) {
    throw Error(std::string("the library cannot be opened: ") + dlerror());
  }
  try {
#define OPSPACE_FIND(name) \
  this->name = reinterpret_cast<decltype(this->name)>(function(handle_, path, "opspace_" #name));
    OPSPACE_FUNCTIONS(OPSPACE_FIND)
#undef OPSPACE_FIND
    if (abi() != OPSPACE_ABI) {
      throw Error(
        path + " has interface " + std::to_string(abi()) + "; valid is " + std::to_string(OPSPACE_ABI) +
        ": export the library again, or build this package again");
    }
  } catch (...) {
    dlclose(handle_);
    throw;
  }
}

Library::~Library() { dlclose(handle_); }

void Library::check(int status, const std::string & what) const
{
  if (status != OPSPACE_OK) {
    throw Error(what + ": " + words(status));
  }
}

}  // namespace opspace_core

// The same as core/base/unique_fd.h, which is the name to include.
#pragma once

#include "core/base/unique_fd.h"

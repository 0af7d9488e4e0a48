// SPDX-License-Identifier: Apache-2.0
// nbdkit's own header, with the version that is meant.
#pragma once
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

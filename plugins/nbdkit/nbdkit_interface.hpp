// SPDX-License-Identifier: Apache-2.0
// Includes nbdkit's header with the API version used here.
#pragma once
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

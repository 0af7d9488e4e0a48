# SPDX-License-Identifier: Apache-2.0
# The library: the packaged example, built with pkg-config.
step "install a C compiler and pkg-config"
quietly apt-get install -y --no-install-recommends gcc libc6-dev pkg-config
step "libcalpe-dev: a C program with pkg-config"
examples=/usr/share/doc/libcalpe-dev/examples
cp "$examples/quickstart.c" .
read -ra flags <<<"$(pkg-config --cflags --libs calpe)"
quietly gcc -std=c99 -Wall -Wextra -Werror quickstart.c "${flags[@]}" -o quickstart
expect 0 "rebuilt 2 of 2" ./quickstart
expect 0 "libcalpe.so.1" ldd ./quickstart

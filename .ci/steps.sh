# SPDX-License-Identifier: Apache-2.0
# Sourced by .ci/run and .ci/nightly: named steps and a table of their times.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
step_table=()
failed_steps=()
only_steps='.*'    # a regular expression: other steps are left out
goes_on=           # not empty: a failed step does not end the run
ci_started=$SECONDS

print_step_table() {
  echo
  echo "== times"
  printf '%s\n' "${step_table[@]}"
  printf '%6d s  %s\n' $((SECONDS - ci_started)) "total"
}

# step <name> <command>...: exits if the command fails, or with goes_on remembers it.
step() {
  local name=$1 started=$SECONDS status=0
  shift
  [[ $name =~ ^($only_steps)$ ]] || return 0
  echo
  echo "== $name: $*"
  "$@" || status=$?
  step_table+=("$(printf '%6d s  %s' $((SECONDS - started)) "$name")")
  ((status != 0)) || return 0
  failed_steps+=("$name")
  if [[ -z $goes_on ]]; then
    print_step_table
    echo "ci: step '$name' failed with exit code $status"
    exit "$status"
  fi
  echo "ci: step '$name' failed with exit code $status; continuing"
}

# build <preset> [target]..., with build_options for CMake
build_options=()
build() {
  local preset=$1
  shift
  mkdir -p build
  cmake --preset "$preset" "${build_options[@]}" >"build/$preset.log" 2>&1 || {
    cat "build/$preset.log"
    return 1
  }
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# run_tests <build directory> <label expression> [excluded labels]: tests with the label nightly run
# only with CALPE_NIGHTLY=1.
run_tests() {
  local without=${3:-none}
  [[ -n ${CALPE_NIGHTLY:-} ]] || without+="|nightly"
  ctest --test-dir "build/$1" --output-on-failure --no-tests=error --timeout "$test_seconds_max" \
    -j "$(nproc)" -L "^($2)\$" -LE "^($without)\$"
}

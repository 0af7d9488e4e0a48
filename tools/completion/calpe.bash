# SPDX-License-Identifier: Apache-2.0
# bash: completion of calpe. The command itself says what may come next (calpe complete).
_calpe() {
  local current=${COMP_WORDS[COMP_CWORD]} word answer
  local -a words=() found=()
  # bash cuts --option=value at the "=".
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    [[ $word == = ]] || words+=("$word")
  done
  if [[ $current == = ]]; then
    current=
    words+=("")
  fi
  COMPREPLY=()
  while IFS=$'\t' read -r answer _; do
    case $answer in
      '<files>') mapfile -t -O "${#found[@]}" found < <(compgen -f -- "$current") ;;
      '<folders>') mapfile -t -O "${#found[@]}" found < <(compgen -d -- "$current") ;;
      "$current"*) COMPREPLY+=("$answer") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" complete "${words[@]}" 2>/dev/null)
  if ((${#found[@]} != 0)); then
    # Names get quotes and slashes; answers of the command need none.
    compopt -o filenames 2>/dev/null
    COMPREPLY+=("${found[@]}")
  fi
}
complete -F _calpe calpe

/** Shells that completion scripts exist for. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Each script asks `m4bench complete -- WORDS…` and reads lines of value, tab and description; the last line is `:0`
 * where file names may stand too, else `:4`. Words are passed on as they are: nothing that is typed is evaluated.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for m4bench
_m4bench() {
  local value description
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    case "$value" in
      :0) compopt -o default 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("$value") ;;
    esac
  done < <(m4bench complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _m4bench m4bench
`,
  zsh: `#compdef m4bench
_m4bench() {
  local -a suggestions
  local value description
  local -i files=0
  while IFS=$'\\t' read -r value description; do
    case $value in
      :0) files=1 ;;
      :*) ;;
      *) suggestions+=("\${value//:/\\\\:}:$description") ;;
    esac
  done < <(m4bench complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#suggestions )) && _describe m4bench suggestions
  (( files )) && _files
}
compdef _m4bench m4bench
`,
  fish: `# fish completion for m4bench
function __m4bench_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  for line in (m4bench complete -- $words 2>/dev/null)
    switch $line
      case ':0'
        __fish_complete_path (commandline -ct)
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c m4bench -f -a '(__m4bench_complete)'
`,
};

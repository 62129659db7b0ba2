"""Completion scripts for shells, written from the parsers: no Python runs while a user presses Tab.

By hand, because shtab writes none for fish and completes no @NAMES.
"""

from collections.abc import Callable, Iterable, Sequence

from stepscope.cli.shape import CommandOption, Shape

MARK = "made by `stepscope completions`"
"""In the first lines of every script, so that a newer one may replace it."""


def bash(every: Sequence[Shape]) -> str:
    """For bash 4 and later; the machine need not have the package bash-completion."""
    values, options, words = _bash_cases(every)
    verbs = " ".join(shape.verb for shape in every)
    newline = "\n"
    return f"""# bash completion for stepscope, {MARK}
_stepscope_among() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }}
_stepscope() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" verb=summary at word i
  at=$COMP_CWORD
  # bash splits words at = and @, unless the user told it not to. What it replaces begins after =, but with @.
  if [[ $cur == "=" ]]; then cur=""
  elif [[ $prev == "=" ]]; then at=$((at-1)); prev="${{COMP_WORDS[at-1]}}"; fi
  if [[ $prev == "@" ]]; then cur="@$cur"; at=$((at-1)); prev="${{COMP_WORDS[at-1]}}"; fi
  for ((i = 1; i < at; i++)); do
    if [[ ${{COMP_WORDS[i]}} == "--" ]]; then
      # What follows is a program of its own, and what follows that is for it.
      if ((i + 1 == at)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi
      return
    fi
  done
  for ((i = 1; i < at; i++)); do
    word="${{COMP_WORDS[i]}}"
    case "$word" in
      -*) ;;
      {"|".join(shape.verb for shape in every)}) verb="$word"; break ;;
      *) break ;;
    esac
  done
  COMPREPLY=()
  case "$verb $prev" in
{newline.join(values)}
  esac
  if [[ $cur == -* ]]; then
    case "$verb" in
{newline.join(options)}
    esac
  fi
  case "$verb" in
{newline.join(words)}
  esac
  if ((at == 1)); then
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -W "{verbs}" -- "$cur")
  fi
  local files
  mapfile -t files < <(compgen -f -- "$cur")
  if ((${{#files[@]}})); then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=("${{files[@]}}")
  fi
}}
complete -o bashdefault -o default -F _stepscope stepscope
"""


def _bash_cases(every: Sequence[Shape]) -> tuple[list[str], list[str], list[str]]:
    """The cases for values of options, for options, and for words of verbs."""
    values, options, words = [], [], []
    for shape in every:
        for option in shape.options:
            if option.choices:
                names = "|".join(_quoted(f"{shape.verb} {name}") for name in option.names)
                values.append(f"    {names}) _stepscope_among {_quoted(' '.join(option.choices))}; return ;;")
            elif option.value:
                names = "|".join(_quoted(f"{shape.verb} {name}") for name in option.names)
                values.append(f"    {names}) COMPREPLY=(); return ;;  # a file, or what only the user knows")
        listed = " ".join(name for option in shape.options for name in option.names)
        options.append(f"      {shape.verb}) _stepscope_among {_quoted(listed)}; return ;;")
        if shape.words:
            words.append(
                f"    {shape.verb}) _stepscope_among {_quoted(' '.join(word for word, _ in shape.words))} ;;"
            )
    return values, options, words


def zsh(every: Sequence[Shape]) -> str:
    """For zsh, as a file `_stepscope` in a folder of fpath, or sourced after compinit."""
    cases = []
    for shape in every:
        options = [f"{name}:{_colons(option.about)}" for option in shape.options for name in option.names]
        values = [
            f"        {'|'.join(option.names)}) {_zsh_value(option)}; return ;;"
            for option in shape.options
            if option.value
        ]
        words = [f"{_colons(word)}:{_colons(about)}" for word, about in shape.words]
        lines = [
            f"    {shape.verb})",
            *(["      case $prev in", *values, "      esac"] if values else []),
            f"      options=({' '.join(map(_quoted, options))})",
            f"      words_=({' '.join(map(_quoted, words))})",
            "      ;;",
        ]
        cases.append("\n".join(lines))
    verbs = " ".join(_quoted(f"{shape.verb}:{_colons(shape.about)}") for shape in every)
    newline = "\n"
    return f"""#compdef stepscope
# zsh completion for stepscope, {MARK}
_stepscope() {{
  local verb=summary word prev=$words[CURRENT-1]
  local -a verbs options words_
  verbs=({verbs})
  for word in ${{words[2,CURRENT-1]}}; do
    case $word in
      -*) ;;
      {"|".join(shape.verb for shape in every)}) verb=$word; break ;;
      *) break ;;
    esac
  done
  case $verb in
{newline.join(cases)}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
    return
  fi
  (( CURRENT == 2 )) && _describe -t verbs verb verbs
  (( $#words_ )) && _describe -t words word words_
  _files
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _stepscope "$@"; else compdef _stepscope stepscope; fi
"""


def _zsh_value(option: CommandOption) -> str:
    return f"compadd -- {' '.join(map(_quoted, option.choices))}" if option.choices else "_files"


def fish(every: Sequence[Shape]) -> str:
    """For fish, as a file in its folder of completions."""
    lines = []
    for shape in every:
        lines.append(
            f"complete -c stepscope -n __stepscope_first -a {_fish(shape.verb)} -d {_fish(shape.about)}"
        )
        only = f"complete -c stepscope -n {_fish(f'__stepscope_verb {shape.verb}')}"
        lines += [f"{only} {line}" for option in shape.options for line in _fish_option(option)]
        lines += [f"{only} -a {_fish(word)} -d {_fish(about)}" for word, about in shape.words]
    newline = "\n"
    return f"""# fish completion for stepscope, {MARK}
function __stepscope_first
  test (count (commandline -opc)) -eq 1
end
function __stepscope_verb
  set -l words (commandline -opc)
  for word in $words[2..]
    switch $word
      case '-*'
      case {" ".join(shape.verb for shape in every)}
        test $word = $argv[1]
        return
      case '*'
        break
    end
  end
  test $argv[1] = summary
end
{newline.join(lines)}
"""


def _fish_option(option: CommandOption) -> Iterable[str]:
    about = f"-d {_fish(option.about)}"
    value = f"-x -a {_fish(' '.join(option.choices))} " if option.choices else "-r " if option.value else ""
    for name in option.names:
        # -l is --name, -s is -n, and -o is the old way of tfprof: -name.
        kind = "-l" if name.startswith("--") else "-s" if len(name) == 2 else "-o"
        yield f"{kind} {name.lstrip('-')} {value}{about}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _colons(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:").replace("\n", " ")


SHELLS: dict[str, Callable[[Sequence[Shape]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

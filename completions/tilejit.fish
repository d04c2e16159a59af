# SPDX-License-Identifier: MIT
# Completions of tilejit for fish: asks `tilejit complete` (tools/help/complete.h).

function __tilejit_candidates
    set -l words (commandline --tokenize --current-process --cut-at-cursor) (commandline --current-token --cut-at-cursor)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        if test $line = :files
            set -l head (string match --regex '^.*=' -- $words[-1])
            for path in (__fish_complete_path (string replace -- "$head" '' $words[-1]))
                echo "$head$path"
            end
        else
            echo $line
        end
    end
end

complete --command tilejit --no-files --arguments '(__tilejit_candidates)'

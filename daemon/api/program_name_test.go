package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestScriptName(t *testing.T) {
	for command, want := range map[string]string{
		"python allsum.py":                        "allsum.py",
		"python3.13 /home/ada/work/train.py -x":   "train.py",
		".venv/bin/python3 -u src/train.py":       "train.py",
		"python -m mlx_lm.server --port 1":        "mlx_lm.server",
		"python -um my.module -- x.py":            "my.module",
		"python -mmy.module":                      "my.module",
		"python -W ignore -X dev train.py":        "train.py",
		"python -Wignore -Xdev train.py":          "train.py",
		"python -W":                               "python",
		"python -c print(1) x.py":                 "python",
		"python -uc print(1)":                     "python",
		"python --check-hash-based-pycs train.py": "train.py",
		"python -- train.py":                      "train.py",
		"python - x.py":                           "python",
		"python":                                  "python",
		"python3t train.py":                       "train.py",
		"pythonic train.py":                       "pythonic",
		"/usr/bin/uv run train.py":                "uv",
		"./train.sh":                              "train.sh",
		"":                                        "",
	} {
		t.Run(command, func(t *testing.T) {
			is.New(t).Equal(Program{Command: strings.Fields(command)}.ScriptName(), want)
		})
	}
	is := is.New(t)
	is.Equal(Program{Builtin: "allreduce", Command: []string{"python", "x.py"}}.ScriptName(), "allreduce")
	is.Equal(Program{Command: []string{"/usr/bin/python", "secret.py"}}.FileName(), "python")
}

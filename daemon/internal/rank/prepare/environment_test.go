package prepare

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMerge(t *testing.T) {
	is := is.New(t)
	own := []string{"PATH=/own", "HOME=/home/ada", "HF_HOME=/models", "LANG=C.UTF-8", "A=own"}
	got := mergeVariables(own, map[string]string{
		"PATH": "/theirs", "HOME": "/theirs", "TMPDIR": "/theirs", "VIRTUAL_ENV": "/theirs", "SSH_AUTH_SOCK": "/theirs", "CONDA_EXE": "/theirs",
		"HF_HOME": "/theirs", "HF_HUB_CACHE": "/theirs", "XDG_CACHE_HOME": "/theirs", "XDG_RUNTIME_DIR": "/theirs",
		"A": "/theirs", "B": "/theirs", "HF_TOKEN": "secret", "LANG": "de_DE.UTF-8", "": "x", "C=D": "x", "Z": "a\x00b",
	}, func(v string) string { return strings.Replace(v, "/theirs", "/here", 1) })
	is.Equal(listed(got), []string{
		"A=/here", "B=/here", "HF_HOME=/models", "HF_HUB_CACHE=/here", "HF_TOKEN=secret", "HOME=/home/ada", "LANG=de_DE.UTF-8",
		"PATH=/own", "PYTHONUNBUFFERED=1", "XDG_CACHE_HOME=/here",
	})
	is.Equal(mergeVariables(nil, map[string]string{"PYTHONUNBUFFERED": ""}, nil), map[string]string{"PYTHONUNBUFFERED": ""})
	is.Equal(mergeVariables([]string{"PYTHONUNBUFFERED=0", "A=1", "A=2"}, nil, nil), map[string]string{"PYTHONUNBUFFERED": "0", "A": "2"})
}

func TestPython(t *testing.T) {
	is := is.New(t)
	env := map[string]string{"PATH": "/usr/bin:/bin", "PYTHONHOME": "/x", "CONDA_PREFIX": "/conda", "CONDA_DEFAULT_ENV": "base"}
	usePython(env, "/project/.venv", false)
	is.Equal(env, map[string]string{"PATH": "/project/.venv/bin:/usr/bin:/bin", "VIRTUAL_ENV": "/project/.venv"})
	usePython(env, "/conda/envs/mlx", true)
	is.Equal(env, map[string]string{"PATH": "/conda/envs/mlx/bin:/project/.venv/bin:/usr/bin:/bin", "CONDA_PREFIX": "/conda/envs/mlx", "CONDA_DEFAULT_ENV": "mlx"})
	env = map[string]string{}
	usePython(env, "/v", false)
	is.Equal(env["PATH"], "/v/bin")
}

// Every row can be reached, and has its reason.
func TestTable(t *testing.T) {
	is := is.New(t)
	for _, row := range nodeLocal() {
		for name := range strings.FieldsSeq(row.names) {
			got, found := lookupVariable(strings.ReplaceAll(name, "*", "SOMETHING_ELSE"))
			is.True(found)
			is.Equal(got, row)
		}
		is.True(row.why != "" && slices.Contains([]rule{never, prefer}, row.rule))
	}
	_, found := lookupVariable("PATHS")
	is.True(!found)
}

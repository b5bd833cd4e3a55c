package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// testOwnMLX runs a program with an MLX of its own, which has no JACCL here, though
// every cable is ready for it: it runs over what that MLX has, and a request for what it
// has not is refused before anything is started.
func (j *jaccl) testOwnMLX(t *testing.T) {
	j.needPython(t)
	own := []string{"--venv", j.Venv, "--", "python", j.Program("own.py")}
	for _, ranks := range []int{2, j.size} {
		got := end(t, j.run(t, append([]string{"-n", fmt.Sprint(ranks)}, own...)...))
		for rank := range ranks {
			line := fmt.Sprintf("[%d] rank %d of %d: the sum is %d\n", rank, rank, ranks, ranks*(ranks+1)/2)
			if got.status != 0 || strings.Count(got.out, line) != 1 {
				t.Errorf("%q is not there once: %+v", line, got)
			}
		}
	}
	is := is.New(t)
	refused := end(t, j.run(t, append([]string{"-n", "2", "--backend", "jaccl"}, own...)...))
	t.Log(refused.err)
	is.Equal(refused.status, api.ExitNotStarted)
	is.Equal(refused.out, "")
	is.True(strings.Contains(refused.err, " has no jaccl"))
	is.True(strings.Contains(refused.err, "--backend ring"))
	planned := end(t, j.fulmen(t.Context(), j.Nodes[0], append([]string{"plan", "-n", "2"}, own...)...))
	is.Equal(planned.status, 0)
	is.True(strings.Contains(planned.out, "over ring"))
}

// testNoMLX runs a program whose Python has no MLX: it is told once, before it fails,
// and it is started once.
func (j *jaccl) testNoMLX(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	bare := filepath.Join(j.Folder, fmt.Sprintf("bare-%d", j.size))
	config, err := os.ReadFile(filepath.Join(j.Venv, "pyvenv.cfg"))
	is.NoErr(err)
	base, err := os.Readlink(j.Python)
	is.NoErr(err)
	is.NoErr(os.MkdirAll(filepath.Join(bare, "bin"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(bare, "pyvenv.cfg"), config, 0o644))
	is.NoErr(os.Symlink(base, filepath.Join(bare, "bin", "python3")))
	got := end(t, j.run(t, "-n", "2", "--venv", bare, "--", "python", j.Program("own.py")))
	t.Log(got.err)
	is.Equal(got.status, 1)
	is.Equal(strings.Count(got.err, "finds no MLX on "), 1)
	is.True(strings.Count(got.err, "No module named 'mlx'") <= 3) // of each rank once, and of the one that failed first again
	for _, command := range []string{"env", "plan"} {
		reported := end(t, j.fulmen(t.Context(), j.Nodes[0], command, "--venv", bare, "--", "python", j.Program("own.py")))
		is.True(strings.Contains(reported.out, "finds no MLX on "))
		is.True(!strings.Contains(reported.out, "Nothing is in the way"))
	}
}

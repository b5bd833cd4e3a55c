package shim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

// Values of environment variables reach the program and stay nowhere on the disk.
func TestValuesAreForgotten(t *testing.T) {
	for name, more := range map[string]int{"of a short spec": 0, "of a long spec": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			spec := specOf(t, `test -n "$WORD" && grep -c "$(printf %.7s "$WORD")" `+shimproto.SpecFile)
			spec.Env, spec.Dir = append(spec.Env, "WORD=hunter2"+strings.Repeat(".", more)), spec.Folder
			h := hold(t, spec)
			is.Equal(*h.wait().Code, 1) // grep finds nothing, also while the program runs
			is.Equal(h.output("out.1"), "0\n")
			left, err := os.ReadFile(filepath.Join(spec.Folder, shimproto.SpecFile))
			is.NoErr(err)
			is.True(!strings.Contains(string(left), "hunter2") && strings.Contains(string(left), spec.Program))
			again, err := shimproto.ReadSpec(spec.Folder)
			is.NoErr(err)
			spec.Env = nil
			is.Equal(again, spec)
		})
	}
}

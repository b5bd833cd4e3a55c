package shim_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

// A program does not have what its shim was started with.
func TestNothingElseIsOpen(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `ls -l /proc/$$/fd | grep -c /secret`)
	is.NoErr(shimproto.WriteSpec(spec.Folder, spec))
	secret, err := os.Create(t.TempDir() + "/secret")
	is.NoErr(err)
	defer secret.Close()
	c := exec.Command(os.Args[0], "shim", spec.Folder)
	c.ExtraFiles = []*os.File{secret, secret, secret}
	is.NoErr(c.Run())
	out, err := os.ReadFile(spec.Folder + "/out.1")
	is.NoErr(err)
	is.Equal(strings.TrimSpace(string(out)), "0")
}

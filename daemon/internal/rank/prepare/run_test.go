package prepare_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
)

func prepared(r *rig) api.Program {
	program := train("python3", "train.py")
	program.Prepare, program.PrepareInputs = []string{"./install"}, []string{"requirements.txt"}
	return program
}

var install = map[string]string{
	"work/install": "#!/bin/sh\necho installing\necho once >>$HOME/runs\nmkdir -p $HOME/bin $HOME/lib/mlx-1.0.dist-info\ncp $HOME/interpreter $HOME/bin/python3\ntouch train.py\n",
	"interpreter":  python("3.12.1"), "work/requirements.txt": "mlx\n",
}

func TestPrepare(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "/bin/sh", install)
	program := prepared(r)
	// Nothing that the command may bring is missed before, and nothing is compared.
	got := r.Preflight(t.Context(), r.ada, program, noEnv)
	is.Equal(len(got.Problems), 0)
	is.Equal(len(got.Versions), 0)

	var out strings.Builder
	is.NoErr(r.Prepare(t.Context(), r.ada, program, &out))
	is.Equal(out.String(), "installing\n")
	got = r.Preflight(t.Context(), r.ada, program, noEnv)
	is.Equal(len(got.Problems), 0)
	is.Equal(got.Versions, map[string]string{"python": "3.12.1", "mlx": "1.0"})

	is.NoErr(r.Prepare(t.Context(), r.ada, program, nil))
	is.Equal(r.lines(t, "runs"), 1) // the packages that it brought are no reason to run it again
	is.NoErr(prepare.New(r.config).Prepare(t.Context(), r.ada, program, nil))
	is.Equal(r.lines(t, "runs"), 1) // nor is a restart

	r.write(t, map[string]string{"work/requirements.txt": "mlx-lm\n"})
	is.Equal(len(r.Preflight(t.Context(), r.ada, program, noEnv).Versions), 0)
	is.NoErr(r.Prepare(t.Context(), r.ada, program, nil))
	is.Equal(r.lines(t, "runs"), 2)
	r.write(t, map[string]string{"interpreter": python("3.13.0"), "bin/python3": python("3.13.0")})
	is.NoErr(r.Prepare(t.Context(), r.ada, program, nil))
	is.Equal(r.lines(t, "runs"), 3) // another Python
	program.Prepare = []string{"./install; true"}
	is.NoErr(r.Prepare(t.Context(), r.ada, program, nil))
	is.Equal(r.lines(t, "runs"), 4) // another command
}

func TestPrepareAtOnce(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "/bin/sh", install)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := r.Prepare(t.Context(), r.ada, prepared(r), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	is.Equal(r.lines(t, "runs"), 1)
}

func TestPrepareFails(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "/bin/sh", map[string]string{"work/train.py": "", "bin/python3": python("3.12.1")})
	program := train("python3", "train.py")
	program.Prepare = []string{`for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; printf '\033[31mred'; echo try >>~/tries; exit 7`}
	err := r.Prepare(t.Context(), r.ada, program, nil)
	failed := api.AsError(err)
	is.Equal(failed.Data.Reason, api.ReasonPrepareFailed)
	is.True(strings.HasSuffix(failed.Message, " ended with exit code 7"))
	is.Equal(len(failed.Data.Causes), 8)
	is.Equal(failed.Data.Causes[0].Message, "line 3")
	is.Equal(failed.Data.Causes[7].Message, "[31mred")
	is.True(r.Prepare(t.Context(), r.ada, program, nil) != nil)
	is.Equal(r.lines(t, "tries"), 2) // a failure is not remembered

	program.Directory = "/Users/me/none"
	is.Equal(api.AsError(r.Prepare(t.Context(), r.ada, program, nil)).Data.Reason, api.ReasonDirectoryMissing)
	is.NoErr(r.Prepare(t.Context(), r.ada, train("gone"), nil)) // nothing to prepare
}

// Inputs that change while the command works were not what it worked with.
func TestInputsThatChangeMeanwhile(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "/bin/sh", install)
	program := prepared(r)
	program.Prepare = []string{"./install && [ -e once ] || { touch once; echo more >>requirements.txt; }"}
	for range 3 {
		is.NoErr(r.Prepare(t.Context(), r.ada, program, nil))
	}
	is.Equal(r.lines(t, "runs"), 2)
}

func TestPrepareIsCancelled(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "/bin/sh", install)
	program := prepared(r)
	program.Prepare = []string{"echo begun; exec sleep 1000"}
	ctx, cancel := context.WithCancel(t.Context())
	out := writer(func(p []byte) (int, error) {
		cancel()
		return len(p), os.ErrClosed // a log that is full ends nothing
	})
	err := r.Prepare(ctx, r.ada, program, out)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonPrepareFailed)
	is.Equal(api.AsError(err).Data.Causes[0].Message, "begun")
	// The folder is free again.
	is.NoErr(r.Prepare(t.Context(), r.ada, prepared(r), nil))
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

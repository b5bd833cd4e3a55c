package command

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestEnded(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	process := exec.Command("sleep", "60")
	is.NoErr(process.Start())
	short, stop := context.WithCancel(ctx)
	stop()
	is.True(!ended(short, process.Process.Pid)) // it runs
	is.NoErr(process.Process.Kill())
	if runtime.GOOS == "linux" {
		is.True(ended(ctx, process.Process.Pid)) // ended, though nobody took note
	}
	process.Wait()
	is.True(ended(ctx, process.Process.Pid))
	is.True(!isZombie(os.Getpid()))
}

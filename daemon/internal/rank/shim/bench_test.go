package shim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkOutput runs a program that prints a gigabyte, in turns under a shim
// and as `prog | cat > file`. It gives the speed under the shim, and the medians
// over the pairs of the ratios of the two times and of the processor time of all
// that took part. In one case the shim keeps as much as of a real rank, in the
// other all, as the file does.
func BenchmarkOutput(b *testing.B) {
	printed := 1_000_000_000
	if testing.Short() {
		printed = 200_000_000
	}
	program := fmt.Sprintf("yes 'a line of some output, as long as such lines are' | head -c %d", printed)
	for _, caps := range []struct {
		name       string
		head, tail int64
	}{{"capped", 16 << 20, 48 << 20}, {"whole", 2 << 30, 1 << 20}} {
		b.Run(caps.name, func(b *testing.B) {
			var wall, cpu, seconds []float64
			for i := 0; b.Loop(); i++ {
				file := filepath.Join(b.TempDir(), "out")
				spec := ranktest.Spec(b, program)
				spec.LogHeadBytes, spec.LogTailBytes = caps.head, caps.tail
				if err := shimproto.WriteSpec(spec.Folder, spec); err != nil {
					b.Fatal(err)
				}
				commands := []*exec.Cmd{
					exec.Command("/bin/sh", "-c", "("+program+") | cat > "+file), exec.Command(os.Args[0], "shim", spec.Folder),
				}
				var took, used [2]float64
				for turn := range 2 {
					which := (i + turn) % 2 // nobody is always the first
					took[which], used[which] = timed(b, commands[which])
				}
				if info, err := os.Stat(filepath.Join(spec.Folder, "out.1")); err != nil || info.Size() != int64(printed) {
					b.Fatalf("the log is not of %d bytes: %v, %v", printed, info, err)
				}
				os.RemoveAll(spec.Folder)
				os.Remove(file)
				wall, cpu, seconds = append(wall, took[1]/took[0]), append(cpu, used[1]/used[0]), append(seconds, took[1])
			}
			for unit, of := range map[string][]float64{"x-cat": wall, "x-cat-cpu": cpu, "s": seconds} {
				slices.Sort(of)
				b.ReportMetric(of[len(of)/2], unit)
			}
			b.ReportMetric(float64(printed)/1e6/seconds[len(seconds)/2], "MB/s")
		})
	}
}

// timed runs a command and returns how long it took, and how much processor time
// with all that it started.
func timed(b *testing.B, c *exec.Cmd) (wall, cpu float64) {
	b.Helper()
	syscall.Sync() // what others wrote is not written back at this one's cost
	began := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return time.Since(began).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
}

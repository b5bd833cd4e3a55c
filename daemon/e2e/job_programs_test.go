package e2e

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

// ran is how a program ended and what it printed.
type ran struct {
	status   int // 128 and the signal's number where one ended it
	out, err string
}

// end runs a command to its end.
func end(t *testing.T, c *exec.Cmd) ran {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	c.WaitDelay = 2 * time.Second // what a program leaves behind may hold its output
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if _, isExit := errors.AsType[*exec.ExitError](err); err != nil && !isExit {
		t.Fatalf("%v: %v", c.Args, err)
	}
	return ran{statusOf(c), out.String(), errs.String()}
}

// TestProgramsWithoutFulmen runs what the tests of jobs run, started by a shell
// script, so that what a job then does differently is Fulmen's doing.
func TestProgramsWithoutFulmen(t *testing.T) {
	if testing.Short() {
		t.Skip("MLX is loaded a dozen times")
	}
	s := newStage(t)
	s.needPython(t)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for _, test := range []struct {
		name    string
		ranks   int
		command []string
		input   string
		status  int
		prints  string // a regular expression
	}{
		{"two ranks add up", 2, []string{s.Python, s.Program("all_sum.py")}, "", 0, `(?m)^rank 0 of 2: the sum is 3$`},
		{"three ranks add up often", 3, []string{s.Python, s.Program("all_sum.py"), "100"}, "", 0, `(?m)^rank 2 of 3: the sum is 6$`},
		{"a rank dies", 2, []string{s.Python, s.Program("dies.py"), "1", "42"}, "", 1, `rank 1 ends`},
		{"status", 1, []string{s.Program("status.sh"), "42"}, "", 42, `^$`},
		{"signal", 1, []string{s.Program("status.sh"), "-9"}, "", 137, `^$`},
		{"file limit", 1, []string{s.Python, s.Program("fill.py"), "filled", "100000"}, "", 28, `^full after 100000: EFBIG\n$`},
		{"no end of line", 1, []string{s.Python, s.Program("ask.py")}, "Ada\n", 0, `^your name\? rank 0 greets Ada$`},
		{"output", 1, []string{s.Python, s.Program("flood.py"), "1000"}, "", 0, `^0{99}\n0{98}1\n(\d{99}\n){8}$`},
		{"forks", 1, []string{s.Python, s.Program("forks.py"), "leave"}, "", 0, `^forked \d+ \d+ \d+\n$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := s.Command(ctx, "/bin/sh", append([]string{s.Program("launch.sh"), s.ring(test.ranks), string(rune('0' + test.ranks))}, test.command...)...)
			if test.input != "" {
				c.Args = append([]string{"/bin/sh", "-c", `printf '%s' "$0" | "$@"`, test.input}, test.command...)
				c.Env = append(c.Env, "MLX_RANK=0")
			}
			got := end(t, c)
			if got.status != test.status || !regexp.MustCompile(test.prints).MatchString(got.out) {
				t.Errorf("status %d, not %d; it printed %q, not %s; and %s", got.status, test.status, cut(got.out), test.prints, got.err)
			}
			for _, pid := range pidsIn(got.out) {
				endOf(pid) // nobody else ends what a program leaves behind
			}
		})
	}
	t.Run("a model over two ranks", func(t *testing.T) {
		s.needMLXLM(t)
		model := s.model(t)
		alone := end(t, s.Command(ctx, s.Python, s.Program("generate.py"), model, "hello", "8"))
		whole := generated(t, alone.out, 0, 1)
		both := end(t, s.Command(ctx, "/bin/sh", s.Program("launch.sh"), s.ring(2), "2", s.Python, s.Program("generate.py"), model, "hello", "8"))
		for rank := range 2 {
			if half := generated(t, both.out, rank, 2); half != whole.half() {
				t.Errorf("rank %d: %+v is not half of %+v", rank, half, whole)
			}
		}
	})
}

// model makes a tiny model.
func (s *stage) model(t *testing.T) string {
	t.Helper()
	folder := s.Work + "/model"
	if exists(folder) {
		return folder
	}
	if made := end(t, s.Command(t.Context(), s.Python, s.Program("make_model.py"), folder)); made.status != 0 {
		t.Fatalf("make_model.py: %+v", made)
	}
	return folder
}

// cut is the beginning and the end of a long text.
func cut(text string) string {
	const most = 2000
	if len(text) > 2*most {
		return text[:most] + " ... " + text[len(text)-most:]
	}
	return text
}

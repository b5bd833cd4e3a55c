package systemprofiler

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

func clock(t *testing.T) native.Clock {
	t.Helper()
	c, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func shell(ctx context.Context, clock native.Clock, deadline time.Duration, script string) (Result, error) {
	return run(ctx, clock, deadline, "/bin/sh", "-c", script)
}

func TestRunReadsWhatTheCommandPrints(t *testing.T) {
	is := is.New(t)
	result, err := shell(t.Context(), clock(t), time.Minute, `cat testdata/hub.json; echo "a remark" >&2`)
	is.NoErr(err)
	is.Equal(len(result.Thunderbolt.Ports), 3)
}

func TestRunFails(t *testing.T) {
	for name, c := range map[string]struct{ script, reports string }{
		"exit status": {`echo "no such data type" >&2; exit 3`, "no such data type"},
		"nothing":     {`true`, "not JSON"},
		"too much":    {`head -c 5000000 /dev/zero | tr '\0' ' '`, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := shell(t.Context(), clock(t), time.Minute, c.script)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.reports))
		})
	}
}

// A command that hangs, or whose child does, ends with what was waited for.
func TestRunHasADeadline(t *testing.T) {
	for _, script := range []string{`exec sleep 600`, `sleep 600 & wait`} {
		is := is.New(t)
		_, err := shell(t.Context(), clock(t), 50*time.Millisecond, script)
		is.True(errors.Is(err, context.DeadlineExceeded))
		is.True(strings.Contains(err.Error(), "/bin/sh"))
	}
}

func TestRunElsewhere(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("macOS has the command")
	}
	is := is.New(t)
	_, err := Run(t.Context(), clock(t))
	is.True(errors.Is(err, native.ErrUnsupported))
}

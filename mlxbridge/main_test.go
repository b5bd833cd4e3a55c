package mlxbridge

import (
	"fmt"
	"os"
	"testing"

	"github.com/matryer/is"
)

// childEnv names the scenario that a copy of the test binary plays instead of
// running the tests: what needs a process of its own.
const childEnv = "FULMEN_MLXBRIDGE_CHILD"

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	scenario, ok := scenarios()[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such scenario:", name)
		os.Exit(3)
	}
	if err := scenario(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// scenarios are what a child process can play.
func scenarios() map[string]func() error {
	return map[string]func() error{
		"abort":       playAbort,
		"collectives": playCollectives,
		"barrier":     playBarrier,
		"lost-peer":   playLostPeer,
	}
}

// cpuStream is a new stream on the CPU.
func cpuStream(t testing.TB) *Stream {
	t.Helper()
	return must[*Stream](t)(NewStream(Device{CPU, 0}))
}

// cpuScope is a scope on a stream of its own, closed when the test ends.
func cpuScope(t testing.TB) *Scope {
	t.Helper()
	sc := NewScope(cpuStream(t))
	t.Cleanup(sc.Close)
	return sc
}

// must is for calls that are not what a test is about.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestDtypes(t *testing.T) {
	is := is.New(t)
	for _, d := range everyDtype() {
		back, err := ParseDtype(d.String())
		is.NoErr(err)
		is.Equal(back, d)
		is.True(d.Valid())
		is.True(d.Size() > 0)
	}
	_, err := ParseDtype("float8")
	is.True(errorIs(err, ErrDtype))
	is.Equal(Dtype(14).Valid(), false)
	is.Equal(Dtype(14).Size(), 0)
	is.Equal(Dtype(14).String(), "dtype(14)")
}

// everyDtype lists every Dtype.
func everyDtype() []Dtype {
	list := make([]Dtype, len(dtypes))
	for i := range list {
		list[i] = Dtype(i)
	}
	return list
}

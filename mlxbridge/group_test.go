package mlxbridge

import (
	"os"
	"testing"

	"github.com/matryer/is"
)

// unset takes a variable out of the environment for the test.
func unset(t *testing.T, name string) {
	t.Helper()
	t.Setenv(name, "") // puts it back afterwards
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}

// A group of one does what it can alone, and its existence does not make a strict
// caller believe in a ring.
func TestGroupOfOne(t *testing.T) {
	is := is.New(t)
	unset(t, "MLX_RANK")
	unset(t, "MLX_HOSTFILE")
	g, err := InitGroup("ring", false)
	is.NoErr(err)
	is.Equal(g.Rank(), 0)
	is.Equal(g.Size(), 1)
	_, err = InitGroup("ring", true)
	is.True(errorIs(err, ErrMLX))

	sc := cpuScope(t)
	a := must[*Array](t)(FromSlice(sc, []float32{1, 2}, []int{2}))
	for _, call := range []func(*Group, *Array) (*Array, error){sc.AllSum, sc.AllMax, sc.AllGather} {
		is.Equal(must[[]float32](t)(ToSlice[float32](must[*Array](t)(call(g, a)))), []float32{1, 2})
	}
	is.NoErr(sc.Barrier(g))
	_, err = sc.Send(g, a, 1)
	is.True(errorIs(err, ErrMLX))
	_, err = sc.Recv(g, []int{-1}, Float32, 1)
	is.True(errorIs(err, ErrShape))
	g.Close()
	_, err = sc.AllSum(g, a)
	is.True(errorIs(err, ErrClosed))
}

func TestGroupNotConfigured(t *testing.T) {
	is := is.New(t)
	t.Setenv("MLX_RANK", "0")
	t.Setenv("MLX_HOSTFILE", "/nonexistent/hosts.json")
	for _, strict := range []bool{false, true} {
		_, err := InitGroup("ring", strict)
		is.True(errorIs(err, ErrMLX))
	}
}

func TestAvailable(t *testing.T) {
	is := is.New(t)
	is.True(Available("ring"))
	is.Equal(Available("smoke signals"), false)
	_, err := InitGroup("smoke signals", false)
	is.True(errorIs(err, ErrUnsupported))
}

package mlxbridge

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestUseAfterClose(t *testing.T) {
	is := is.New(t)
	stream := cpuStream(t)
	sc, other := NewScope(stream), NewScope(stream)
	defer other.Close()
	a := must[*Array](t)(sc.Full([]int{4}, 2, Float32))
	unasked := must[*Array](t)(sc.Full([]int{4}, 2, Float32))
	kept := must[*Array](t)(sc.Add(a, a))
	alive := must[*Array](t)(other.Add(a, a))
	is.Equal(a.Shape(), []int{4})
	sc.Close()
	sc.Close()

	for name, err := range map[string]error{
		"eval":       sc.Eval(kept),
		"async eval": other.AsyncEval(kept),
	} {
		if !errorIs(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func() (*Array, error){
		"zeros":   func() (*Array, error) { return sc.Zeros([]int{1}, Float32) },
		"normal":  func() (*Array, error) { return sc.Normal([]int{1}, Float32, 0, 1, 1) },
		"add":     func() (*Array, error) { return other.Add(kept, alive) },
		"matmul":  func() (*Array, error) { return other.MatMul(alive, kept) },
		"sum":     func() (*Array, error) { return other.Sum(a, false) },
		"reshape": func() (*Array, error) { return other.Reshape(a, []int{4}) },
		"astype":  func() (*Array, error) { return other.AsType(a, Int8) },
		"data":    func() (*Array, error) { return FromSlice(sc, []int8{1}, []int{1}) },
		"nil":     func() (*Array, error) { return other.Add(nil, alive) },
	} {
		if _, err := call(); !errorIs(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Item[float32](kept)
	is.True(errorIs(err, ErrClosed))
	_, err = ToSlice[float32](kept)
	is.True(errorIs(err, ErrClosed))
	a.Free()
	is.Equal(a.Shape(), []int{4}) // was asked for before
	is.Equal(unasked.Shape(), nil)
	is.Equal(unasked.Size(), 0)

	// What another scope made of it lives on, with the inputs it still needs.
	is.Equal(must[[]float32](t)(ToSlice[float32](alive)), []float32{4, 4, 4, 4})
	alive.Free()
	alive.Free()
	is.True(errorIs(other.Eval(alive), ErrClosed))
}

func TestFreedPlacesAreUsedAgain(t *testing.T) {
	is := is.New(t)
	sc := cpuScope(t)
	first := must[*Array](t)(sc.Full([]int{1}, 1, Int32))
	first.Free()
	second := must[*Array](t)(sc.Full([]int{1}, 2, Int32))
	first.Free() // must not free the second, which has its place
	is.Equal(must[int32](t)(Item[int32](second)), int32(2))
	is.Equal(len(sc.held.handles), 1)
}

// A scope that is forgotten is freed after a collection; one whose array is still
// held is not.
func TestForgottenScope(t *testing.T) {
	is := is.New(t)
	stream := cpuStream(t)
	const forgotten = 10_000 // far more than other tests have left to collect
	before := liveHandles()
	held := func() *Array {
		forget := NewScope(stream)
		for range forgotten {
			must[*Array](t)(forget.Zeros([]int{1}, Float32))
		}
		keep := NewScope(stream)
		must[*Array](t)(keep.Zeros([]int{1}, Float32))
		return must[*Array](t)(keep.Full([]int{2}, 3, Float32))
	}()
	is.True(settle(t, func() bool { return liveHandles() <= before+2 }))
	is.Equal(must[[]float32](t)(ToSlice[float32](held)), []float32{3, 3})
	is.True(liveHandles() >= 2) // its scope is alive with both arrays
	runtime.KeepAlive(held)
}

// settle collects garbage until the condition holds, for at most ten seconds;
// cleanups run on a goroutine of the runtime's own.
func settle(t *testing.T, condition func() bool) bool {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		runtime.GC()
		if condition() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		runtime.Gosched()
	}
}

// Goroutines are alive between threads; streams must not care, and no evaluation
// may leave a stream behind in the threads it ran on.
func TestManyThreads(t *testing.T) {
	is := is.New(t)
	const goroutines = 4
	streams := make([]*Stream, goroutines)
	for i := range streams {
		streams[i] = cpuStream(t)
	}
	before := must[int](t)(streamCount())
	shared := must[*Array](t)(cpuScope(t).Full([]int{100}, 1, Float32))
	is.NoErr(shared.scope.Eval(shared))
	var wait sync.WaitGroup
	for i := range goroutines {
		wait.Go(func() {
			for round := range 20 {
				// Each round on a thread of its own, which ends with it.
				var thread sync.WaitGroup
				thread.Go(func() {
					runtime.LockOSThread()
					sc := NewScope(streams[i])
					defer sc.Close()
					a, err := sc.Full([]int{100}, float64(round), Float32)
					if err != nil {
						t.Error(err)
						return
					}
					b, err := sc.Add(a, shared)
					if err != nil {
						t.Error(err)
						return
					}
					total, err := sc.Sum(b, false)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := Item[float32](total)
					if want := float32(100 * (round + 1)); err != nil || got != want {
						t.Errorf("got %v, %v, want %v", got, err, want)
					}
				})
				thread.Wait()
			}
		})
	}
	wait.Wait()
	is.Equal(must[int](t)(streamCount()), before+1) // the shared array's own
}

// An array may go while it is computed: the work keeps what it writes to.
func TestCloseWhileComputing(t *testing.T) {
	is := is.New(t)
	stream := cpuStream(t)
	for range 20 {
		sc := NewScope(stream)
		a := must[*Array](t)(sc.Full([]int{1 << 22}, 1, Float32))
		b := must[*Array](t)(sc.Add(a, a))
		is.NoErr(sc.AsyncEval(b))
		sc.Close()
		is.NoErr(ClearCache())
	}
	is.NoErr(stream.Synchronize())
}

func TestCreateAndFreeLeaveMemoryFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, evaluate := range []bool{false, true} {
		name := "built"
		if evaluate {
			name = "evaluated"
		}
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			sc := cpuScope(t)
			one := must[*Array](t)(sc.Full([]int{256}, 1, Float32))
			is.NoErr(sc.Eval(one))
			work := func(n int) {
				for range n {
					a, err := sc.Add(one, one)
					is.NoErr(err)
					if evaluate {
						is.NoErr(sc.Eval(a))
					}
					a.Free()
				}
			}
			work(10_000)
			handles := liveHandles()
			// Go's own heap may still find its size in one round; a leak grows in all.
			grown := int64(math.MaxInt64)
			for round := 0; round < 3 && grown >= 2<<20; round++ {
				before := residentBytes(t)
				work(100_000)
				grown = residentBytes(t) - before
				t.Logf("resident memory grew by %d bytes", grown)
			}
			is.True(grown < 2<<20)            // 20 bytes an array
			is.True(liveHandles() <= handles) // other tests' may have been collected
		})
	}
}

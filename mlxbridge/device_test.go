package mlxbridge

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestBuild(t *testing.T) {
	is := is.New(t)
	b, err := Build()
	is.NoErr(err)
	is.Equal(b.Version, Version())
	is.True(strings.Count(b.Version, ".") >= 2)
	is.True(slices.Contains(b.Backends, "cpu"))
	is.True(slices.Contains(b.Distributed, "ring"))
	is.True(b.Compiler != "unknown")
	is.True(b.BLAS.Library != "")
	if strings.HasPrefix(b.BLAS.Library, "/") && !strings.Contains(b.BLAS.Library, ".framework") {
		_, err := os.Stat(b.BLAS.Library)
		is.NoErr(err)
	}
	is.Equal(b.BLAS.Config != "", strings.Contains(b.BLAS.Library, "openblas")) // only OpenBLAS describes itself
	is.Equal(b.BLAS.Threads != nil, b.BLAS.Config != "")
}

func TestDevices(t *testing.T) {
	is := is.New(t)
	list, err := Devices()
	is.NoErr(err)
	is.Equal(list[0], Device{CPU, 0})
	chosen, err := DefaultDevice()
	is.NoErr(err)
	is.True(slices.Contains(list, chosen))
	for _, d := range list {
		info, err := Info(d)
		is.NoErr(err)
		is.Equal(info.Device, d)
		is.True(info.Name != "")
		is.True(info.Architecture != "")
		is.True(info.MemoryBytes != nil)
		for _, n := range []*uint64{info.MemoryBytes, info.FreeMemoryBytes, info.MaxBufferBytes, info.WorkingSetBytes} {
			is.True(n == nil || *n > 0) // unknown is not 0
		}
		if d.Type == CPU {
			is.Equal(info.WorkingSetBytes, nil)
		}
	}
	for _, d := range []Device{{CPU, 1}, {CPU, -1}, {GPU, 1 << 20}, {"tpu", 0}} {
		_, err := Info(d)
		is.True(errorIs(err, ErrUnsupported) || errorIs(err, ErrArgument))
		_, err = NewStream(d)
		is.True(errorIs(err, ErrUnsupported) || errorIs(err, ErrArgument))
	}
}

func TestMemory(t *testing.T) {
	is := is.New(t)
	sc := cpuScope(t)
	const size = 1 << 22
	before := must[uint64](t)(ActiveMemory())
	is.NoErr(ResetPeakMemory())
	a := must[*Array](t)(sc.Full([]int{size}, 1, Uint8))
	is.NoErr(sc.Eval(a))
	active := must[uint64](t)(ActiveMemory())
	is.True(active >= before+size)
	is.True(must[uint64](t)(PeakMemory()) >= active)
	a.Free()
	is.NoErr(sc.stream.Synchronize())
	is.True(must[uint64](t)(ActiveMemory()) < active)
	is.True(must[uint64](t)(CacheMemory()) >= size)
	is.NoErr(ClearCache())
	is.True(must[uint64](t)(CacheMemory()) < size)

	limit := must[uint64](t)(SetMemoryLimit(1 << 20))
	_, err := sc.Zeros([]int{1<<20 + 1}, Uint8)
	is.True(errorIs(err, ErrMemory))
	_, err = FromSlice(sc, make([]uint8, 1<<20+1), []int{1<<20 + 1})
	is.True(errorIs(err, ErrMemory))
	_, err = sc.Zeros([]int{1 << 20}, Uint8)
	is.NoErr(err)
	is.Equal(must[uint64](t)(SetMemoryLimit(limit)), uint64(1<<20))
}

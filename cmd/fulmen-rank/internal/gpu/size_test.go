package gpu

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestNextSide(t *testing.T) {
	for _, test := range []struct {
		name string
		side int
		took time.Duration
		l    limits
		want bool
	}{
		{name: "fast", side: 1024, took: time.Millisecond, want: true},
		{name: "the largest", side: maxSide, took: time.Millisecond},
		{name: "slow enough already", side: 1024, took: productTarget},
		{name: "would take 130 ms", side: 1024, took: 16250 * time.Microsecond},
		{name: "buffer limit", side: 4096, took: time.Millisecond, l: limits{buffer: 100 << 20}},
		{name: "three of them fill half the memory", side: 4096, took: time.Millisecond, l: limits{memory: 700 << 20}},
		{name: "three of them fit", side: 4096, took: time.Millisecond, l: limits{memory: 800 << 20}, want: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			is.New(t).Equal(nextSide(test.side, test.took, 2, test.l), test.want)
		})
	}
}

func TestBufferBytes(t *testing.T) {
	const probe = 64 << 20
	for _, test := range []struct {
		name string
		took time.Duration
		l    limits
		want uint64
	}{
		{name: "fast device", took: time.Millisecond, want: 2 << 30},
		{name: "2 GB/s", took: 32 * time.Millisecond, want: 512 << 20},
		{name: "very slow", took: time.Second, want: minBuffer},
		{name: "largest buffer 3.5 GiB", took: time.Millisecond, l: limits{buffer: 7 << 29}, want: 2 << 30},
		{name: "largest buffer 1.5 GiB", took: time.Millisecond, l: limits{buffer: 3 << 29}, want: 1 << 30},
		{name: "1 GiB of memory", took: time.Millisecond, l: limits{memory: 1 << 30}, want: 512 << 20},
		{name: "no room", took: time.Millisecond, l: limits{memory: 256 << 20}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is.New(t).Equal(bufferBytes(probe, test.took, test.l), test.want)
		})
	}
}

package placement

import (
	"testing"

	"github.com/matryer/is"
)

func TestClasses(t *testing.T) {
	is := is.New(t)
	is.Equal(classOf(0), 0)
	is.Equal(classOf(-5), 0)
	is.True(classOf(1) > 0) // a known speed is better than none
	last := 0
	for bits := int64(1_000_000); bits < 1<<50; bits += bits / 10 {
		is.True(classOf(bits) == last+1 || last == 0) // 10 % more is the next class
		last = classOf(bits)
	}
	is.True(classOf(1<<62) >= last)
	is.True(classOf(80_000_000_000) > classOf(72_000_000_000))
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		version string
		older   bool
	}{
		{"0.32.4", false}, {"0.32.3", true}, {"0.32.2", true}, {"0.32.10", false}, {"0.33", false}, {"1", false}, {"0.32", true},
		{"0.32.4.dev20261101", true}, {"0.32.4rc1", true}, {"0.32.5.dev1", false}, {"0.32.4+abc", false}, {"main", false}, {"", false},
	} {
		t.Run(c.version, func(t *testing.T) {
			is := is.New(t)
			is.Equal(olderThan(c.version, ringAllGather), c.older)
		})
	}
}

package machine

import (
	"slices"
	"testing"

	"github.com/matryer/is"
)

func TestPreload(t *testing.T) {
	const open = "/usr/lib/libopenblas.so.0"
	found := func() string { return open }
	missing := func() string { return "" }
	for _, test := range []struct {
		name    string
		have    []string
		find    func() string
		want    []string
		changed bool
	}{
		{name: "found", have: []string{"A=1"}, find: found, want: []string{"A=1", "LD_PRELOAD=" + open, "FULMEN_BLAS=reference"}, changed: true},
		{name: "none on this machine", have: []string{"A=1"}, find: missing, want: []string{"A=1"}},
		{name: "not wanted", have: []string{"FULMEN_BLAS=reference"}, find: found, want: []string{"FULMEN_BLAS=reference"}},
		{name: "another one named", have: []string{"FULMEN_BLAS=/opt/libblis.so"}, find: found, want: []string{"LD_PRELOAD=/opt/libblis.so", "FULMEN_BLAS=reference"}, changed: true},
		{name: "somebody's own preload is kept", have: []string{"LD_PRELOAD=/usr/lib/libjemalloc.so"}, find: found, want: []string{"LD_PRELOAD=" + open + ":/usr/lib/libjemalloc.so", "FULMEN_BLAS=reference"}, changed: true},
		{name: "somebody's own BLAS is kept", have: []string{"LD_PRELOAD=/opt/libmkl_rt.so"}, find: found, want: []string{"LD_PRELOAD=/opt/libmkl_rt.so"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			got, changed := preload(slices.Clone(test.have), test.find)
			is.Equal(changed, test.changed)
			is.Equal(got, test.want)
			_, again := preload(got, test.find)
			is.True(!again) // the second start is the last
		})
	}
}

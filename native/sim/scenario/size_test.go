package scenario

import (
	"testing"

	"github.com/matryer/is"
)

func TestParseSize(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]int64{
		"512 GB": 512 << 30, "1.5 TB": 3 << 39, "300MB": 300 << 20, "107.52 GB": 115448720916,
		"8 GiB": 8 << 30, "0 GB": 0, "1024 TB": 1 << 50, "4 KB": 4096,
	} {
		got, err := ParseSize(text)
		is.NoErr(err)
		is.Equal(got, want)
	}
	for _, text := range []string{"", "GB", "12", "12 XB", "-1 GB", "1e3 GB", "1.2345 GB", "1025 TB", "9999999999 TB", "1 GB GB", "+1 GB", ". GB", "1,5 GB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestHasRDMADriver(t *testing.T) {
	for version, want := range map[string]bool{
		"": false, "15.7": false, "26": false, "26.1": false, "26.1.9": false, "26.2": true, "26.10": true, "27": true, "27.0": true,
	} {
		if got := hasRDMADriver(version); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}

func TestBestSpeed(t *testing.T) {
	is := is.New(t)
	is.Equal(BestSpeed("tb5", "tb5"), symmetric(80))
	is.Equal(BestSpeed("tb5", "tb4"), symmetric(40))
	is.Equal(BestSpeed("tb3", "tb4"), symmetric(40))
}

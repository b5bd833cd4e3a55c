package nearest

import (
	"testing"

	"github.com/matryer/is"
)

func TestOf(t *testing.T) {
	known := []string{"times.lease", "times.lease_renewal", "times.beat", "log.level", "api.port"}
	for word, want := range map[string]string{
		"times.lease":        "times.lease",
		"times.leese":        "times.lease",
		"times.laese":        "times.lease",
		"time.beat":          "times.beat",
		"times.lease-renewa": "times.lease_renewal",
		"prot":               "",
		"apiport":            "api.port",
		"completely.else":    "",
		"":                   "",
	} {
		t.Run(word, func(t *testing.T) { is.New(t).Equal(Of(word, known), want) })
	}
	is := is.New(t)
	is.Equal(Of("prot", []string{"port"}), "port") // two swapped letters are one mistake
	is.Equal(Of("x", []string{"y", "xy"}), "y")    // the first of several
	is.Equal(Of("x", nil), "")
}

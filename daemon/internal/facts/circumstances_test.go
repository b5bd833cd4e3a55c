package facts

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestALinuxWithoutMemoryPressureSaysSo(t *testing.T) {
	is := is.New(t)
	silent := native.Capabilities{native.HintsFeature(native.AreaMemory): {Reason: native.ReasonNoOS.With("no /proc/pressure")}}
	for name, want := range map[string]bool{"linux": true, "darwin": false} {
		why, misses := MissesPressure(name, silent)
		is.Equal(misses, want)
		is.Equal(why, "no /proc/pressure")
	}
}
